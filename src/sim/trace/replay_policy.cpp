// The trace level as host of the placement engine.
#include <algorithm>
#include <cmath>

#include "sim/trace/replay_run.h"

namespace tandem::sim {

const place::TaskRequirements& Replay::requirements_of(std::uint32_t job) {
  const std::uint32_t index = input_.jobs[job].shape;
  if (!needs_made_[index]) {
    const auto& shape = input_.shapes[index];
    needs_[index] = {shape.part,     shape.parts,  shape.architecture,
                     shape.gpu_type, shape.labels, shape.apart && shape.parts > 1};
    allowed_[index] = ranking_->allowed(needs_[index], shape.pools);
    needs_made_[index] = true;
  }
  return needs_[index];
}

// Pools the job may use; the fastest first where nothing else ranks them.
const std::vector<std::uint32_t>& Replay::open_to(std::uint32_t job) {
  requirements_of(job);
  const auto& allowed = allowed_[input_.jobs[job].shape];
  if (input_.by_pool.empty()) return allowed;
  order_.clear();
  for (const auto pool : allowed)
    if (std::isfinite(seconds(job, pool, false))) order_.push_back(pool);
  if (!policy_.heats && (!policy_.kit || policy_.kit->weighers.empty()))
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return seconds(job, a, false) < seconds(job, b, false);
    });
  return order_;
}

const std::vector<std::uint32_t>& Replay::ranked(std::uint32_t job) {
  return ranking_->rank(job, out_.jobs[job].attempts, requirements_of(job), open_to(job), pools_);
}

place::Where Replay::where(std::uint32_t job, std::uint32_t pool) {
  return ranking_->where(pool, requirements_of(job).apart);
}

place::Lasts Replay::lasts(std::uint32_t job, std::uint32_t pool, std::span<const place::Share> shares) {
  return {seconds(job, pool, shares.size() > 1) * share_left(job)};
}

// Jobs of one shape with the same pools open to them are alike to the engine; where some may pass others, it
// depends on how long each takes, and each has a line of its own.
std::uint32_t Replay::engine_line_of(std::uint32_t job) {
  const std::uint32_t shape = input_.jobs[job].shape;
  const auto& needs = requirements_of(job);
  std::vector<std::uint32_t> types;
  std::uint64_t open = 0;
  for (const auto pool : allowed_[shape])
    if (std::isfinite(seconds(job, pool, false))) {
      types.push_back(pool);
      if (!input_.by_pool.empty()) open |= std::uint64_t{1} << (pool % 64);
    }
  const auto [found, fresh] = engine_lines_.try_emplace({shape, open});
  auto& [engine_shape, line] = found->second;
  if (fresh) engine_shape = engine_->add_shape(needs, std::move(types));
  if (fresh || policy_.backfill) line = engine_->add_line(engine_shape);
  return line;
}

// One that had to go waits again behind those that wait by the same key, as in the live scheduler.
void Replay::wait_in_engine(std::uint32_t job, const place::JobFacts& facts) {
  const double key = policy_.order->key ? policy_.order->key(facts) : now_;
  engine_->wait(job, engine_line_of(job), key, now_, facts.priority);
}

void Replay::serve_by_engine() {
  engine_->serve(now_);
  carry_out_stops();
  if (!policy_.heats || !freed_ || !(next_reschedule() <= now_)) return;
  reschedule();
  carry_out_stops();
}

// One after the other, and the queue is served after each: whoever it made room for starts.
void Replay::carry_out_stops() {
  while (!stopping_.empty() || (waiting() > 0 && undo_moves())) {
    if (!stopping_.empty()) {
      const std::uint32_t job = stopping_.front(), slot = slot_of_[job];
      stopping_.pop_front();
      const Running& running = slots_[slot];
      const bool moves = moved_.contains(job);
      if (!moves) ++out_.evictions;
      if (moves || policy_.preemption == place::Preemption::resume)
        left_[job] = left_now(running);
      else
        out_.lost_seconds += (now_ - running.since) * static_cast<double>(shape_of(job).parts);
      stop_slot(slot);
      wait(job);
    }
    engine_->serve(now_);
  }
}

void Replay::start(std::uint32_t job, std::span<const place::Placed> places) {
  const std::uint32_t pool = places.front().type;
  taken_.clear();
  for (const auto& place : places) taken_.push_back(place.share);
  begin(job, pool);
  const std::uint32_t slot = slot_of_[job] = last_slot_;
  if (moved_.contains(job)) arrive_by_checkpoint(slot);
}

void Replay::stop(std::uint32_t job, const place::StopCause&) {
  if (input_.keep_steps) out_.steps.push_back({now_, false, job, slots_[slot_of_[job]].pool, {}});
  stopping_.push_back(job);
}

}  // namespace tandem::sim
