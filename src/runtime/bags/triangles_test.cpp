#include "runtime/bags/triangles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::bags {
namespace {

std::vector<std::uint64_t> count_all(const Graph& graph, int tasks) {
  std::vector<std::uint64_t> out;
  for (int task = 0; task < tasks; ++task) count_triangles(graph, task, tasks, out);
  return out;
}

// Every three vertices, looked at.
std::vector<std::uint64_t> by_looking(const Graph& graph) {
  const auto n = graph.vertices();
  const auto joined = [&](std::uint32_t a, std::uint32_t b) {
    const auto has = [&](std::uint32_t from, std::uint32_t to) {
      const auto ends = graph.from(from);
      return std::find(ends.begin(), ends.end(), to) != ends.end();
    };
    return has(a, b) || has(b, a);
  };
  std::vector<std::uint64_t> out(n, 0);
  for (std::uint32_t a = 0; a < n; ++a)
    for (std::uint32_t b = a + 1; b < n; ++b)
      for (std::uint32_t c = b + 1; c < n; ++c)
        if (joined(a, b) && joined(b, c) && joined(a, c)) ++out[a], ++out[b], ++out[c];
  return out;
}

TEST(Triangles, OfAKnownGraph) {
  // A square with one diagonal and a tail.
  const auto graph = directed(5, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}, {3, 4}});
  EXPECT_EQ(count_all(graph, 1), (std::vector<std::uint64_t>{2, 1, 2, 1, 0}));
}

TEST(Triangles, AreTheSameHoweverManyTasks) {
  const auto graph = power_law_graph(60, 5, 3);
  const auto expected = by_looking(graph);
  EXPECT_GT(std::accumulate(expected.begin(), expected.end(), std::uint64_t{0}), 0u);
  for (const int tasks : {1, 2, 7, 100}) EXPECT_EQ(count_all(graph, tasks), expected) << tasks;
}

TEST(PowerLawGraph, HasHubsAndIsTheSameForTheSameSeed) {
  const auto graph = power_law_graph(2000, 4, 1);
  EXPECT_EQ(graph.vertices(), 2000u);
  EXPECT_EQ(graph.to.size(), 10u + 4u * 1995);
  EXPECT_EQ(graph.to, power_law_graph(2000, 4, 1).to);
  EXPECT_NE(graph.to, power_law_graph(2000, 4, 2).to);
  std::vector<std::uint32_t> degree(2000, 0);
  for (std::uint32_t v = 0; v < 2000; ++v)
    for (const auto to : graph.from(v)) ++degree[v], ++degree[to];
  EXPECT_GE(*std::min_element(degree.begin(), degree.end()), 4u);
  EXPECT_GT(*std::max_element(degree.begin(), degree.end()), 80u);  // ten times the mean
}

TEST(Graphs, ThatCannotBeAreRefused) {
  EXPECT_THROW(directed(2, {{0, 2}}), UserError);
  EXPECT_THROW(directed(2, {{1, 1}}), UserError);
  EXPECT_THROW(power_law_graph(4, 4, 1), UserError);
  EXPECT_THROW(power_law_graph(4, 0, 1), UserError);
}

TEST(Graphs, AreReadAsTheyWereWrittenAndElseRefused) {
  const platform::TemporaryFolder folder;
  const auto file = folder.path() / "graph";
  const auto graph = power_law_graph(50, 3, 1);
  write_graph(graph, file);
  EXPECT_EQ(read_graph(file).first, graph.first);
  EXPECT_EQ(read_graph(file).to, graph.to);
  auto wrong = graph;
  wrong.to[0] = 50;
  write_graph(wrong, file);
  EXPECT_THROW(read_graph(file), SystemError);
  wrong = graph;
  wrong.first[1] = 4'000'000;
  write_graph(wrong, file);
  EXPECT_THROW(read_graph(file), SystemError);
  std::ofstream(file) << "short";
  EXPECT_THROW(read_graph(file), SystemError);
  std::ofstream(file) << "as long as a header, but none";
  EXPECT_THROW(read_graph(file), SystemError);
}

}  // namespace
}  // namespace tandem::bags
