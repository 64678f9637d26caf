#include "sim/engine/sharing.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tandem::sim {
namespace {

// What rounding leaves of a link that is full.
constexpr double kFull = 1e-12;

}  // namespace

LinkId Sharing::add_link(double capacity) {
  assert(capacity > 0);
  links_.push_back({capacity});
  return static_cast<LinkId>(links_.size() - 1);
}

void Sharing::set_capacity(LinkId link, double capacity) {
  assert(capacity > 0);
  links_[link].capacity = capacity;
  touch(link);
}

double Sharing::used(LinkId link) const {
  double sum = 0;
  for (std::uint32_t hop = links_[link].head; hop != kNone; hop = hops_[hop].next)
    sum += flows_[hops_[hop].flow].rate;
  return sum;
}

void Sharing::touch(LinkId link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_links_.push_back(link);
}

std::uint32_t Sharing::room_for(std::uint32_t count) {
  if (count >= free_hops_.size()) free_hops_.resize(count + std::size_t{1});
  if (auto& free = free_hops_[count]; !free.empty()) {
    const std::uint32_t at = free.back();
    free.pop_back();
    return at;
  }
  const auto at = static_cast<std::uint32_t>(hops_.size());
  hops_.resize(hops_.size() + count);
  return at;
}

FlowId Sharing::add(std::span<const LinkId> route, double weight, double bound) {
  assert(weight > 0 && bound > 0 && (!route.empty() || std::isfinite(bound)));
  const auto count = static_cast<std::uint32_t>(route.size());
  FlowId id = 0;
  if (free_flows_.empty()) {
    id = static_cast<FlowId>(flows_.size());
    flows_.emplace_back();
  } else {
    id = free_flows_.back();
    free_flows_.pop_back();
  }
  const std::uint32_t hops = room_for(count);
  flows_[id] = {weight, bound, 0, hops, count, 0, true, false};
  for (std::uint32_t i = 0; i < count; ++i) {
    Link& link = links_[route[i]];
    hops_[hops + i] = {id, route[i], kNone, link.head};
    if (link.head != kNone) hops_[link.head].previous = hops + i;
    link.head = hops + i;
    touch(route[i]);
  }
  if (count == 0) dirty_flows_.push_back(id);
  return id;
}

void Sharing::remove(FlowId id) {
  Flow& flow = flows_[id];
  assert(flow.alive);
  for (std::uint32_t i = flow.hops; i < flow.hops + flow.count; ++i) {
    const Hop& hop = hops_[i];
    (hop.previous == kNone ? links_[hop.link].head : hops_[hop.previous].next) = hop.next;
    if (hop.next != kNone) hops_[hop.next].previous = hop.previous;
    touch(hop.link);
  }
  free_hops_[flow.count].push_back(flow.hops);
  flow.alive = false;
  flow.rate = 0;
  free_flows_.push_back(id);
}

// All links and flows that are connected to a link.
void Sharing::collect(LinkId from) {
  part_links_.assign(1, from);
  part_flows_.clear();
  links_[from].mark = mark_;
  for (std::size_t i = 0; i < part_links_.size(); ++i)
    for (std::uint32_t at = links_[part_links_[i]].head; at != kNone; at = hops_[at].next) {
      Flow& flow = flows_[hops_[at].flow];
      if (flow.mark == mark_) continue;
      flow.mark = mark_;
      part_flows_.push_back(hops_[at].flow);
      for (std::uint32_t hop = flow.hops; hop < flow.hops + flow.count; ++hop) {
        Link& other = links_[hops_[hop].link];
        if (other.mark == mark_) continue;
        other.mark = mark_;
        part_links_.push_back(hops_[hop].link);
      }
    }
}

double Sharing::level_of(const Link& link) const {
  return std::max(link.left, 0.0) / link.weight;
}

void Sharing::settle(FlowId id, double rate) {
  Flow& flow = flows_[id];
  flow.settled = true;
  flow.rate = rate;
  for (std::uint32_t i = flow.hops; i < flow.hops + flow.count; ++i) {
    Link& link = links_[hops_[i].link];
    link.left -= rate;
    link.weight -= flow.weight;
    --link.open;
  }
}

// Settles the flows whose bounds are reached before the level is; how many.
std::size_t Sharing::settle_bounds(double level, std::size_t& next) {
  std::size_t settled = 0;
  for (; next < bounded_.size(); ++next) {
    const Flow& flow = flows_[bounded_[next]];
    if (flow.settled) continue;
    if (flow.bound > level * flow.weight) break;
    settle(bounded_[next], flow.bound);
    ++settled;
  }
  return settled;
}

// Raises all rates of the part together until nothing can rise any more. A link's level never falls while
// others are settled at lower ones, so a level that was true when it was written is a lower bound later.
void Sharing::fill() {
  for (const LinkId id : part_links_) {
    Link& link = links_[id];
    link.left = link.capacity, link.weight = 0, link.open = 0;
  }
  bounded_.clear();
  for (const FlowId id : part_flows_) {
    Flow& flow = flows_[id];
    flow.settled = false;
    for (std::uint32_t i = flow.hops; i < flow.hops + flow.count; ++i) {
      links_[hops_[i].link].weight += flow.weight;
      ++links_[hops_[i].link].open;
    }
    if (std::isfinite(flow.bound)) bounded_.push_back(id);
  }
  std::sort(bounded_.begin(), bounded_.end(), [&](FlowId a, FlowId b) {
    const double x = flows_[a].bound / flows_[a].weight, y = flows_[b].bound / flows_[b].weight;
    return x < y || (x == y && a < b);
  });
  levels_.clear();
  for (const LinkId id : part_links_)
    if (links_[id].open > 0) levels_.push_back({level_of(links_[id]), id});
  std::make_heap(levels_.begin(), levels_.end());
  std::size_t next_bound = 0;
  while (!levels_.empty()) {
    std::pop_heap(levels_.begin(), levels_.end());
    Level lowest = levels_.back();
    levels_.pop_back();
    Link& link = links_[lowest.link];
    if (link.open == 0) continue;
    const double now = level_of(link);
    if (now > lowest.level * (1 + kFull) || settle_bounds(lowest.level, next_bound) > 0) {
      if (link.open > 0) {
        levels_.push_back({level_of(link), lowest.link});
        std::push_heap(levels_.begin(), levels_.end());
      }
      continue;
    }
    for (std::uint32_t at = link.head; at != kNone; at = hops_[at].next) {
      const FlowId id = hops_[at].flow;
      if (!flows_[id].settled) settle(id, now * flows_[id].weight);
    }
  }
}

const std::vector<FlowId>& Sharing::solve() {
  changed_.clear();
  for (const FlowId id : dirty_flows_) {
    Flow& flow = flows_[id];
    if (!flow.alive || flow.count > 0 || flow.rate == flow.bound) continue;
    flow.rate = flow.bound;
    changed_.push_back(id);
  }
  dirty_flows_.clear();
  ++mark_;
  for (const LinkId link : dirty_links_) {
    links_[link].dirty = false;
    if (links_[link].mark == mark_ || links_[link].head == kNone) continue;
    collect(link);
    former_.clear();
    for (const FlowId id : part_flows_) former_.push_back(flows_[id].rate);
    fill();
    for (std::size_t i = 0; i < part_flows_.size(); ++i) {
      const double now = flows_[part_flows_[i]].rate;
      if (std::fabs(now - former_[i]) > kFull * now) changed_.push_back(part_flows_[i]);
    }
  }
  dirty_links_.clear();
  return changed_;
}

}  // namespace tandem::sim
