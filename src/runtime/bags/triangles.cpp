#include "runtime/bags/triangles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "data/files.h"

namespace tandem::bags {
namespace {

constexpr std::uint32_t kMagic = 0x48505247;  // "GRPH"

struct Header {
  std::uint32_t magic = kMagic, vertices = 0, edges = 0;
};

// Grows a graph vertex by vertex.
class Growing {
 public:
  explicit Growing(std::uint64_t seed) : random_(seed, hash_name("power-law graph")) {}

  void join(std::uint32_t a, std::uint32_t b) {
    edges.emplace_back(a, b);
    const auto most = std::max(a, b);
    if (neighbours_.size() <= most) neighbours_.resize(most + 1);
    neighbours_[a].push_back(b);
    neighbours_[b].push_back(a);
    ends_.insert(ends_.end(), {a, b});
  }

  void add(std::uint32_t vertex, std::uint32_t count) {
    std::set<std::uint32_t> taken;
    std::vector<std::uint32_t> order;
    while (order.size() < count) {
      const bool closing = order.size() % 2 == 1;
      const auto& among = closing ? neighbours_[order.back()] : ends_;
      std::uint32_t chosen = among[random_.below(among.size())];
      while (taken.contains(chosen)) chosen = ends_[random_.below(ends_.size())];
      taken.insert(chosen);
      order.push_back(chosen);
    }
    for (const auto neighbour : order) join(vertex, neighbour);
  }

  std::vector<Edge> edges;

 private:
  Random random_;
  std::vector<std::vector<std::uint32_t>> neighbours_;
  std::vector<std::uint32_t> ends_;  // of all edges: a vertex is there as often as it has neighbours
};

}  // namespace

Graph directed(std::uint32_t vertices, const std::vector<Edge>& edges) {
  std::vector<std::uint32_t> degree(vertices, 0);
  for (const auto& [a, b] : edges) {
    if (a >= vertices || b >= vertices || a == b)
      throw UserError(fmt::format("the edge {}-{} is none between two of {} vertices", a, b, vertices));
    ++degree[a], ++degree[b];
  }
  std::vector<std::vector<std::uint32_t>> out(vertices);
  for (const auto& [a, b] : edges) {
    const bool forward = std::pair(degree[a], a) < std::pair(degree[b], b);
    out[forward ? a : b].push_back(forward ? b : a);
  }
  Graph graph;
  for (auto& to : out) {
    std::sort(to.begin(), to.end());
    graph.to.insert(graph.to.end(), to.begin(), to.end());
    graph.first.push_back(static_cast<std::uint32_t>(graph.to.size()));
  }
  return graph;
}

Graph power_law_graph(std::uint32_t vertices, std::uint32_t edges, std::uint64_t seed) {
  if (edges < 1 || vertices <= edges)
    throw UserError(
        fmt::format("{} vertices with {} edges each: at least 1 edge, and more vertices", vertices, edges));
  Growing growing(seed);
  for (std::uint32_t a = 0; a <= edges; ++a)  // all of the first know each other
    for (std::uint32_t b = a + 1; b <= edges; ++b) growing.join(a, b);
  for (std::uint32_t vertex = edges + 1; vertex < vertices; ++vertex) growing.add(vertex, edges);
  return directed(vertices, growing.edges);
}

void count_triangles(const Graph& graph, int task, int tasks, std::vector<std::uint64_t>& counts) {
  counts.resize(graph.vertices());
  for (auto a = static_cast<std::uint32_t>(task); a < graph.vertices();
       a += static_cast<std::uint32_t>(tasks))
    for (const auto b : graph.from(a)) {
      const auto of_a = graph.from(a), of_b = graph.from(b);
      for (auto x = of_a.begin(), y = of_b.begin(); x != of_a.end() && y != of_b.end();) {
        if (*x == *y) ++counts[a], ++counts[b], ++counts[*x];
        const auto here = *x, there = *y;
        x += here <= there;
        y += there <= here;
      }
    }
}

void write_graph(const Graph& graph, const std::filesystem::path& file) {
  const Header header{kMagic, graph.vertices(), static_cast<std::uint32_t>(graph.to.size())};
  std::ofstream out(file, std::ios::binary);
  const auto put = [&](const void* data, std::size_t bytes) {
    out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  };
  put(&header, sizeof header);
  put(graph.first.data(), graph.first.size() * sizeof(std::uint32_t));
  put(graph.to.data(), graph.to.size() * sizeof(std::uint32_t));
  out.flush();
  if (!out) throw SystemError("writing " + file.string());
}

Graph read_graph(const std::filesystem::path& file) {
  const auto bytes = data::read_file(file);
  const auto broken = [&](const char* what) {
    return SystemError(fmt::format("{} is no graph: {}; make it again", file.string(), what));
  };
  Header header;
  if (bytes.size() < sizeof header) throw broken("it is too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::size_t numbers = std::size_t{header.vertices} + 1 + header.edges;
  if (header.magic != kMagic) throw broken("it does not begin as one");
  if (bytes.size() != sizeof header + numbers * sizeof(std::uint32_t)) throw broken("its length is wrong");
  Graph graph;
  graph.first.resize(std::size_t{header.vertices} + 1);
  graph.to.resize(header.edges);
  const auto* at = bytes.data() + sizeof header;
  std::memcpy(graph.first.data(), at, graph.first.size() * sizeof(std::uint32_t));
  at += graph.first.size() * sizeof(std::uint32_t);
  if (header.edges > 0) std::memcpy(graph.to.data(), at, graph.to.size() * sizeof(std::uint32_t));
  if (graph.first.front() != 0 || graph.first.back() != header.edges ||
      !std::is_sorted(graph.first.begin(), graph.first.end()))
    throw broken("its edges are not where it says");
  if (std::any_of(graph.to.begin(), graph.to.end(), [&](auto v) { return v >= header.vertices; }))
    throw broken("an edge leads out of it");
  return graph;
}

}  // namespace tandem::bags
