// Real processes, but nothing here depends on how fast they are.
#include "runtime/bags/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "base/error.h"
#include "place/dias/dias_job.h"
#include "platform/process.h"
#include "platform/temporary.h"
#include "runtime/bags/bag_job.h"
#include "runtime/bags/triangles.h"
#include "runtime/bags/words.h"

namespace tandem::bags {
namespace {

using stats::Discipline;

std::vector<std::string> shell(const std::string& script) {
  return {"sh", "-c", script};
}

class Serving : public ::testing::Test {
 protected:
  Serving() { setting_.folder = folder_.path(); }
  void TearDown() override { EXPECT_TRUE(::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD); }

  // Whether nobody is left of an attempt; the end of who was killed takes a moment.
  static bool gone(std::size_t job, int attempt) {
    const auto mark = fmt::format("tandem-bags-{}-{}-{}", ::getpid(), job, attempt);
    for (int tries = 0; tries < 6000; ++tries) {
      if (platform::marked_processes(mark).empty()) return true;
      ::usleep(10'000);
    }
    return false;
  }
  static BagPolicy two_classes(Discipline discipline, double low_drop = 0) {
    return {discipline, {{10, 0, {}}, {10, low_drop, {}}}, {}, {}};
  }

  platform::TemporaryFolder folder_;
  BagSetting setting_;
};

TEST_F(Serving, JobsAreReallyDeflatedAndTheRestIsRight) {
  const auto text = folder_.path() / "text", graph = folder_.path() / "graph";
  std::ofstream(text) << generated_text(100'000, 1);
  write_graph(power_law_graph(500, 4, 1), graph);
  const std::vector<BagJob> jobs{{Work::triangles, graph, 10, 2}, {Work::words, text, 10, 2}};
  setting_.command = [&](const BagStart& start) {
    return bag_command(TANDEM_BAG, jobs[start.which], start.tasks, start.result);
  };
  const std::vector<BagArrival> arrivals{{{}, 1}, {{}, 0}, {{}, 1}, {{}, 0}};
  const auto run = serve(arrivals, two_classes(Discipline::non_preemptive, 0.2), setting_);
  ASSERT_EQ(run.ends.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& end = run.ends[i];
    EXPECT_EQ(end.which, arrivals[i].which);
    EXPECT_EQ(end.attempts, 1);
    const double drop = end.which == 0 ? 0 : 0.2;
    EXPECT_EQ(end.tasks_run, end.which == 0 ? 10 : 8);
    EXPECT_EQ(read_counts(end.result),
              run_bag(jobs[end.which], place::kept_tasks(10, drop, setting_.seed + i)));
  }
  EXPECT_LT(run.ends[3].ended, run.ends[0].began) << "the high ones go first";
  EXPECT_LT(run.ends[0].ended, run.ends[2].began);
  EXPECT_EQ(run.wasted.value, 0);
  EXPECT_FALSE(run.energy) << "nobody measured";
}

TEST_F(Serving, AHigherJobEndsALowerOneWhichBeginsAgain) {
  const auto began = folder_.path() / "began";
  setting_.command = [&](const BagStart& start) {
    const bool first = start.which == 1 && start.attempt == 0;
    return shell(first ? fmt::format("sleep 1000 & touch {}; wait", began.string()) : "exit 0");
  };
  // The high job arrives when the low one is at work.
  setting_.clock = [&] { return std::filesystem::exists(began) ? Seconds{10} : Seconds{0}; };
  const auto run = serve({{{}, 1}, {Seconds{5}, 0}}, two_classes(Discipline::preemptive_restart), setting_);
  EXPECT_EQ(run.ends[0].attempts, 2);
  EXPECT_EQ(run.ends[1].attempts, 1);
  EXPECT_EQ(run.wasted, Seconds{10});
  EXPECT_EQ(run.busy, Seconds{10});
  EXPECT_EQ(run.ends[0].response(), Seconds{10});
  EXPECT_EQ(run.ends[1].response(), Seconds{5});
  EXPECT_TRUE(gone(0, 0)) << "what it had started is gone too";
}

TEST_F(Serving, ABrokenJobIsToldAbout) {
  setting_.command = [](const BagStart&) { return shell("echo no luck; exit 3"); };
  try {
    serve({{{}, 0}}, two_classes(Discipline::non_preemptive), setting_);
    FAIL() << "it went well";
  } catch (const SystemError& error) {
    EXPECT_NE(std::string(error.what()).find("exited with 3"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("no luck"), std::string::npos) << error.what();
  }
  setting_.command = [](const BagStart&) { return std::vector<std::string>{"/no/such/program"}; };
  EXPECT_THROW(serve({{{}, 0}}, two_classes(Discipline::non_preemptive), setting_), SystemError);
}

TEST_F(Serving, WhatAJobLeavesBehindEndsWithIt) {
  setting_.command = [](const BagStart&) { return shell("sleep 1000 & exit 0"); };
  serve({{{}, 0}}, two_classes(Discipline::non_preemptive), setting_);
  EXPECT_TRUE(gone(0, 0));
}

TEST_F(Serving, StopsWhenAskedAndLeavesNobody) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const platform::Descriptor stop(ends[0]), ask(ends[1]);
  ASSERT_EQ(::write(ask.get(), "x", 1), 1);
  setting_.stop = stop.get();
  setting_.command = [](const BagStart&) { return shell("sleep 1000 & wait"); };
  EXPECT_THROW(serve({{{}, 0}}, two_classes(Discipline::non_preemptive), setting_), UserError);
  EXPECT_TRUE(gone(0, 0));
}

TEST_F(Serving, RefusesWhatCannotBe) {
  setting_.command = [](const BagStart&) { return shell("exit 0"); };
  EXPECT_THROW(serve({{{}, 2}}, two_classes(Discipline::non_preemptive), setting_), UserError);
  EXPECT_THROW(serve({{Seconds{2}, 0}, {Seconds{1}, 0}}, two_classes(Discipline::non_preemptive), setting_),
               UserError);
  EXPECT_THROW(serve({}, two_classes(Discipline::preemptive_resume), setting_), UserError);
  auto sprinting = two_classes(Discipline::non_preemptive);
  sprinting.classes[0].timeout = Seconds{1};
  EXPECT_THROW(serve({}, sprinting, setting_), UserError) << "there is no speed to be had";
}

}  // namespace
}  // namespace tandem::bags
