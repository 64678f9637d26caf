// How nodes are connected: links, and the route from each node to each other.
//
// Every link is duplex: it is two links to the engine, one a direction, which do not slow each other down. A
// message takes the sum of the latencies on its way. Routes are fixed: in a star and a fat tree there is one,
// in a torus the dimensions are gone through in order, by the shorter way round, in an arbitrary network the
// way of least latency is taken (ties: fewer links, then lower numbers). The way from a node to itself is
// empty. Immutable once built; one owner.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/engine/engine.h"

namespace tandem::sim {

struct Cable {
  double bytes_a_second = 0;  // > 0, each way
  double latency = 0;         // s
};

struct Route {
  std::vector<LinkId> links;
  double latency = 0;
};

class Topology {
 public:
  // Each node has one cable to one switch that is never the bottleneck.
  static Topology star(Engine&, std::size_t nodes, Cable);
  // Leaf switches with `per_leaf` nodes each, every leaf with one cable to a spine that is never the
  // bottleneck: `up` is that cable (give it what the leaf's uplinks have together).
  static Topology fat_tree(Engine&, std::size_t nodes, std::size_t per_leaf, Cable node, Cable up);
  // sizes[0] × sizes[1] × … nodes, each with a cable to both neighbours in every dimension; node number =
  // x0 + sizes[0] · (x1 + sizes[1] · …).
  static Topology torus(Engine&, std::vector<std::size_t> sizes, Cable);

  struct Edge {
    std::size_t a = 0, b = 0;
    Cable cable;
  };
  // Points 0 to nodes-1 are nodes, those after them switches. UserError when a node cannot be reached, an
  // edge leads nowhere or to itself.
  static Topology arbitrary(Engine&, std::size_t nodes, std::size_t switches, const std::vector<Edge>&);

  std::size_t nodes() const { return nodes_; }
  // Valid until the next call.
  const Route& route(std::size_t from, std::size_t to) const;
  const std::vector<LinkId>& links() const { return links_; }

 private:
  enum class Kind { star, fat_tree, torus, arbitrary };
  struct Duplex {
    LinkId there = 0, back = 0;
    double latency = 0;
  };

  Duplex lay(Engine&, const Cable&);
  void torus_route(std::size_t from, std::size_t to) const;
  void arbitrary_route(std::size_t from, std::size_t to) const;

  Kind kind_ = Kind::star;
  std::size_t nodes_ = 0, per_leaf_ = 1;
  std::vector<Duplex>
      cables_;  // of nodes (there: away from the node); of a torus: node × dimension, to the next
  std::vector<Duplex> up_;  // of leaves
  std::vector<std::size_t> sizes_;
  std::vector<LinkId> links_;
  // Of an arbitrary network: for each pair of points the cable to take first, as 2 · edge + direction.
  std::vector<std::uint32_t> first_;
  std::vector<Edge> edges_;
  std::size_t points_ = 0;
  mutable Route route_;
};

}  // namespace tandem::sim
