#include "sim/engine/engine.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tandem::sim {

HostId Engine::add_host(double flops_a_second, int cores) {
  assert(flops_a_second > 0 && cores > 0);
  hosts_.push_back({flops_a_second, cores, false, {}});
  return static_cast<HostId>(hosts_.size() - 1);
}

void Engine::set_host(HostId id, double flops_a_second, int cores) {
  assert(flops_a_second > 0 && cores >= 0);
  hosts_[id].speed = flops_a_second;
  hosts_[id].cores = cores;
  touch(id);
}

std::uint32_t Engine::slot(Kind kind, Token token, double left) {
  std::uint32_t at = 0;
  if (free_.empty()) {
    at = static_cast<std::uint32_t>(activities_.size());
    activities_.push_back({});
  } else {
    at = free_.back();
    free_.pop_back();
  }
  Activity& activity = activities_[at];
  const std::uint32_t generation = activity.generation;
  activity = {token, left, 0, now_, 1, kUnbounded, 0, 0, generation, kind};
  ++active_;
  return at;
}

void Engine::free(std::uint32_t at) {
  Activity& activity = activities_[at];
  activity.kind = Kind::none;
  ++activity.generation;
  free_.push_back(at);
  --active_;
}

void Engine::touch(HostId id) {
  if (hosts_[id].dirty) return;
  hosts_[id].dirty = true;
  dirty_hosts_.push_back(id);
}

ActivityId Engine::compute(HostId id, double flops, Token token) {
  assert(id < hosts_.size() && flops >= 0);
  const std::uint32_t at = slot(Kind::compute, token, flops);
  Host& host = hosts_[id];
  activities_[at].resource = id;
  activities_[at].place = static_cast<std::uint32_t>(host.running.size());
  host.running.push_back(at);
  touch(id);
  return {at, activities_[at].generation};
}

ActivityId Engine::transfer(std::span<const LinkId> route, double bytes, double latency, Token token,
                            double weight, double bound) {
  assert(bytes >= 0 && latency >= 0 && (!route.empty() || latency > 0 || std::isfinite(bound)));
  const std::uint32_t at = slot(Kind::latency, token, bytes);
  activities_[at].weight = weight;
  activities_[at].bound = bound;
  if (latency <= 0) {
    begin_transfer(at, route);
  } else {
    std::uint32_t place = 0;
    if (free_routes_.empty()) {
      place = static_cast<std::uint32_t>(routes_.size());
      routes_.emplace_back();
    } else {
      place = free_routes_.back();
      free_routes_.pop_back();
    }
    routes_[place].assign(route.begin(), route.end());
    activities_[at].place = place;
    heap_.set(at, now_ + latency);
  }
  return {at, activities_[at].generation};
}

void Engine::begin_transfer(std::uint32_t at, std::span<const LinkId> route) {
  Activity& activity = activities_[at];
  activity.kind = Kind::transfer;
  activity.updated = now_;
  // Nothing on its way holds it up: it is there.
  if (activity.left <= 0 || (route.empty() && !std::isfinite(activity.bound))) {
    activity.resource = ~std::uint32_t{0};
    heap_.set(at, now_);
    return;
  }
  const FlowId flow = sharing_.add(route, activity.weight, activity.bound);
  activity.resource = flow;
  if (flow >= of_flow_.size()) of_flow_.resize(flow + std::size_t{1});
  of_flow_[flow] = at;
}

ActivityId Engine::wait_until(double time, Token token) {
  assert(time >= now_);
  const std::uint32_t at = slot(Kind::wait, token, time - now_);
  activities_[at].rate = 1;
  heap_.set(at, time);
  return {at, activities_[at].generation};
}

bool Engine::alive(ActivityId id) const {
  return id.slot < activities_.size() && activities_[id.slot].generation == id.generation &&
         activities_[id.slot].kind != Kind::none;
}

void Engine::leave_host(std::uint32_t at) {
  Host& host = hosts_[activities_[at].resource];
  const std::uint32_t place = activities_[at].place, last = host.running.back();
  host.running[place] = last;
  activities_[last].place = place;
  host.running.pop_back();
  touch(activities_[at].resource);
}

double Engine::cancel(ActivityId id) {
  if (!alive(id)) return 0;
  Activity& activity = activities_[id.slot];
  const double left = std::max(activity.left - activity.rate * (now_ - activity.updated), 0.0);
  if (activity.kind == Kind::compute) leave_host(id.slot);
  if (activity.kind == Kind::latency) free_routes_.push_back(activity.place);
  if (activity.kind == Kind::transfer && activity.resource != ~std::uint32_t{0})
    sharing_.remove(activity.resource);
  if (heap_.contains(id.slot)) heap_.erase(id.slot);
  free(id.slot);
  return left;
}

void Engine::set_rate(std::uint32_t at, double rate) {
  Activity& activity = activities_[at];
  if (rate == activity.rate && heap_.contains(at)) return;
  activity.left = std::max(activity.left - activity.rate * (now_ - activity.updated), 0.0);
  activity.updated = now_;
  activity.rate = rate;
  if (rate > 0 || activity.left <= 0)
    heap_.set(at, activity.left <= 0 ? now_ : now_ + activity.left / rate);
  else if (heap_.contains(at))
    heap_.erase(at);
}

// All changes of this moment: new rates, and with them new moments of completion.
void Engine::settle() {
  for (const HostId id : dirty_hosts_) {
    Host& host = hosts_[id];
    host.dirty = false;
    if (host.running.empty()) continue;
    const double share = std::min(1.0, host.cores / static_cast<double>(host.running.size()));
    for (const std::uint32_t at : host.running) set_rate(at, host.speed * share);
  }
  dirty_hosts_.clear();
  if (!sharing_.dirty()) return;
  for (const FlowId flow : sharing_.solve()) set_rate(of_flow_[flow], sharing_.rate(flow));
}

void Engine::complete(std::uint32_t at) {
  Activity& activity = activities_[at];
  if (activity.kind == Kind::latency) {
    const std::uint32_t place = activity.place;
    begin_transfer(at, routes_[place]);
    free_routes_.push_back(place);
    return;
  }
  if (activity.kind == Kind::compute) leave_host(at);
  if (activity.kind == Kind::transfer && activity.resource != ~std::uint32_t{0})
    sharing_.remove(activity.resource);
  done_.push_back(activity.token);
  ++completed_;
  free(at);
}

const std::vector<Token>* Engine::next() {
  done_.clear();
  while (done_.empty()) {
    settle();
    if (heap_.empty()) return nullptr;
    now_ = heap_.first_time();
    while (!heap_.empty() && heap_.first_time() == now_) complete(heap_.pop());
  }
  return &done_;
}

double Engine::used(LinkId link) {
  settle();
  return sharing_.used(link);
}

}  // namespace tandem::sim
