#include "advise/models.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "advise/toy_history_for_test.h"
#include "base/complaint_for_test.h"
#include "base/error.h"

namespace tandem::advise {
namespace {

const ModelsOptions kQuick{.regressions = {"forest:trees=20", "linear"}};

TEST(MeanJobs, IsWeightedByTime) {
  EXPECT_EQ(mean_load({}, {10}).jobs, 1);
  EXPECT_NEAR(mean_load({{{0}, 1}, {{4}, 3}}, {10}).jobs, (4 * 1 + 6 * 3) / 10.0, 1e-12);
  EXPECT_EQ(mean_load({{{0}, 1}, {{40}, 3}}, {10}).jobs, 1);
}

TEST(Columns, SayWhatRunsDifferIn) {
  auto a = toy_run(32, 1, 1, 0), b = toy_run(64, 2, 1, 0);
  a.setting.hyper["optimizer"] = std::string("sgd");
  b.setting.hyper["optimizer"] = std::string("adam");
  a.setting.hyper["dropout"] = 0.1;  // b does not say
  const PastRun* runs[] = {&a, &b};
  const Columns columns(Columns::Of::timing, runs);
  EXPECT_EQ(columns.names(), (std::vector<std::string>{"cores", "jobs", "nodes", "speed", "batch",
                                                       "optimizer=adam", "optimizer=sgd"}));
  EXPECT_EQ(columns.left_out(), std::vector<std::string>{"dropout"});
  EXPECT_EQ(columns.row(a.setting, 3), (std::vector<double>{1, 3, 1, 1, 32, 0, 1}));
  EXPECT_THROW(columns.row(Setting{}, 1), UserError);
  EXPECT_EQ(Columns(Columns::Of::result, runs).names().front(), "epochs");
}

TEST(Models, PredictSettingsThatWereNeverRun) {
  const auto all = toy_history(3, 0.03);
  int inside = 0;
  for (const int batch : {32, 64, 128, 256})
    for (const int cores : {1, 2, 4}) {
      std::vector<PastRun> history;
      for (const auto& run : all)
        if (!(run.setting == toy_setting(batch, cores) && run.load[0].jobs == 2)) history.push_back(run);
      const auto models = Models::fit(history, "toy/data", "here", {.regressions = {"forest:trees=20"}});
      const auto forecast = models.seconds(toy_setting(batch, cores), 2);
      const double truth = 2 + 10 * toy_epoch_seconds(batch, cores, 2);
      EXPECT_NEAR(forecast.value() / truth, 1, 0.4) << batch << " " << cores;
      EXPECT_FALSE(forecast.wide);
      const auto [low, high] = forecast.interval(0.9);
      inside += low <= truth && truth <= high;
    }
  EXPECT_GE(inside, 9);  // of 12, at 90 %: 8 or fewer are seen once in 40 times by chance
}

TEST(Models, TimeAndJoulesGoWithEpochs) {
  const auto models = Models::fit(toy_history(3, 0.03), "toy/data", "here", kQuick);
  const double ten = models.seconds(toy_setting(64, 2), 2).value();
  EXPECT_NEAR(models.seconds(toy_setting(64, 2, 20), 2).value() - 2, 2 * (ten - 2),
              1e-9);  // but for start-up
  EXPECT_NEAR(models.joules(toy_setting(32, 1), 1)->value() / (30 * (2 + 10 * toy_epoch_seconds(32, 1, 1))),
              1, 0.3);
  EXPECT_EQ(models.joules_source(), "model");
}

TEST(Models, SettingsThatWereRunAreSurerThanNewOnesAndThoseThanFarOnes) {
  const auto models =
      Models::fit(toy_history(4, 0.02), "toy/data", "here", {.regressions = {"forest:trees=20"}});
  const auto width = [&](const Setting& setting, double jobs) {
    const auto [low, high] = models.seconds(setting, jobs).interval(0.9);
    return std::log(high / low);
  };
  EXPECT_LT(width(toy_setting(64, 2), 2), width(toy_setting(64, 3), 2));
  EXPECT_LT(width(toy_setting(64, 3), 2), width(toy_setting(64, 16), 2));
  EXPECT_EQ(models.outside(toy_setting(64, 16), 2), std::vector<std::string>{"cores 16 (measured: 1 to 4)"});
}

TEST(Models, RunsTooShortForACurveStillSayWhatOneEpochLessComesTo) {
  std::vector<PastRun> history;
  for (const int batch : {32, 64, 128, 256})
    for (const int cores : {1, 2}) history.push_back(toy_run(batch, cores, 1, 0, 2));
  const auto models = Models::fit(history, "toy/data", "here");
  EXPECT_FALSE(models.curve());
  EXPECT_GT(models.metric_of(toy_setting(64, 1, 2))->value(),
            models.metric_of(toy_setting(64, 1, 1))->value() + 0.03);
}

// A new user's first question: one run, and choices of what it did not vary.
TEST(Models, OneRunSaysOfOtherSettingsWhatItSawAndNothingWorse) {
  auto run = toy_run(64, 2, 1, 0);
  run.setting.hyper["learning_rate"] = 0.05;
  const auto models = Models::fit(std::vector{run}, "toy/data", "here");
  const double seen = toy_accuracy(64, 10);
  for (const int batch : {8, 32, 128, 512})
    for (const double rate : {0.001, 0.05, 0.5}) {
      auto asked = toy_setting(batch, 1);
      asked.hyper["learning_rate"] = rate;
      const auto accuracy = models.metric_of(asked);
      ASSERT_TRUE(accuracy);
      EXPECT_NEAR(accuracy->value(), seen, 0.02) << batch << " " << rate;
      EXPECT_TRUE(accuracy->wide);
    }
}

// A curve knows nothing of dropout: it must not hide what runs differ in by it.
TEST(Models, WhatACurveDoesNotKnowOfStillCounts) {
  std::vector<PastRun> history;
  for (const double dropout : {0.0, 0.3, 0.6, 0.9})
    for (int repeat = 0; repeat < 2; ++repeat) {
      history.push_back(toy_run(64, 1 + repeat, 1, 0));
      history.back().setting.hyper["dropout"] = dropout;
      for (auto& told : history.back().metrics) told.values["accuracy"] *= 1 - dropout / 2;
    }
  const auto models = Models::fit(history, "toy/data", "here");
  auto asked = toy_setting(64, 1);
  asked.hyper["dropout"] = 0.0;
  const double best = models.metric_of(asked)->value();
  asked.hyper["dropout"] = 0.9;
  EXPECT_LT(models.metric_of(asked)->value(), best - 0.2);
  asked.epochs = 5;
  const auto [low, high] = models.metric_of(asked)->interval(0.9);
  EXPECT_LE(low, 0.55 * toy_accuracy(64, 5)) << "the curve's errors are those of the runs it mixed";
  EXPECT_GE(high, toy_accuracy(64, 5) * 0.55);
}

TEST(Models, OneRunGivesAWideAnswerThatSaysSo) {
  const std::vector<PastRun> one = {toy_run(64, 2, 1, 0)};
  const auto models = Models::fit(one, "toy/data", "here", kQuick);
  const auto forecast = models.seconds(toy_setting(64, 2), 1);
  EXPECT_NEAR(forecast.value(), one[0].seconds.value, 1e-6);
  EXPECT_TRUE(forecast.wide);
  const auto [low, high] = forecast.interval(0.9);
  EXPECT_GT(high / low, 10);
  EXPECT_EQ(models.notes().front(), "only 1 past run: intervals are wide");
  const auto accuracy = models.metric_of(toy_setting(64, 2));
  ASSERT_TRUE(accuracy);
  EXPECT_GE(accuracy->interval(0.99).low, 0);
  EXPECT_LE(accuracy->interval(0.99).high, 1);
}

TEST(Models, EveryModelWeTryTakesFewRunsAndStaysSane) {
  for (const auto& name : default_regressions())
    for (const std::size_t count : {1, 2, 5}) {
      auto history = toy_history(1, 0.02);
      history.resize(count);
      const auto models = Models::fit(history, "toy/data", "here", {.regressions = {name}});
      for (const auto& asked : {toy_setting(32, 1), toy_setting(32, 2), toy_setting(64, 4)}) {
        const auto forecast = models.seconds(asked, 2);
        EXPECT_TRUE(std::isfinite(forecast.value())) << name << " of " << count << " runs";
        EXPECT_TRUE(forecast.wide);
        EXPECT_GE(forecast.below(1e9), forecast.below(1)) << name;
      }
    }
}

TEST(Models, AnUnknownProgramIsNamedAndTheKnownOnesToo) {
  EXPECT_EQ(
      complaint([] { Models::fit(toy_history(1, 0), "toy/dat", "here"); }),
      "no past run of 'toy/dat' is known (did you mean 'toy/data'?); there are runs of: toy/data. Run it "
      "once, or let a probe measure it");
  EXPECT_THROW(Models::fit({}, "toy/data", "here"), UserError);
}

TEST(Models, RunsThatSayNothingAreCountedNotDropped) {
  auto history = toy_history(1, 0.01);
  history[0].seconds = {std::nan("")};
  history[1].setting.epochs = 0;
  history[2].epoch_seconds[0] = -1;
  const auto models = Models::fit(history, "toy/data", "here", kQuick);
  EXPECT_EQ(models.runs(), history.size() - 3);
  EXPECT_EQ(models.notes()[1], "1 past run was left out: its time is nan");
  for (auto& run : history) run.seconds = {0};
  EXPECT_THROW(Models::fit(history, "toy/data", "here", kQuick), UserError);
}

TEST(Models, AnotherMachineIsWiderAndSaid) {
  const auto history = toy_history(2, 0.02);
  const auto here = Models::fit(history, "toy/data", "here", kQuick);
  const auto there = Models::fit(history, "toy/data", "elsewhere", kQuick);
  EXPECT_TRUE(there.seconds(toy_setting(64, 2), 1).wide);
  EXPECT_GT(there.seconds(toy_setting(64, 2), 1).interval(0.9).high,
            here.seconds(toy_setting(64, 2), 1).interval(0.9).high);
  EXPECT_NE(there.notes()[0].find("no past run on 'elsewhere'"), std::string::npos);
}

TEST(Models, ConstantAndDuplicatedColumnsDoNoHarm) {
  auto history = toy_history(2, 0.02);
  for (auto& run : history) {
    run.setting.hyper["same"] = 3.0;
    run.setting.hyper["twin"] = *as_number(run.setting.hyper.at("batch_size"));
  }
  const auto models = Models::fit(history, "toy/data", "here", kQuick);
  auto asked = toy_setting(64, 2);
  asked.hyper["same"] = 3.0;
  asked.hyper["twin"] = 64.0;
  EXPECT_NEAR(models.seconds(asked, 1).value() / (2 + 10 * toy_epoch_seconds(64, 2, 1)), 1, 0.25);
}

TEST(Models, WithoutTheMetricOrEnergyTheyAreNotInvented) {
  auto history = toy_history(1, 0.02);
  for (auto& run : history) run.metrics.clear(), run.joules.reset();
  const auto models = Models::fit(history, "toy/data", "here", kQuick);
  EXPECT_FALSE(models.metric_of(toy_setting(64, 2)));
  EXPECT_FALSE(models.joules(toy_setting(64, 2), 1));
}

TEST(Models, SayWhichRegressionWasChosenAndWhatTheOthersWereWorth) {
  const auto models = Models::fit(toy_history(3, 0.02), "toy/data", "here", kQuick);
  const auto& judged = models.epoch_seconds().judged();
  ASSERT_EQ(judged.size(), 2u);
  EXPECT_LE(judged[0].error, judged[1].error);
  EXPECT_EQ(models.seconds(toy_setting(64, 2), 1).said_by, judged[0].regression);
}

TEST(Models, WhatWasReadSaysTheSame) {
  const auto models = Models::fit(toy_history(2, 0.05), "toy/data", "here", kQuick);
  const auto same = Models::read(nlohmann::json::parse(models.written().dump()));
  for (const auto& asked : {toy_setting(64, 2), toy_setting(100, 3, 4), toy_setting(4096, 64)}) {
    EXPECT_EQ(models.seconds(asked, 2).quantile(0.9), same.seconds(asked, 2).quantile(0.9));
    EXPECT_EQ(models.metric_of(asked)->quantile(0.1), same.metric_of(asked)->quantile(0.1));
    EXPECT_EQ(models.joules(asked, 2)->value(), same.joules(asked, 2)->value());
  }
  EXPECT_THROW(Models::read(nlohmann::json::object()), UserError);
}

}  // namespace
}  // namespace tandem::advise
