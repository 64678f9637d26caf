#include <algorithm>
#include <cmath>
#include <tuple>

#include "sim/replay_run.h"

namespace tandem::sim {

const place::TaskWish& Replay::wish_of(std::uint32_t job) {
  const std::uint32_t index = input_.jobs[job].shape;
  if (!wish_made_[index]) {
    const auto& shape = input_.shapes[index];
    wishes_[index] = {shape.part, shape.parts, shape.architecture, shape.gpu_type, shape.labels};
    allowed_[index] = ranking_->allowed(wishes_[index], shape.pools);
    wish_made_[index] = true;
  }
  return wishes_[index];
}

// Pools the job may use; the fastest first where nothing else ranks them.
const std::vector<std::uint32_t>& Replay::open_to(std::uint32_t job) {
  wish_of(job);
  const auto& allowed = allowed_[input_.jobs[job].shape];
  if (input_.by_pool.empty()) return allowed;
  order_.clear();
  for (const auto pool : allowed)
    if (std::isfinite(seconds(job, pool, false))) order_.push_back(pool);
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return seconds(job, a, false) < seconds(job, b, false);
  });
  return order_;
}

bool Replay::start_ranked(std::uint32_t job) {
  const auto& wish = wish_of(job);
  const auto& ranked = ranking_->rank(job, out_.jobs[job].attempts, wish, open_to(job), pools_);
  for (const auto pool : ranked) {
    if (!pools_[pool].take(wish.part, wish.parts, taken_, ranking_->where(pool))) continue;
    if (reserved_ && !may_pass(job, pool)) {
      for (const auto& share : taken_) pools_[pool].give_back(wish.part, share);
      continue;
    }
    begin(job, pool);
    return true;
  }
  if (policy_.preemption != place::Preemption::none)
    for (const auto pool : ranked)
      if (evict_for(job, pool, ranking_->where(pool))) return true;
  if (policy_.backfill && !reserved_) reserve(job);
  return false;
}

// Who may be evicted in the pool: of lower priority; the lowest first, and of equals who ran the shortest.
std::vector<std::uint32_t> Replay::lower_than(std::uint32_t job, std::uint32_t pool) const {
  const auto priority = [&](std::uint32_t slot) { return input_.jobs[slots_[slot].job].priority; };
  std::vector<std::uint32_t> out;
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
    if (running_.contains(slot) && slots_[slot].pool == pool && priority(slot) < input_.jobs[job].priority)
      out.push_back(slot);
  std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t slot) {
      return std::tuple(priority(slot), -slots_[slot].since, slots_[slot].job);
    };
    return key(a) < key(b);
  });
  return out;
}

bool Replay::evict_for(std::uint32_t job, std::uint32_t pool, const place::Where& where) {
  const auto lower = lower_than(job, pool);
  const auto& shape = shape_of(job);
  std::size_t out_of_way = 0;
  bool room = false;
  while (!room && out_of_way < lower.size()) {
    const Running& one = slots_[lower[out_of_way++]];
    for (const auto& share : one.shares) pools_[pool].give_back(shape_of(one.job).part, share);
    room = pools_[pool].take(shape.part, shape.parts, taken_, where);
  }
  // Whoever still has room where it was stays; that is everyone where it was all in vain.
  std::vector<std::uint32_t> must_go;
  for (std::size_t i = out_of_way; i-- > 0;)
    if (!pools_[pool].take_there(shape_of(slots_[lower[i]].job).part, slots_[lower[i]].shares))
      must_go.push_back(lower[i]);
  if (!room) return false;
  const auto here = taken_;
  for (const auto slot : must_go) {
    slots_[slot].shares.clear();  // given back already
    evict(slot);
  }
  taken_ = here;
  begin(job, pool);
  return true;
}

void Replay::evict(std::uint32_t slot) {
  const Running& running = slots_[slot];
  const std::uint32_t job = running.job;
  ++out_.evictions;
  if (policy_.preemption == place::Preemption::resume)
    left_[job] = left_now(running);
  else
    out_.lost_seconds += (now_ - running.since) * static_cast<double>(shape_of(job).parts);
  stop(slot);
  evicted_.push_back(job);
}

// When the job can start at the latest if those that run end as they will, and where that leaves the nodes.
void Replay::reserve(std::uint32_t job) {
  const auto& wish = wish_of(job);
  const auto pools = open_to(job);
  std::vector<std::pair<double, std::uint32_t>> ends;
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
    if (running_.contains(slot)) ends.emplace_back(slots_[slot].since + slots_[slot].seconds, slot);
  std::sort(ends.begin(), ends.end());
  then_ = pools_;
  reserved_ = true;
  reserved_at_ = JobFate::kNever;  // nodes are down: nobody knows when
  std::vector<place::Share> shares;
  for (const auto& [at, slot] : ends) {
    const Running& running = slots_[slot];
    for (const auto& share : running.shares) then_[running.pool].give_back(shape_of(running.job).part, share);
    const bool useful = std::find(pools.begin(), pools.end(), running.pool) != pools.end();
    if (!useful || !then_[running.pool].take(wish.part, wish.parts, shares)) continue;
    reserved_at_ = at;
    return;
  }
}

bool Replay::may_pass(std::uint32_t job, std::uint32_t pool) {
  if (now_ + seconds(job, pool, taken_.size() > 1) * share_left(job) <= reserved_at_) return true;
  return then_[pool].take_there(shape_of(job).part, taken_);
}

}  // namespace tandem::sim
