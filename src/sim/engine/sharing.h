// Who gets how much of shared links: weighted max-min fairness.
//
// A flow crosses links and may have a bound of its own. Rates are raised together, in proportion to the
// flows' weights, until a link is full or a bound is reached; the flows stopped by that are settled, and the
// others go on. No rate can then be raised without lowering one that is no larger (by weight), and links are
// never overfull.
//
// Links that share no flow, directly or through others, do not concern each other, so only what is connected
// to a change is solved again, and only once for all changes of a moment. One owner; pure.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tandem::sim {

using LinkId = std::uint32_t;
using FlowId = std::uint32_t;  // small and dense; used again after remove()

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

class Sharing {
 public:
  LinkId add_link(double capacity);  // > 0
  void set_capacity(LinkId, double capacity);
  double capacity(LinkId link) const { return links_[link].capacity; }
  double used(LinkId) const;  // the sum of the rates across it, as last solved

  // A route may be empty: then the bound alone counts. A link that a route crosses twice counts twice.
  FlowId add(std::span<const LinkId> route, double weight = 1, double bound = kUnbounded);
  void remove(FlowId);
  double rate(FlowId flow) const { return flows_[flow].rate; }  // as last solved
  std::size_t flows() const { return flows_.size() - free_flows_.size(); }

  bool dirty() const { return !dirty_links_.empty() || !dirty_flows_.empty(); }
  // Solves what is dirty. The flows whose rate is another now; valid until the next call.
  const std::vector<FlowId>& solve();

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // A flow's place on one link: a node of that link's list.
  struct Hop {
    FlowId flow;
    LinkId link;
    std::uint32_t previous, next;
  };
  struct Link {
    double capacity;
    std::uint32_t head = kNone;
    std::uint32_t mark = 0;
    bool dirty = false;
    // While solving: what is left for the flows that are not settled, their weight and their number.
    double left = 0, weight = 0;
    std::uint32_t open = 0;
  };
  struct Flow {
    double weight, bound, rate;
    std::uint32_t hops, count;  // in hops_
    std::uint32_t mark;
    bool alive, settled;
  };

  // A link and the rate a unit of weight it allows, as it was when this was written.
  struct Level {
    double level;
    LinkId link;
    bool operator<(const Level& other) const {  // for a heap with the lowest first
      return level > other.level || (level == other.level && link > other.link);
    }
  };

  void touch(LinkId);
  void collect(LinkId from);
  void fill();
  std::size_t settle_bounds(double level, std::size_t& next);
  void settle(FlowId, double rate);
  double level_of(const Link&) const;
  std::uint32_t room_for(std::uint32_t count);

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<Hop> hops_;
  std::vector<FlowId> free_flows_;
  std::vector<std::vector<std::uint32_t>> free_hops_;  // by length of the route
  std::vector<LinkId> dirty_links_;
  std::vector<FlowId> dirty_flows_;  // without a route

  std::uint32_t mark_ = 0;
  std::vector<LinkId> part_links_;  // connected to a change
  std::vector<FlowId> part_flows_, bounded_, changed_;
  std::vector<double> former_;
  std::vector<Level> levels_;
};

}  // namespace tandem::sim
