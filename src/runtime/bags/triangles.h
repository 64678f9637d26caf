// Triangle count, a bag of tasks: how many triangles each vertex of a graph is a corner of.
//
// Every edge points from the end with fewer neighbours to the one with more (of equals, by number), so each
// triangle is found once, from its least connected corner, and hubs cost little. Task t of n looks from the
// vertices t, t + n, t + 2 n and so on. Pure, but for reading and writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace tandem::bags {

struct Graph {
  std::vector<std::uint32_t> first{0};  // of each vertex's edges, and one past the last
  std::vector<std::uint32_t> to{};      // rising within a vertex

  std::uint32_t vertices() const { return static_cast<std::uint32_t>(first.size() - 1); }
  std::span<const std::uint32_t> from(std::uint32_t vertex) const {
    return std::span(to).subspan(first[vertex], first[vertex + 1] - first[vertex]);
  }
};

using Edge = std::pair<std::uint32_t, std::uint32_t>;
// Of undirected edges, each given once. UserError where an end is no vertex, or an edge a loop.
Graph directed(std::uint32_t vertices, const std::vector<Edge>&);

// A power-law graph: each new vertex takes `edges` neighbours, every other one a neighbour of the one before
// (which closes a triangle), the others the likelier the more neighbours they have (Holme and Kim). The same
// seed gives the same graph.
Graph power_law_graph(std::uint32_t vertices, std::uint32_t edges, std::uint64_t seed);

// Adds what the task finds to the counts, one a vertex.
void count_triangles(const Graph&, int task, int tasks, std::vector<std::uint64_t>& counts);

void write_graph(const Graph&, const std::filesystem::path&);
Graph read_graph(const std::filesystem::path&);  // SystemError where it is not a whole graph

}  // namespace tandem::bags
