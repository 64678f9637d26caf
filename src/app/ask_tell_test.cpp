#include "app/ask_tell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "app/experiment_world.h"
#include "app/kinds.h"
#include "app/tune_results.h"
#include "base/error.h"
#include "control/memory_journal.h"
#include "tune/outcome.h"

namespace tandem::app {
namespace {

using nlohmann::json;
using spec::Domain;

spec::TuneJob a_job(const std::string& algorithm, std::optional<std::int64_t> trials, std::int64_t epochs = 1) {
  spec::TuneJob job;
  job.base.name = "asked";
  job.base.program.command = {"(asked)"};
  job.search.algorithm = algorithm;
  job.search.trials = trials;
  job.search.max_epochs = job.base.epochs = epochs;
  job.hyper.parameters = {{"x", {Domain::Kind::real, {}, -1, 1}, std::nullopt}};
  job.objective.goals = {{"loss", false}};
  return as_asked(job);
}

struct Asking {
  explicit Asking(spec::TuneJob of) : job(std::move(of)) { begin(); }
  void begin() { study = std::make_unique<AskTell>(job, journal, TaskFolders("/run"), ++now); }
  json say(const json& line) { return study->answer(line, ++now); }
  json ask() { return say({{"ask", true}}); }
  json tell(const json& trial, double loss) {
    return say({{"tell", trial["trial"]}, {"attempt", trial["attempt"]}, {"metrics", {{"loss", loss}}}});
  }
  static double loss_of(const json& trial) { return std::pow(trial["hyper"]["x"].get<double>() - 0.3, 2); }
  tune::Outcome outcome() const { return tune::outcome(study->view(), 0); }

  struct Clock {
    double value = 1000;
    Seconds operator++() { return {++value}; }
    operator Seconds() const { return {value}; }  // NOLINT: a clock is read
  } now;
  spec::TuneJob job;
  control::MemoryJournal journal;
  std::unique_ptr<AskTell> study;
};

TEST(AskTell, FindsWhatIsGoodAndEndsAfterItsTrials) {
  Asking asking(a_job("tpe", 30));
  int asked = 0;
  for (json trial = asking.ask(); !trial.contains("over"); trial = asking.ask(), ++asked) {
    ASSERT_TRUE(trial.contains("hyper")) << trial;
    EXPECT_EQ(trial["folder"], "/run/task-" + std::to_string(asked));
    EXPECT_EQ(asking.tell(trial, Asking::loss_of(trial)), json({{"told", true}}));
  }
  EXPECT_EQ(asked, 30);
  EXPECT_EQ(asking.study->view().jobs.front().state, JobState::finished);
  const auto found = asking.outcome();
  ASSERT_TRUE(found.best);
  EXPECT_EQ(found.trials.size(), 30u);
  EXPECT_LT(found.trials[*found.best].goals.front(), 0.01);
  EXPECT_EQ(control::first_difference(policies_for(asking.job), asking.journal), std::nullopt);
}

// A trial is chosen when it is asked for: what was told before is known then, also with several out.
TEST(AskTell, NobodyIsGivenATrialThatWasChosenBeforeSomebodyElseTold) {
  Asking asking(a_job("tpe", 40));
  const auto a = asking.ask(), b = asking.ask();
  EXPECT_NE(a["trial"], b["trial"]);
  EXPECT_EQ(asking.study->view().tasks.size(), 2u);
  asking.tell(a, 1);
  EXPECT_EQ(asking.study->view().tasks.size(), 2u) << "nobody has asked";
  asking.tell(b, 1);
  EXPECT_EQ(asking.ask()["trial"], 2);
}

TEST(AskTell, TheSameSeedAsksTheSameInTheSameOrder) {
  Asking one(a_job("tpe", 20)), other(a_job("tpe", 20));
  for (int i = 0; i < 20; ++i) {
    const auto a = one.ask(), b = other.ask();
    ASSERT_EQ(a, b);
    one.tell(a, Asking::loss_of(a));
    other.tell(b, Asking::loss_of(b));
  }
}

TEST(AskTell, WhatWasAskedForAndNeverToldIsGivenAgain) {
  Asking asking(a_job("random", 5));
  const auto told = asking.ask();
  asking.tell(told, 0.5);
  const auto lost = asking.ask();
  asking.begin();  // as after kill -9
  EXPECT_EQ(asking.tell(lost, 0.1), json({{"told", false}})) << "it is of an earlier attempt";
  auto again = asking.ask();
  EXPECT_EQ(again["trial"], lost["trial"]);
  EXPECT_EQ(again["hyper"], lost["hyper"]);
  EXPECT_EQ(again["attempt"], 2);
  for (; !again.contains("over"); again = asking.ask()) asking.tell(again, Asking::loss_of(again));
  EXPECT_EQ(asking.outcome().trials.size(), 5u);
  EXPECT_EQ(asking.outcome().epochs_total, 5);
}

TEST(AskTell, OneThatIsClosedStopsAndGoesOn) {
  Asking asking(a_job("random", 3));
  asking.tell(asking.ask(), 0.5);
  const auto open = asking.ask();
  asking.study->close(++asking.now);
  EXPECT_EQ(asking.study->view().jobs.front().state, JobState::stopped);
  asking.begin();
  EXPECT_EQ(asking.ask()["hyper"], open["hyper"]);
  asking.begin();
  EXPECT_EQ(asking.study->view().jobs.front().state, JobState::running);
}

TEST(AskTell, ATrialOfSeveralEpochsIsStoppedWhenOthersDoBetter) {
  auto job = a_job("random", 12, 9);
  job.search.pruning = "median";
  Asking asking(job);
  std::int64_t epochs = 0, ended_early = 0;
  for (json trial = asking.ask(); !trial.contains("over"); trial = asking.ask()) {
    std::int64_t here = 0;
    for (bool stop = false; !stop; ++here, ++epochs)
      stop = asking.say({{"report", trial["trial"]},
                         {"attempt", trial["attempt"]},
                         {"metrics", {{"loss", Asking::loss_of(trial)}}}})["stop"]
                 .get<bool>();
    ended_early += here < 9;
    EXPECT_EQ(asking.say({{"tell", trial["trial"]}}), json({{"told", false}})) << "it has ended already";
  }
  EXPECT_GT(ended_early, 0);
  EXPECT_EQ(asking.outcome().epochs_total, epochs);
}

TEST(AskTell, OneThatEndsEarlyKeepsWhatItReported) {
  Asking asking(a_job("random", 2, 9));
  const auto trial = asking.ask();
  asking.say({{"report", 0}, {"metrics", {{"loss", 0.2}}}});
  EXPECT_EQ(asking.say({{"tell", 0}}), json({{"told", true}}));
  asking.tell(asking.ask(), 0.9);
  EXPECT_TRUE(asking.ask().contains("over"));
  EXPECT_EQ(asking.outcome().trials[0].state, "stopped");
  EXPECT_EQ(asking.outcome().trials[0].epochs, 1);
  EXPECT_EQ(asking.outcome().best, 0u);
}

TEST(AskTell, FailuresAreTrialsThatFailed) {
  Asking asking(a_job("random", 4));
  asking.ask();
  asking.say({{"tell", 0}, {"failed", "out of luck"}});
  asking.ask();
  asking.say({{"tell", 1}});  // nothing
  asking.ask();
  asking.say({{"tell", 2}, {"metrics", {{"loss", nullptr}}}});  // NaN
  asking.tell(asking.ask(), 0.3);
  const auto found = asking.outcome();
  EXPECT_EQ(found.failed, 3);
  EXPECT_EQ(asking.study->view().tasks.at(0).last_failure->detail, "out of luck");
  EXPECT_EQ(asking.study->view().tasks.at(2).last_failure->detail, "metric 'loss', which is an objective, is NaN");
  EXPECT_EQ(asking.study->view().jobs.front().state, JobState::finished);
}

TEST(AskTell, WhatCannotBeAnsweredChangesNothing) {
  Asking asking(a_job("random", 4));
  asking.ask();
  const auto before = asking.study->view().events;
  for (const json& line :
       {json(3), json::object(), json{{"tell", "0"}}, json{{"tell", 7}}, json{{"report", 0}},
        json{{"tell", 0}, {"metrics", {{"accuracy", 1}}}}, json{{"tell", 0}, {"metrics", {{"loss", "low"}}}},
        json{{"tell", 0}, {"attempt", "first"}}})
    EXPECT_TRUE(asking.say(line).contains("error")) << line;
  EXPECT_EQ(asking.study->view().events, before);
}

TEST(AskTell, BracketsSayWhenTheyMustWait) {
  Asking asking(a_job("successive-halving", 3, 9));
  for (int i = 0; i < 3; ++i) asking.ask();
  EXPECT_NE(asking.ask()["error"].get<std::string>().find("before others are told"), std::string::npos);
}

TEST(AskTell, RefusesWhatNeedsAWorldOfItsOwn) {
  EXPECT_THROW(a_job("pbt", 4, 9), UserError);
  auto job = a_job("random", 4);
  job.objective.goals = {{"energy", false}};
  EXPECT_THROW(as_asked(job), UserError);
}

TEST(AskTell, ABudgetOfTimeEndsIt) {
  auto job = a_job("random", 1000);
  job.budget.time = Seconds{50};
  Asking asking(job);
  int asked = 0;
  for (json trial = asking.ask(); !trial.contains("over") && asked < 900; trial = asking.ask(), ++asked)
    asking.tell(trial, 0.5);
  EXPECT_LT(asked, 100);
  EXPECT_EQ(asking.study->view().jobs.front().state, JobState::finished);
}

TEST(AskTell, ItsRunIsNotResumedAsOneWithPrograms) {
  store::RunInfo run;
  run.id = "r";
  run.spec = json{{"world", json_of(RunWorld{.world = kAskedWorld})}}.dump();
  EXPECT_TRUE(is_asked(run));
  EXPECT_THROW(world_of(run), UserError);
}

TEST(AskTell, ANumberThatIsNoTrialsEndsNobodysTrial) {
  Asking asking(a_job("tpe", 3));
  const auto trial = asking.ask();
  for (const json& number : {json(4294967296), json(-1), json(-4294967296)})
    EXPECT_TRUE(asking.say({{"tell", number}, {"metrics", {{"loss", 1}}}}).contains("error")) << number;
  const auto said = asking.say({{"tell", trial["trial"]}, {"attempt", "x"}, {"metrics", {{"loss", 1}}}});
  ASSERT_TRUE(said.contains("error"));
  EXPECT_EQ(said.dump().find("json.exception"), std::string::npos) << said;
  EXPECT_FALSE(asking.tell(trial, 0.5).contains("error")) << "it was out all the while";
}

}  // namespace
}  // namespace tandem::app
