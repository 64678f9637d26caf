#include "app/advice.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/past_runs.h"
#include "app/run_testing.h"
#include "app/runs.h"
#include "base/complaint_for_test.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

using sample::Played;
using sample::training;

class AdviceTest : public testing::Test {
 protected:
  AdviceTest() {
    machine_.type = "a machine, 2 cores";
    machine_.capacity = {2, 8 * kGiB, 1.0};
  }
  store::RunInfo train(std::int64_t epochs) {
    const auto job = training(epochs);
    return sample::keep(store_, job, Played(job));
  }
  Learnt learnt(const LearnOptions& options = {}) {
    auto out = learn(store_, "train", machine_, options);
    if (!out) throw SystemError("nothing was learnt");
    return *std::move(out);
  }
  // "": the kept one was good enough.
  std::string fitted_because() {
    const auto notes = learnt().notes;
    return notes.empty() ? "" : notes.front();
  }
  std::string refused(const AdviceOptions& options) {
    return complaint([&] { ask_for_advice(store_, as_advised(training()), options); });
  }

  platform::TemporaryFolder folder_{"tandem-advice"};
  store::Store store_{folder_.path() / "store"};
  NodeView machine_;
};

// ---- models ----

TEST_F(AdviceTest, NothingIsLearntFromNothing) {
  EXPECT_FALSE(learn(store_, "train", machine_, {}));
  train(3);
  EXPECT_FALSE(learn(store_, "another program", machine_, {}));
}

TEST_F(AdviceTest, AModelIsFittedOnceAndKeptUntilThereIsMore) {
  for (int i = 0; i < 3; ++i) train(3 + i);
  EXPECT_TRUE(mentions(fitted_because(), "there was none yet"));
  EXPECT_EQ(fitted_because(), "");
  EXPECT_EQ(learnt().rows, 3U);
  const auto newest = train(6);
  EXPECT_TRUE(mentions(fitted_because(), "4 past runs, 3 when it was fitted last"));
  EXPECT_EQ(fitted_because(), "");
  store_.remove(newest.id);
  EXPECT_TRUE(mentions(fitted_because(), "3 past runs, 4 when")) << "what is gone does not go on speaking";
}

TEST_F(AdviceTest, AMachineThatHasChangedIsLearntAnew) {
  for (int i = 0; i < 3; ++i) train(3 + i);
  fitted_because();
  machine_.capacity.cores = 4;
  EXPECT_TRUE(mentions(fitted_because(), "cores")) << fitted_because();
}

TEST_F(AdviceTest, AKeptModelThatIsDamagedIsFittedAnew) {
  for (int i = 0; i < 3; ++i) train(3 + i);
  const auto key = nlohmann::json{"train", machine_.type, "", ""}.dump();
  fitted_because();
  const auto whole = store_.fitted(key);
  ASSERT_TRUE(whole);
  auto without_machine = nlohmann::json::parse(*whole), odd = without_machine;
  without_machine.erase("machine");
  odd["rows"] = "many";
  for (const std::string& damaged : {std::string("{"), std::string("7"), std::string("{}"),
                                     without_machine.dump(), odd.dump()}) {
    store_.keep_fitted(key, damaged);
    EXPECT_NE(fitted_because(), "") << damaged.substr(0, 40);
    EXPECT_EQ(fitted_because(), "") << "and is kept again";
  }
}

TEST_F(AdviceTest, TheMetricIsTheOneAskedForWhicheverWayIsUp) {
  train(3);
  EXPECT_TRUE(learnt().higher_is_better);
  EXPECT_FALSE(learnt({.metric = "loss"}).higher_is_better);
  EXPECT_TRUE(learnt({.metric = "f1"}).higher_is_better);
}

// ---- what is asked ----

TEST_F(AdviceTest, QuestionsThatMakeNoSenseAreRefusedWithWhatToWrite) {
  EXPECT_TRUE(mentions(refused({}), "--slo is missing"));
  EXPECT_TRUE(mentions(refused({.slo = "soon"}), "300s, 10min or 2h, not 'soon'"));
  EXPECT_TRUE(mentions(refused({.slo = "0s"}), "above 0"));
  EXPECT_TRUE(mentions(refused({.slo = "5s", .max_joules = "5W"}), "--max must be an energy"));
  EXPECT_TRUE(mentions(refused({.slo = "5s", .running = "few"}), "--running"));
  for (const char* never : {"0", "1", "100%", "-5%", "2", "sure"})
    EXPECT_TRUE(mentions(refused({.slo = "5s", .probability = never}), "--probability")) << never;
}

TEST_F(AdviceTest, ACommandThatNeverRanCannotBeProbed) {
  const auto said = refused({.slo = "300s", .running = "none"});
  EXPECT_TRUE(mentions(said, "no past runs of 'train'")) << said;
  EXPECT_TRUE(mentions(said, "tandem train")) << "what to do: " << said;
}

TEST_F(AdviceTest, PastRunsAnswerWithAChoiceAndWhatIsExpectedOfIt) {
  for (int i = 0; i < 4; ++i) train(3 + i);
  const auto advised = ask_for_advice(store_, as_advised(training()), {.slo = "300s", .running = "2"});
  EXPECT_FALSE(advised.probed);
  EXPECT_TRUE(advised.question.higher_is_better) << "accuracy is what the runs report";
  const auto told = advice_json(advised);
  EXPECT_EQ(told["probed"], false);
  EXPECT_EQ(told["candidates"], 1);
  EXPECT_EQ(told["running"], 2);
  EXPECT_GT(told["predicted"]["seconds"], 0);
  EXPECT_TRUE(told["choice"].contains("system")) << told;
  for (const auto& note : notes_of(advised)) EXPECT_FALSE(mentions(note, "never run here")) << note;
}

TEST_F(AdviceTest, WhatMustBeKnownIsSaidOnce) {
  Advised advised;
  advised.probed = true;
  advised.advice.notes = {"a", "b"};
  advised.running.notes = {"b"};
  advised.learnt.notes = {"c", "a"};
  const auto notes = notes_of(advised);
  ASSERT_EQ(notes.size(), 4U);
  EXPECT_TRUE(mentions(notes[0], "never run here"));
  EXPECT_EQ(std::vector(notes.begin() + 1, notes.end()), (std::vector<std::string>{"a", "b", "c"}));
}

}  // namespace
}  // namespace tandem::app
