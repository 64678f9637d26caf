#include "measure/counter_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "measure/fake_counters.h"

namespace tandem::measure {
namespace {

const auto kKnown = platform::known_events("/nonexistent");

std::vector<std::string> names(const CounterPlan& plan) {
  std::vector<std::string> all;
  for (const auto& event : plan.events) all.push_back(event.name);
  return all;
}

bool has(const CounterPlan& plan, const std::string& name) {
  const auto all = names(plan);
  return std::find(all.begin(), all.end(), name) != all.end();
}

TEST(PlanCounters, AllButTheAliases) {
  FakeCounters kernel;
  const auto plan = plan_counters(kernel, kKnown);
  EXPECT_EQ(plan.events.size() + plan.aliases.size(), kKnown.size());
  EXPECT_FALSE(has(plan, "cpu-clock"));
  EXPECT_EQ(kernel.open_now, 0) << "probing leaves nothing open";
}

TEST(PlanCounters, AVirtualMachineHasSoftwareEventsOnly) {
  FakeCounters kernel;
  for (const auto& code : kKnown)
    if (!code.software) kernel.refuse[code.name] = ENOENT;
  const auto plan = plan_counters(kernel, kKnown);
  EXPECT_EQ(plan.count(false), 0u);
  EXPECT_TRUE(has(plan, "task-clock"));
  EXPECT_EQ(plan.refused.at("cpu-cycles"), ENOENT);
}

TEST(PlanCounters, UserSpaceOnlyIsSaidInTheName) {
  FakeCounters kernel;
  for (const auto& code : kKnown) kernel.refuse_kernel[code.name] = EACCES;
  const auto plan = plan_counters(kernel, kKnown);
  EXPECT_TRUE(has(plan, "cpu-cycles:u"));
  EXPECT_FALSE(has(plan, "cpu-cycles"));
  EXPECT_TRUE(has(plan, "task-clock")) << "counts all time whatever is left out";
  EXPECT_FALSE(has(plan, "context-switches:u")) << "would stay at 0";
  EXPECT_FALSE(plan.useless_user_only.empty());
}

TEST(CounterSet, RatesAreScaledAndUnmeasuredNamesAreMissing) {
  FakeCounters kernel;
  const auto plan = plan_counters(kernel, kKnown);
  kernel.counts[{7, "cpu-cycles"}] = {1000, 0, 0};
  kernel.counts[{7, "task-clock"}] = {5, 5, 5};
  kernel.counts[{7, "cache-misses"}] = {0, 0, 0};
  CounterSet set(kernel, plan, 7, Seconds{0});
  kernel.counts[{7, "cpu-cycles"}] = {1100, 1000, 500};
  kernel.counts[{7, "task-clock"}] = {2'000'000'005, 10, 10};
  kernel.counts[{7, "cache-misses"}] = {0, 1000, 0};
  set.update(Seconds{2});
  Metrics rates;
  set.take(rates);
  EXPECT_EQ(rates, (Metrics{{"cpu-cycles", 100}, {"task-clock", 1e9}}));
  EXPECT_NEAR(set.cpu_time()->value, 2, 1e-6);
}

TEST(CounterSet, NeighboursShareTheirTurns) {
  FakeCounters kernel;
  kernel.refuse_in_group["branch-misses"] = EINVAL;
  const auto plan = plan_counters(kernel, kKnown);
  const CounterSet set(kernel, plan, 7, Seconds{0});
  EXPECT_FALSE((kernel.led[{7, "cpu-cycles"}]));
  EXPECT_TRUE((kernel.led[{7, "instructions"}]));
  EXPECT_TRUE((kernel.led[{7, "LLC-load-misses"}]));
  EXPECT_FALSE((kernel.led[{7, "branch-misses"}])) << "alone rather than not at all";
  EXPECT_FALSE((kernel.led[{7, "context-switches"}]));
  EXPECT_EQ(kernel.open_now, static_cast<int>(plan.events.size()));
}

}  // namespace
}  // namespace tandem::measure
