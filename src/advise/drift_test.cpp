#include "advise/drift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"

namespace tandem::advise {
namespace {

const Fingerprint kMachine = {{"cpu", "Xeon"}, {"cores", "16"}};

// Runs that take `factor` times what was predicted, with normal errors of a tenth.
void add_runs(Drift& drift, int count, double factor, Random& random) {
  for (int i = 0; i < count; ++i) drift.add({"run", {100}, {100 * factor * std::exp(0.1 * random.normal())}});
}

TEST(Drift, GoodPredictionsAreLeftAlone) {
  Drift drift(0.1, 1000, kMachine);
  Random random(3);
  add_runs(drift, 300, 1, random);
  EXPECT_FALSE(drift.verdict(kMachine).retrain);
  EXPECT_NEAR(drift.mean_error(), 0, 0.03);
  EXPECT_NEAR(drift.mean_absolute_error(), 0.08, 0.02);
}

// The header's promise: about one alarm in 1 300 runs of normal errors.
TEST(Drift, FalseAlarmsAreAsRareAsStated) {
  Random random(11);
  int alarms = 0;
  constexpr int kRuns = 200'000;
  Drift drift(0.1, 1'000'000, kMachine);
  for (int i = 0; i < kRuns; ++i) {
    add_runs(drift, 1, 1, random);
    if (!drift.verdict(kMachine).retrain) continue;
    ++alarms;
    drift = Drift(0.1, 1'000'000, kMachine);
  }
  EXPECT_GT(alarms, kRuns / 2600);
  EXPECT_LT(alarms, kRuns / 900);
}

TEST(Drift, SlowerRunsAreFoundWithinAFew) {
  for (const double factor : {1.22, 0.82}) {
    Drift drift(0.1, 1000, kMachine);
    Random random(5);
    add_runs(drift, 50, 1, random);
    int needed = 0;
    while (!drift.verdict(kMachine).retrain && needed < 50) add_runs(drift, 1, factor, random), ++needed;
    EXPECT_LE(needed, 10) << factor;
    const auto reasons = drift.verdict(kMachine).reasons;
    ASSERT_EQ(reasons.size(), 1u);
    EXPECT_NE(reasons[0].find(factor > 1 ? "longer" : "less time"), std::string::npos) << reasons[0];
  }
}

TEST(Drift, OneOddRunIsNoDrift) {
  Drift drift(0.1, 1000, kMachine);
  drift.add({"odd", {1}, {1e6}});
  EXPECT_FALSE(drift.verdict(kMachine).retrain);
}

TEST(Drift, AnotherMachineIsSaid) {
  const Drift drift(0.1, 1000, kMachine);
  EXPECT_FALSE(drift.verdict(kMachine).retrain);
  const auto verdict = drift.verdict({{"cpu", "Xeon"}, {"cores", "8"}});
  ASSERT_TRUE(verdict.retrain);
  EXPECT_EQ(verdict.reasons[0], "the machine changed: cores was 16, is 8");
}

TEST(Drift, TwiceAsManyRunsAreWorthLearningFrom) {
  Drift drift(0.1, 3, kMachine);
  for (int i = 0; i < 2; ++i) drift.add({"run", {10}, {10}});
  EXPECT_FALSE(drift.verdict(kMachine).retrain);
  drift.add({"run", {10}, {10}});
  EXPECT_TRUE(drift.verdict(kMachine).retrain);
}

TEST(Drift, TimesThatCannotBeAreRefused) {
  Drift drift(0.1, 3, kMachine);
  EXPECT_THROW(drift.add({"x", {0}, {1}}), UserError);
  EXPECT_THROW(drift.add({"x", {1}, {-1}}), UserError);
  EXPECT_THROW(drift.add({"x", {1}, {std::nan("")}}), UserError);
  EXPECT_EQ(drift.count(), 0u);
  EXPECT_THROW(Drift(std::nan(""), 3, kMachine), UserError);
}

TEST(Drift, WhatWasReadGoesOnAlike) {
  Drift drift(0.1, 1000, kMachine);
  Random random(7);
  add_runs(drift, 5, 1.2, random);
  auto other = Drift::read(nlohmann::json::parse(drift.written().dump()));
  add_runs(drift, 3, 1.2, random);
  Random again(7);
  Drift skipped(0.1, 1000, kMachine);
  add_runs(skipped, 5, 1.2, again);
  add_runs(other, 3, 1.2, again);
  EXPECT_EQ(drift.written(), other.written());
}

}  // namespace
}  // namespace tandem::advise
