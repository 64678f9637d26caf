#include "sim/step/step_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/step/step_partition.h"
#include "sim/step/step_testing.h"

namespace tandem::sim {
namespace {

using step_testing::chain;

// input 0 -> 1 -> {2, 3} -> 4; 2 is long, 3 is short and has no parameters.
graph::Model diamond() {
  graph::Model out;
  out.name = "diamond";
  const auto dense = graph::Kind::dense;
  out.operations = {{"input", graph::Kind::input, {}, 0, 0, 0, 10},
                    {"stem", dense, {0}, 1, 2, 5, 20},
                    {"short", dense, {1}, 1, 1, 0, 30},
                    {"long", dense, {1}, 9, 18, 7, 40},
                    {"head", dense, {2, 3}, 1, 2, 3, 50}};
  return out;
}

std::vector<std::uint32_t> run_order(const graph::Model& model, const std::string& scheduler) {
  const auto graph = training_graph(model);
  std::vector<double> seconds;
  for (const Pass& pass : graph.passes) {
    const auto& operation = model.operations[pass.operation];
    seconds.push_back(pass.backward ? operation.backward_flops : operation.forward_flops);
  }
  const std::vector<std::uint32_t> device(graph.passes.size(), 0);
  return order_on_one(graph, ranks(graph, scheduler, seconds, device));
}

TEST(TrainingGraph, BackwardPassesFollowThoseOfTheReaders) {
  const auto graph = training_graph(diamond());
  ASSERT_EQ(graph.passes.size(), 9u) << "five forward, four backward: the input needs no gradient";
  EXPECT_EQ(graph.passes[5].operation, 4u);
  EXPECT_TRUE(graph.passes[5].backward);
  EXPECT_EQ(graph.passes[5].inputs, (std::vector<std::uint32_t>{4}));
  const auto& stem = graph.passes.back();
  EXPECT_EQ(stem.operation, 1u);
  EXPECT_EQ(stem.inputs.size(), 2u);
  for (std::uint32_t i = 0; i < graph.passes.size(); ++i)
    for (const std::uint32_t input : graph.passes[i].inputs) EXPECT_LT(input, i);
}

TEST(TrainingGraph, AModelWithoutParametersHasNoBackwardPasses) {
  EXPECT_EQ(training_graph(chain(3, 1, 0)).passes.size(), 4u);
}

TEST(Schedulers, EachRunsEverythingOnceAndNothingTooEarly) {
  const auto graph = training_graph(diamond());
  for (const auto& entry : schedulers()) {
    const auto order = run_order(diamond(), entry.name);
    ASSERT_EQ(order.size(), graph.passes.size()) << entry.name;
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    for (std::uint32_t i = 0; i < graph.passes.size(); ++i)
      for (const std::uint32_t input : graph.passes[i].inputs)
        EXPECT_LT(place[input], place[i]) << entry.name;
  }
}

TEST(Schedulers, PathTimeTakesTheLongWayFirst) {
  const auto depth = run_order(diamond(), "depth-first"), path = run_order(diamond(), "path-time");
  EXPECT_EQ(depth[2], 2u) << "in the order of the graph";
  EXPECT_EQ(path[2], 3u) << "the long one";
}

TEST(Schedulers, SuccessorsOnOtherDevicesCountTwice) {
  const auto graph = training_graph(diamond());
  std::vector<std::uint32_t> device(graph.passes.size(), 0);
  const std::vector<double> seconds(graph.passes.size(), 1);
  const auto together = ranks(graph, "successors", seconds, device);
  EXPECT_GT(together[2], together[3]) << "a tie, so the first";
  EXPECT_GT(together[0], together[2]) << "one successor each, so the first";
  device[4] = 1;  // the head's forward pass
  const auto apart = ranks(graph, "successors", seconds, device);
  EXPECT_GT(apart[2], apart[0]) << "now another device waits for it";
}

TEST(Schedulers, AnUnknownNameIsAnError) {
  const auto graph = training_graph(diamond());
  const std::vector<double> seconds(graph.passes.size(), 1);
  const std::vector<std::uint32_t> device(graph.passes.size(), 0);
  EXPECT_TRUE(
      mentions(complaint([&] { ranks(graph, "path-tim", seconds, device); }), "did you mean 'path-time'"));
}

TEST(Partition, TheSlowestPartIsAsFastAsNeighboursAllow) {
  const auto model = chain(6, 1, 1);
  const std::vector<double> seconds{0, 4, 1, 1, 3, 3, 2};
  const auto part = partition(model, seconds, 3);
  std::vector<double> sums(3, 0);
  for (std::size_t i = 0; i < part.size(); ++i) sums[part[i]] += seconds[i];
  EXPECT_DOUBLE_EQ(*std::max_element(sums.begin(), sums.end()), 5) << "4 1, 1 3, 3 2";
  EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
}

TEST(Partition, EveryPartHasSomething) {
  for (std::size_t parts = 1; parts <= 7; ++parts) {
    const auto part = partition(chain(6, 1, 1), {0, 9, 0, 0, 0, 0, 0}, parts);
    EXPECT_EQ(part.back() + 1u, parts);
    EXPECT_EQ(part.front(), 0u);
    for (std::size_t i = 1; i < part.size(); ++i) EXPECT_LE(part[i] - part[i - 1], 1u);
  }
  EXPECT_TRUE(mentions(complaint([] { partition(chain(1, 1, 1), {0, 1}, 3); }), "3 parts"));
}

TEST(Partition, WhatIsReadInAnotherPartCrossesOnce) {
  auto model = diamond();
  const auto found = crossings(model, {0, 0, 1, 1, 1});
  EXPECT_EQ(found, (std::vector<Crossing>{{1, 0, 1, 80}})) << "two read it there, one message";
  EXPECT_EQ(crossings(model, {0, 0, 0, 1, 2}).size(), 3u);
  EXPECT_TRUE(crossings(model, {0, 0, 0, 0, 0}).empty());
}

}  // namespace
}  // namespace tandem::sim
