#include "place/policy/heats_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace tandem::place {
namespace {

// Two machines; the families scale with the clock differently.
struct Toy final : Prober {
  double slower = 1;  // of machine 1
  Prediction exact(std::uint32_t type, const TaskFeatures& task) const {
    const double by_clock = task.family == 0 ? 0.8 : 0.5;
    const double seconds = task.work / task.cores * (type == 0 ? 0.1 : 0.5 * slower) *
                           (by_clock * 2 / task.clock + 1 - by_clock);
    return {seconds, seconds * task.cores * task.clock * task.clock};
  }
  Prediction run(std::uint32_t type, const TaskFeatures& task, std::uint64_t repeat) override {
    Random random(static_cast<std::uint64_t>(task.work * 10), repeat);
    auto out = exact(type, task);
    out.seconds *= std::exp(0.02 * random.normal()), out.joules *= std::exp(0.02 * random.normal());
    return out;
  }
};

HeatsModel probed(Toy& toy, HeatsModelOptions options = {}) {
  options.families = probe_tasks().size();
  HeatsModel model(2, options);
  ProbePlan plan;
  plan.clocks = {{1, 2}, {1, 2}};
  EXPECT_GT(probe(model, toy, plan), 0);
  return model;
}

double worst(const HeatsModel& model, const Toy& toy, std::uint32_t type) {
  double out = 0;
  for (std::uint32_t family = 0; family < 2; ++family)
    for (const double clock : {1.0, 2.0})
      for (const double work : {500, 740, 1000}) {
        const TaskFeatures task{family, work, 2, 0.25, clock};
        const auto said = model.predict(type, task), is = toy.exact(type, task);
        out = std::max({out, std::abs(said.seconds / is.seconds - 1), std::abs(said.joules / is.joules - 1)});
      }
  return out;
}

TEST(HeatsModel, PredictsFreshTasksWithinTenPercentAfterProbing) {
  Toy toy;
  const auto model = probed(toy);
  EXPECT_LT(worst(model, toy, 0), 0.10);
  EXPECT_LT(worst(model, toy, 1), 0.10);
}

TEST(HeatsModel, AForestLearnsWhatAUnitOfWorkCosts) {
  Toy toy;
  HeatsModelOptions options;
  options.regression = "forest";
  const auto model = probed(toy, options);
  EXPECT_LT(worst(model, toy, 0), 0.10);
  EXPECT_LT(worst(model, toy, 1), 0.10);
}

TEST(HeatsModel, ThePapersTwoFeaturesGiveEveryTaskOfASizeTheSameAnswer) {
  Toy toy;
  HeatsModelOptions options;
  options.features = HeatsModelOptions::Features::cores_and_memory;
  const auto model = probed(toy, options);
  const auto small = model.predict(0, {0, 200, 2, 0.25, 2}), large = model.predict(0, {1, 1000, 2, 0.25, 1});
  EXPECT_EQ(small.seconds, large.seconds);
  EXPECT_GT(worst(model, toy, 0), 0.3);
}

TEST(HeatsModel, MaintenanceFollowsAMachineThatChangedAndLeavesTheOthers) {
  Toy toy;
  auto model = probed(toy);
  const double other_before = worst(model, toy, 0);
  toy.slower = 1.5;
  EXPECT_GT(worst(model, toy, 1), 0.25);
  Random random(4);
  for (int i = 0; i < 120; ++i) {
    const TaskFeatures task{static_cast<std::uint32_t>(i % 2), random.uniform(500, 1000), 2, 0.25,
                            i % 4 < 2 ? 1.0 : 2.0};
    for (std::uint32_t type = 0; type < 2; ++type) model.observe(type, task, toy.exact(type, task), 1000 + i);
  }
  EXPECT_EQ(model.maintain(3600), 0u);  // not yet
  EXPECT_EQ(model.waiting(), 240u);
  EXPECT_EQ(model.maintain(24 * 3600), 120u);  // those of machine 0 were predicted well
  EXPECT_LT(worst(model, toy, 1), 0.10);
  EXPECT_EQ(worst(model, toy, 0), other_before);
}

TEST(HeatsModel, WhatIsOlderThanTheWindowIsNotLearntFrom) {
  Toy toy;
  auto model = probed(toy);
  toy.slower = 2;
  const TaskFeatures task{0, 700, 2, 0.25, 2};
  for (int i = 0; i < 20; ++i) model.observe(1, task, toy.exact(1, task), 100);
  EXPECT_EQ(model.maintain(30 * 24 * 3600.0), 0u);
}

TEST(HeatsModel, RefusesWhatItCannotKnow) {
  HeatsModel model(1, {});
  EXPECT_THROW(model.predict(0, {0, 1, 1, 1, 1}), UserError);  // never probed
  EXPECT_THROW(model.predict(1, {0, 1, 1, 1, 1}), UserError);
  EXPECT_THROW(model.learn(0, {1, 1, 1, 1, 1}, {1, 1}), UserError);
  EXPECT_THROW(model.learn(0, {0, 0, 1, 1, 1}, {1, 1}), UserError);
  EXPECT_THROW(model.learn(0, {0, 1, 1, 1, 1}, {0, 1}), UserError);
  HeatsModelOptions options;
  options.regression = "forrest";
  EXPECT_THROW(HeatsModel(1, options), UserError);
}

}  // namespace
}  // namespace tandem::place
