#include "platform/topology.h"

#include <gtest/gtest.h>

namespace tandem::platform {
namespace {

// Two packages, each one NUMA node with two cache groups of two cores with two threads: CPUs 0-7 and 8-15.
Topology two_packages() {
  Topology topology;
  for (int id = 0; id < 16; ++id) topology.cpus.push_back({id, id / 2, id / 4, id / 8, id / 8});
  return topology;
}

std::set<int> all(int count) {
  std::set<int> cpus;
  for (int id = 0; id < count; ++id) cpus.insert(id);
  return cpus;
}

TEST(ChooseCpus, TakesPhysicalCoresBeforeSecondThreads) {
  EXPECT_EQ(choose_cpus(two_packages(), all(16), 2), (std::vector<int>{0, 2}));
}

TEST(ChooseCpus, StaysInsideOneCacheThenOneNode) {
  EXPECT_EQ(choose_cpus(two_packages(), all(16), 4), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(choose_cpus(two_packages(), all(16), 6).size(), 6u);
  for (int cpu : choose_cpus(two_packages(), all(16), 6)) EXPECT_LT(cpu, 8) << "one package is enough";
}

TEST(ChooseCpus, PrefersTheGroupWithTheLeastRoomLeftOver) {
  auto free = all(16);
  free.erase(4);
  free.erase(5);
  EXPECT_EQ(choose_cpus(two_packages(), free, 2), (std::vector<int>{6, 7}))
      << "the cache group with just two free";
}

TEST(ChooseCpus, CrossesPackagesOnlyWhenItMust) {
  EXPECT_EQ(choose_cpus(two_packages(), all(16), 16).size(), 16u);
}

TEST(ChooseCpus, NeverGivesWhatIsNotFree) {
  EXPECT_TRUE(choose_cpus(two_packages(), {1, 2}, 3).empty());
  EXPECT_TRUE(choose_cpus(two_packages(), {}, 1).empty());
  EXPECT_TRUE(choose_cpus(two_packages(), all(16), 0).empty());
}

TEST(Topology, ThisMachineHasCpusAndMemory) {
  const auto here = Topology::detect();
  EXPECT_FALSE(here.cpus.empty());
  EXPECT_GT(here.memory, 64 * kMiB);
}

}  // namespace
}  // namespace tandem::platform
