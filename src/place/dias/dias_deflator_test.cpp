#include "place/dias/dias_deflator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace tandem::place {
namespace {

const AccuracyCurve kCurve({{0.1, 0.085}, {0.2, 0.15}, {0.4, 0.32}});

DiasJob job(int tasks, double task) {
  return {{{{{tasks, 1}}, 1, task, 1, true, 0}}};
}

DiasSystem two_classes() {
  DiasSystem system{{{"high", job(20, 5), {}}, {"low", job(40, 10), kCurve}}, {}, 10};
  const double high = processing_time(system.classes[0].job, 10).mean();
  const double low = processing_time(system.classes[1].job, 10).mean();
  system.arrivals = stats::poisson({0.1 * 0.8 / high, 0.9 * 0.8 / low});
  return system;
}

TEST(AccuracyCurve, IsLinearBetweenWhatWasMeasured) {
  EXPECT_EQ(kCurve.loss(0), 0);
  EXPECT_NEAR(kCurve.loss(0.05), 0.0425, 1e-12);
  EXPECT_NEAR(kCurve.loss(0.1), 0.085, 1e-12);
  EXPECT_NEAR(kCurve.loss(0.3), 0.235, 1e-12);
  EXPECT_THROW(kCurve.loss(0.5), UserError);
  EXPECT_NEAR(kCurve.most_drop(0.235), 0.3, 1e-12);
  EXPECT_NEAR(kCurve.most_drop(1), 0.4, 1e-12);
  EXPECT_EQ(kCurve.most_drop(0), 0);
  EXPECT_EQ(AccuracyCurve().loss(0), 0);
  EXPECT_THROW(AccuracyCurve().loss(0.1), UserError);
  EXPECT_THROW(AccuracyCurve({{0.2, 0.1}, {0.1, 0.2}}), UserError);
}

TEST(Deflator, PredictsWhatTheQueueingModelSays) {
  const auto system = two_classes();
  const auto predicted = predict(system, {{0, 0}, {{}, {}}}, Detail::percentiles);
  EXPECT_NEAR(predicted.load, 0.8, 1e-9);
  EXPECT_NEAR(predicted.power.value, 0.8 * 180, 1e-6);
  EXPECT_EQ(predicted.waste, 0);
  EXPECT_LT(predicted.classes[0].response, predicted.classes[1].response);
  EXPECT_GT(predicted.classes[1].p95, predicted.classes[1].response);
  const auto dropped = predict(system, {{0, 0.2}, {{}, {}}}, Detail::means);
  EXPECT_LT(dropped.classes[0].response, predicted.classes[0].response);
  EXPECT_LT(dropped.classes[1].response, predicted.classes[1].response);
  EXPECT_NEAR(dropped.classes[1].loss, 0.15, 1e-12);
}

TEST(Deflator, SprintingTakesTimeAwayAndABudgetSomeOfItBack) {
  auto system = two_classes();
  const DiasChoice at_once{{0, 0}, {Seconds{0}, {}}};
  const auto plain = predict(system, {{0, 0}, {{}, {}}}, Detail::means);
  const auto endless = predict(system, at_once, Detail::means);
  EXPECT_NEAR(endless.classes[0].executing * 2.5, plain.classes[0].executing, 1e-9);
  EXPECT_LT(endless.classes[1].response, plain.classes[1].response);
  EXPECT_EQ(endless.sprint_paid, 1);
  system.limit = SprintLimit{Joules{22000}, Watts{endless.sprinting * 90 / 2}};  // pays for half of it
  const auto half = predict(system, at_once, Detail::means);
  EXPECT_NEAR(half.sprint_paid, 0.5, 1e-9);
  EXPECT_NEAR(half.classes[0].executing, (endless.classes[0].executing + plain.classes[0].executing) / 2,
              1e-9);
}

TEST(Deflator, TakesTheLeastLossThatMeetsTheLatency) {
  const auto system = two_classes();
  const DiasSearch search{.drops = {0, 0.1, 0.2, 0.4}};
  const auto response = [&](double drop) {
    return predict(system, {{0, drop}, {{}, {}}}, Detail::means).classes[0].response;
  };
  const Seconds wanted{(response(0.1) + response(0.2)) / 2};
  const auto decision = choose(system, {{wanted, {}, 0}, {{}, {}, 0.35}}, search);
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->choice.drops, (std::vector<double>{0, 0.2}));
  EXPECT_EQ(decision->tried, 4U);
  EXPECT_EQ(decision->feasible, 2U);
  EXPECT_LE(decision->predicted.classes[0].response, wanted.value);
  // A smaller loss is allowed: no drop that is, is enough.
  EXPECT_FALSE(choose(system, {{wanted, {}, 0}, {{}, {}, 0.1}}, search));
  EXPECT_FALSE(choose(system, {{Seconds{1}, {}, 0}, {{}, {}, 0.35}}, search));
}

TEST(Deflator, SprintsLateWherePowerCountsAndEarlyWhereLatencyDoes) {
  auto system = two_classes();
  DiasSearch search{
      .drops = {0}, .timeouts = {std::nullopt, Seconds{10}, Seconds{0}}, .sprints = {true, false}};
  search.latency = 1;
  const auto fast = choose(system, {{}, {}}, search);
  ASSERT_TRUE(fast);
  EXPECT_EQ(fast->choice.timeouts[0], Seconds{0});
  system.power.sprint = Watts{2000};
  search.latency = 0, search.power = 1;
  const auto thrifty = choose(system, {{}, {}}, search);
  ASSERT_TRUE(thrifty);
  EXPECT_FALSE(thrifty->choice.timeouts[0]);
}

TEST(Deflator, HoldsPercentilesToo) {
  const auto system = two_classes();
  const auto plain = predict(system, {{0, 0}, {{}, {}}}, Detail::percentiles);
  const Seconds wanted{plain.classes[1].p95 * 0.7};
  const auto decision = choose(system, {{}, {{}, wanted, 0.32}}, {.drops = {0, 0.1, 0.2, 0.4}});
  ASSERT_TRUE(decision);
  EXPECT_GT(decision->choice.drops[1], 0);
  EXPECT_LE(decision->predicted.classes[1].p95, wanted.value);
}

TEST(Deflator, RefusesChoicesThatDoNotFit) {
  const auto system = two_classes();
  EXPECT_THROW(predict(system, {{0}, {{}, {}}}, Detail::means), UserError);
  EXPECT_THROW(choose(system, {{}}, {}), UserError);
  auto evicting = system;
  evicting.discipline = stats::Discipline::preemptive_resume;
  EXPECT_THROW(predict(evicting, {{0, 0}, {Seconds{1}, {}}}, Detail::means), UserError);
  EXPECT_THROW(predict(system, {{0.2, 0}, {{}, {}}}, Detail::means), UserError);  // its loss was not measured
}

}  // namespace
}  // namespace tandem::place
