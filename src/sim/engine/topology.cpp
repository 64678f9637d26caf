#include "sim/engine/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

#include "base/error.h"

namespace tandem::sim {
namespace {

constexpr std::uint32_t kNoWay = ~std::uint32_t{0};

void check_cable(const Cable& cable, const std::string& what) {
  if (!(cable.bytes_a_second > 0) || !std::isfinite(cable.bytes_a_second))
    throw UserError(what + ": its bandwidth must be more than 0");
  if (!(cable.latency >= 0) || !std::isfinite(cable.latency))
    throw UserError(what + ": its latency must not be negative");
}

}  // namespace

Topology::Duplex Topology::lay(Engine& engine, const Cable& cable) {
  const Duplex duplex{engine.add_link(cable.bytes_a_second), engine.add_link(cable.bytes_a_second),
                      cable.latency};
  links_.push_back(duplex.there);
  links_.push_back(duplex.back);
  return duplex;
}

Topology Topology::star(Engine& engine, std::size_t nodes, Cable cable) {
  check_cable(cable, "the network");
  Topology out;
  out.nodes_ = nodes;
  for (std::size_t i = 0; i < nodes; ++i) out.cables_.push_back(out.lay(engine, cable));
  return out;
}

Topology Topology::fat_tree(Engine& engine, std::size_t nodes, std::size_t per_leaf, Cable node, Cable up) {
  check_cable(node, "the cables of the nodes");
  check_cable(up, "the cables of the leaves");
  if (per_leaf == 0) throw UserError("a leaf of the fat tree must have at least one node");
  Topology out;
  out.kind_ = Kind::fat_tree;
  out.nodes_ = nodes;
  out.per_leaf_ = per_leaf;
  for (std::size_t i = 0; i < nodes; ++i) out.cables_.push_back(out.lay(engine, node));
  for (std::size_t i = 0; i < nodes; i += per_leaf) out.up_.push_back(out.lay(engine, up));
  return out;
}

Topology Topology::torus(Engine& engine, std::vector<std::size_t> sizes, Cable cable) {
  check_cable(cable, "the network");
  Topology out;
  out.kind_ = Kind::torus;
  out.nodes_ = 1;
  for (const std::size_t size : sizes) {
    if (size == 0) throw UserError("a dimension of the torus is 0");
    out.nodes_ *= size;
  }
  out.sizes_ = std::move(sizes);
  for (std::size_t i = 0; i < out.nodes_ * out.sizes_.size(); ++i)
    out.cables_.push_back(out.lay(engine, cable));
  return out;
}

Topology Topology::arbitrary(Engine& engine, std::size_t nodes, std::size_t switches,
                             const std::vector<Edge>& edges) {
  Topology out;
  out.kind_ = Kind::arbitrary;
  out.nodes_ = nodes;
  out.points_ = nodes + switches;
  out.edges_ = edges;
  std::vector<std::vector<std::uint32_t>> leaving(out.points_);  // as 2 · edge + direction
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto& edge = edges[i];
    const std::string what = fmt::format("cable {} from {} to {}", i + 1, edge.a, edge.b);
    if (edge.a >= out.points_ || edge.b >= out.points_) throw UserError(what + ": there is no such point");
    if (edge.a == edge.b) throw UserError(what + ": it leads back to where it begins");
    check_cable(edge.cable, what);
    out.cables_.push_back(out.lay(engine, edge.cable));
    leaving[edge.a].push_back(static_cast<std::uint32_t>(2 * i));
    leaving[edge.b].push_back(static_cast<std::uint32_t>(2 * i + 1));
  }
  // From each target outwards: the first cable of everybody's way to it.
  using Way = std::tuple<double, std::size_t, std::size_t>;  // latency, links, point
  out.first_.assign(out.points_ * out.points_, kNoWay);
  for (std::size_t target = 0; target < nodes; ++target) {
    std::vector<std::pair<double, std::size_t>> best(
        out.points_, {std::numeric_limits<double>::infinity(), std::numeric_limits<std::size_t>::max()});
    std::priority_queue<Way, std::vector<Way>, std::greater<>> open;
    best[target] = {0, 0};
    open.emplace(0, 0, target);
    while (!open.empty()) {
      const auto [latency, length, at] = open.top();
      open.pop();
      if (std::pair(latency, length) != best[at]) continue;
      for (const std::uint32_t way : leaving[at]) {
        const Edge& edge = edges[way / 2];
        const std::size_t other = way % 2 == 0 ? edge.b : edge.a;
        const std::pair reached(latency + edge.cable.latency, length + 1);
        if (!(reached < best[other])) continue;
        best[other] = reached;
        out.first_[other * out.points_ + target] = way ^ 1;  // the same cable, the other way
        open.emplace(reached.first, reached.second, other);
      }
    }
    for (std::size_t from = 0; from < nodes; ++from)
      if (from != target && out.first_[from * out.points_ + target] == kNoWay)
        throw UserError(fmt::format("there is no way from node {} to node {}", from, target));
  }
  return out;
}

const Route& Topology::route(std::size_t from, std::size_t to) const {
  assert(from < nodes_ && to < nodes_);
  route_.links.clear();
  route_.latency = 0;
  if (from == to) return route_;
  if (kind_ == Kind::torus) {
    torus_route(from, to);
    return route_;
  }
  if (kind_ == Kind::arbitrary) {
    arbitrary_route(from, to);
    return route_;
  }
  route_.links.push_back(cables_[from].there);
  route_.latency = cables_[from].latency + cables_[to].latency;
  if (const std::size_t a = from / per_leaf_, b = to / per_leaf_; kind_ == Kind::fat_tree && a != b) {
    route_.links.push_back(up_[a].there);
    route_.links.push_back(up_[b].back);
    route_.latency += up_[a].latency + up_[b].latency;
  }
  route_.links.push_back(cables_[to].back);
  return route_;
}

void Topology::torus_route(std::size_t from, std::size_t to) const {
  std::size_t stride = 1, at = from;
  for (std::size_t d = 0; d < sizes_.size(); ++d) {
    const std::size_t size = sizes_[d], target = to / stride % size;
    std::size_t here = at / stride % size;
    const bool up = (target + size - here) % size <= (here + size - target) % size;
    while (here != target) {
      const std::size_t next = up ? (here + 1) % size : (here + size - 1) % size;
      const std::size_t beyond = at - here * stride + next * stride;
      // The cable between two neighbours is that of the lower one, to its next.
      const Duplex& cable = cables_[(up ? at : beyond) * sizes_.size() + d];
      route_.links.push_back(up ? cable.there : cable.back);
      route_.latency += cable.latency;
      at = beyond;
      here = next;
    }
    stride *= size;
  }
}

void Topology::arbitrary_route(std::size_t from, std::size_t to) const {
  while (from != to) {
    const std::uint32_t way = first_[from * points_ + to];
    const Edge& edge = edges_[way / 2];
    route_.links.push_back(way % 2 == 0 ? cables_[way / 2].there : cables_[way / 2].back);
    route_.latency += edge.cable.latency;
    from = way % 2 == 0 ? edge.b : edge.a;
  }
}

}  // namespace tandem::sim
