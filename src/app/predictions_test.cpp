#include "app/predictions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "app/job_prediction.h"
#include "app/past_runs.h"
#include "app/run_testing.h"
#include "app/runs.h"
#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

using sample::Played;
using sample::training;

class PredictionsTest : public testing::Test {
 protected:
  PredictedRun prediction(double seconds = 28) const {
    PredictedRun out;
    out.program = "train";
    out.metric = "accuracy";
    out.model = "physical";
    out.setting = {{{"batch_size", std::int64_t{64}}}, {1, 0, 1.0}, 3, 1};
    out.slo = Seconds{40};
    out.seconds = Seconds{seconds};
    out.low = Seconds{20};
    out.high = Seconds{INFINITY};
    out.p_meet = 0.9;
    out.load = {2, 3};
    out.metric_value = 0.7;
    return out;
  }
  store::RunInfo trained(std::int64_t epochs = 3, sample::Training how = {}) {
    const auto job = training(epochs);
    return sample::keep(store_, job, Played(job, how));
  }

  platform::TemporaryFolder folder_{"tandem-predictions"};
  store::Store store_{folder_.path() / "store"};
};

TEST_F(PredictionsTest, SurviveTheStore) {
  auto before = prediction();
  before.joules = Joules{12};
  before.outcome = Outcome{Seconds{30}, 0.75, std::nullopt};
  const auto after = predicted_run_from_json(nlohmann::json::parse(to_json(before).dump()));
  EXPECT_EQ(to_json(after), to_json(before));
  EXPECT_TRUE(std::isinf(after.high.value)) << "no end is null in JSON";
  EXPECT_TRUE(after.met());
  EXPECT_FALSE(prediction().met()) << "what has not ended has met nothing";
  EXPECT_THROW(predicted_run_from_json(nlohmann::json::object()), SystemError);
  EXPECT_THROW(predicted_run_from_json({{"program", 7}}), SystemError);
}

TEST_F(PredictionsTest, TheOutcomeIsAddedWhenTheRunHasFinished) {
  const auto run = trained();
  const View view = replayed(store_, run);
  EXPECT_FALSE(keep_outcome(store_, run, view)) << "nothing was predicted";
  keep_prediction(store_, run.id, prediction());
  EXPECT_TRUE(finished_predictions(store_, "train", 0).empty());
  const auto kept = keep_outcome(store_, run, view);
  ASSERT_TRUE(kept && kept->outcome);
  EXPECT_DOUBLE_EQ(kept->outcome->seconds.value, 30);
  EXPECT_DOUBLE_EQ(*kept->outcome->metric, 0.75);
  EXPECT_DOUBLE_EQ(kept->outcome->joules->value, 90);
  EXPECT_NEAR(error_of(*kept), 30.0 / 28 - 1, 1e-12);
  EXPECT_EQ(finished_predictions(store_, "train", 0).size(), 1U);
  EXPECT_TRUE(finished_predictions(store_, "train", 5).empty());
  EXPECT_TRUE(finished_predictions(store_, "other", 0).empty());
  EXPECT_FALSE(keep_outcome(store_, run, view, 7)) << "no such job";
}

TEST_F(PredictionsTest, ARunThatFailedHasNoOutcome) {
  const auto run = trained(3, {.fails_in = 2});
  keep_prediction(store_, run.id, prediction());
  EXPECT_FALSE(keep_outcome(store_, run, replayed(store_, run)));
  EXPECT_FALSE(all_predictions(store_).front().outcome);
}

TEST_F(PredictionsTest, WhatIsSaidOfThem) {
  auto one = prediction();
  EXPECT_EQ(comparison(one).find("took"), std::string::npos);
  EXPECT_NE(comparison(one).find("any time"), std::string::npos);
  one.high = Seconds{35};
  one.outcome = Outcome{Seconds{42}, 0.75, std::nullopt};
  EXPECT_NE(comparison(one).find("missed"), std::string::npos) << comparison(one);
  EXPECT_NE(comparison(one).find("+50.0 %"), std::string::npos) << comparison(one);
  EXPECT_NE(comparison(one).find("0.75 reached"), std::string::npos) << comparison(one);
  const auto all = predictions_json({one, prediction()});
  EXPECT_EQ(all["predictions"].size(), 2U);
  EXPECT_EQ(all["summary"]["finished"], 1);
  EXPECT_EQ(all["summary"]["met"], 0);
  EXPECT_DOUBLE_EQ(all["summary"]["mean_absolute_error"], 0.5);
  EXPECT_TRUE(predictions_json({})["summary"]["mean_absolute_error"].is_null());
}

// ---- of jobs that are submitted ----

std::string spec_of(const std::string& rest, const std::string& cores = "1") {
  return "kind: train\nname: mlp\nprogram: {command: [train]}\nhyper: {epochs: 3, batch_size: 64}\nsystem: {cores: " + cores +
         "}\n" + rest;
}

TEST_F(PredictionsTest, OnlyDeadlinesAndOpenValuesNeedAdvice) {
  EXPECT_FALSE(needs_advice(spec_of(""), "a.yaml"));
  EXPECT_TRUE(needs_advice(spec_of("place: {deadline: 300s}\n"), "a.yaml"));
  EXPECT_TRUE(needs_advice(spec_of("", "{choice: [1, 2]}"), "a.yaml"));
  EXPECT_FALSE(needs_advice("kind: tune\n", "a.yaml"));
  EXPECT_FALSE(needs_advice("kind: train\nnonsense: 1\n", "a.yaml")) << "who reads it says what is wrong";
}

TEST_F(PredictionsTest, AJobOfAnUnknownProgramIsNotPredicted) {
  EXPECT_FALSE(predict_job(store_, spec_of(""), "a.yaml")) << "it has no deadline";
  const auto said = predict_job(store_, spec_of("place: {deadline: 300s}\n"), "a.yaml");
  ASSERT_TRUE(said);
  EXPECT_FALSE(said->predicted);
  EXPECT_NE(said->words.find("no past run of train"), std::string::npos) << said->words;
}

TEST_F(PredictionsTest, AJobOfAKnownProgramIsPredictedFromItsPastRuns) {
  for (int i = 0; i < 4; ++i) trained(3 + i);
  const auto said = predict_job(store_, spec_of("place: {deadline: 300s}\n"), "a.yaml");
  ASSERT_TRUE(said && said->predicted) << (said ? said->words : "");
  EXPECT_NEAR(said->predicted->seconds.value, 30, 15) << said->words;
  EXPECT_DOUBLE_EQ(said->predicted->slo.value, 300);
  EXPECT_GT(said->predicted->p_meet, 0.5);
}

TEST_F(PredictionsTest, OfAnothersPastRunsNothingIsTold) {
  for (int i = 0; i < 4; ++i) trained(3 + i);
  const std::string spec = spec_of("place: {deadline: 300s}\n"), open = "{choice: [1, 2]}";
  ASSERT_TRUE(predict_job(store_, spec, "a.yaml")->predicted);
  const auto said = predict_job(store_, spec, "a.yaml", {1001});
  ASSERT_TRUE(said);
  EXPECT_FALSE(said->predicted);
  EXPECT_NE(said->words.find("no past run of train"), std::string::npos) << said->words;
  EXPECT_THROW(settle_choices(store_, spec_of("place: {deadline: 300s}\n", open), "a.yaml", {1001}), UserError);
  EXPECT_TRUE(predict_job(store_, spec, "a.yaml", {0, -1})->predicted) << "jobs that name nobody are the store's user's";
  keep_prediction(store_, store_.runs().front().id, *predict_job(store_, spec, "a.yaml")->predicted);
  EXPECT_TRUE(finished_predictions(store_, "train", 0, {1001}).empty());
}

TEST_F(PredictionsTest, OpenValuesAreChosenByTheDeadlineFromPastRuns) {
  const std::string open = "{choice: [1, 2]}";
  EXPECT_EQ(settle_choices(store_, spec_of(""), "a.yaml").spec, spec_of("")) << "nothing is open";
  EXPECT_EQ(settle_choices(store_, "kind: tune\n", "a.yaml").spec, "kind: tune\n");
  EXPECT_EQ(settle_choices(store_, "kind: train\nx: 1\n", "a.yaml").spec, "kind: train\nx: 1\n");
  EXPECT_THROW(settle_choices(store_, spec_of("", open), "a.yaml"), UserError) << "no deadline";
  EXPECT_THROW(settle_choices(store_, spec_of("place: {deadline: 300s}\n", open), "a.yaml"), UserError)
      << "no past run";
  for (int i = 0; i < 4; ++i) trained(3 + i);
  const auto settled = settle_choices(store_, spec_of("place: {deadline: 300s}\n", open), "a.yaml");
  EXPECT_TRUE(settled.unmet.empty()) << settled.unmet;
  EXPECT_NE(settled.words.find("chosen for a.yaml"), std::string::npos) << settled.words;
  EXPECT_EQ(settled.spec.find("choice"), std::string::npos) << settled.spec;
  const auto hopeless = settle_choices(store_, spec_of("place: {deadline: 1s}\n", open), "a.yaml");
  EXPECT_NE(hopeless.unmet.find("nothing is likely enough"), std::string::npos);
}

}  // namespace
}  // namespace tandem::app
