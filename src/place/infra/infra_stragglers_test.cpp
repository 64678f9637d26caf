#include "place/infra/infra_stragglers.h"

#include <gtest/gtest.h>

#include <vector>

namespace tandem::place {
namespace {

const NodeFacts kServer{24, 2.3e9, 128 * kGiB, 2, 16 * kGiB, 1.25e9};

Node loaded(Resource resource, const std::vector<double>& shares) {
  Node out{kServer};
  for (const double share : shares) {
    Observation seen;
    seen.in_use[resource] = share;
    out.seen.push_back(seen);
  }
  return out;
}

Node far_away(const std::vector<double>& latencies) {
  Node out{kServer};
  for (const double latency : latencies) out.seen.push_back({{0}, {}, {latency}});
  return out;
}

TEST(Stragglers, LoadCountsWhenItIsThereNowAndWasMostOfTheTime) {
  for (const Resource resource : {Resource::cpu, Resource::network, Resource::gpu}) {
    const auto why = straggling(loaded(resource, {0.2, 0.95, 0.9, 1}), {0});
    ASSERT_TRUE(why);
    EXPECT_NE(why->find(name(resource)), std::string::npos) << *why;
    EXPECT_FALSE(straggling(loaded(resource, {0.2, 0.2, 0.2, 1}), {0})) << "a spike";
    EXPECT_FALSE(straggling(loaded(resource, {1, 1, 1, 0.2}), {0})) << "it is over";
    EXPECT_FALSE(straggling(loaded(resource, {1, 0.2, 0.2, 1}), {0})) << "half is not most";
  }
}

TEST(Stragglers, OnlyLoadsThatCountAreLookedAt) {
  const std::array cpu{Resource::cpu};
  EXPECT_FALSE(straggling(loaded(Resource::gpu, {1, 1, 1}), {0}, {}, cpu));
  EXPECT_TRUE(straggling(loaded(Resource::cpu, {1, 1, 1}), {0}, {}, cpu));
}

TEST(Stragglers, FullMemoryIsNotSlow) {
  EXPECT_FALSE(straggling(loaded(Resource::memory, {1, 1, 1}), {0}));
  EXPECT_FALSE(straggling(loaded(Resource::gpu_memory, {1, 1, 1}), {0}));
}

TEST(Stragglers, LatencyIsHeldAgainstTheMedianAndASlack) {
  EXPECT_TRUE(straggling(far_away({0.01, 0.01, 0.012}), {0.001}));
  EXPECT_FALSE(straggling(far_away({0.01, 0.01, 0.012}), {0.005})) << "everybody is far";
  EXPECT_FALSE(straggling(far_away({0.0004, 0.0004, 0.0004}), {0.0001})) << "nobody notices";
  EXPECT_FALSE(straggling(far_away({0.0001, 0.0001, 0.5}), {0.0001})) << "one late answer";
  EXPECT_FALSE(straggling(far_away({0.5, 0.5, 0.0001}), {0.0001})) << "it is over";
}

TEST(Stragglers, SlowWorkTellsOfMachinesThatDoNotLookBusy) {
  Node node = loaded(Resource::cpu, {0, 0, 0});
  node.slowness = {2, 2};
  EXPECT_FALSE(straggling(node, {0})) << "too few to say";
  node.slowness = {2, 2, 1};
  EXPECT_TRUE(straggling(node, {0}));
  node.slowness = {2, 2, 1, 1};
  EXPECT_FALSE(straggling(node, {0}));
  EXPECT_FALSE(straggling(Node{}, {0})) << "nothing is known";
}

TEST(Stragglers, TheMedianIsOfTheLastObservations) {
  Catalogue catalogue;
  EXPECT_EQ(median_latency(catalogue).value, 0);
  const std::vector<double> latencies{0.1, 0.001, 0.002};
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    const std::string host = "n" + std::to_string(i);
    catalogue.found(host, kServer);
    catalogue.observed(host, {{0}, {}, {7}});
    catalogue.observed(host, {{1}, {}, {latencies[i]}});
  }
  catalogue.found("unseen", kServer);
  EXPECT_EQ(median_latency(catalogue).value, 0.002);
}

}  // namespace
}  // namespace tandem::place
