// Rescheduling: running tasks move to machines that suit them better, as HEATS wants it
// (place/policy/heats.h).
#include <algorithm>
#include <cmath>

#include "sim/trace/replay_run.h"

namespace tandem::sim {

double Replay::left_now(const Running& running) const {
  const double works = running.seconds - running.standing;
  if (!(works > 0)) return share_left(running.job);
  const double done = std::clamp((now_ - running.since - running.standing) / works, 0.0, 1.0);
  return share_left(running.job) * (1 - done);
}

// The next multiple of the policy's period at which there is something to look at. Counted in whole periods,
// so that no rounding brings the same moment back.
std::int64_t Replay::next_period() const {
  const double since = (freed_at_ - begin_) / policy_.heats->every;
  return std::max(periods_ + 1, static_cast<std::int64_t>(std::ceil(since - 1e-9)));
}

double Replay::next_reschedule() const {
  if (!(policy_.heats->every > 0)) return std::numeric_limits<double>::infinity();
  return begin_ + policy_.heats->every * static_cast<double>(next_period());
}

void Replay::note_room() {
  if (!policy_.heats || freed_) return;
  freed_ = true, freed_at_ = now_;
}

void Replay::reschedule() {
  periods_ = next_period();
  if (waiting() > 0) return;  // those that wait come first
  freed_ = false;
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
    if (running_.contains(slot) && !slots_[slot].settled && !arrivals_there_.contains(slot))
      slots.push_back(slot);
  std::sort(slots.begin(), slots.end(),
            [&](std::uint32_t a, std::uint32_t b) { return slots_[a].job < slots_[b].job; });
  for (const auto slot : slots) consider(slot);
  engine_->end_round();
}

void Replay::consider(std::uint32_t slot) {
  Running& running = slots_[slot];
  const std::uint32_t job = running.job;
  const auto& needs = requirements_of(job);
  const place::Engine::MoveFacts facts{*policy_.heats, ranking_->h_of(job), left_now(running)};
  const auto& scores = ranking_->scores(job, open_to(job));
  auto to = engine_->better_place_for(job, needs, facts, scores, *ranking_, &running.settled);
  if (!to) return;
  if (policy_.heats->moves == place::HeatsOptions::Moves::stateless) {
    if (moving_.size() < slots_.size()) moving_.resize(slots_.size());
    moving_[slot] = {to->type, now_, std::move(to->shares)};
    arrivals_there_.set(slot, now_ + policy_.heats->cost);
    return;
  }
  // By checkpoint: it is stopped, and starts where it is best then.
  engine_->keep_for_round(to->type, needs.part, std::move(to->shares));
  moved_[job] = out_.jobs[job].started;
  stop(job, {});
}

// It has been there before, and stands still while its checkpoint is read.
void Replay::arrive_by_checkpoint(std::uint32_t slot) {
  Running& running = slots_[slot];
  JobFate& fate = out_.jobs[running.job];
  const auto found = moved_.find(running.job);
  fate.started = found->second;
  moved_.erase(found);
  --fate.attempts;  // it is the same attempt that goes on
  running.standing = policy_.heats->cost;
  running.seconds += running.standing;
  running_.set(slot, now_ + running.seconds);
  ++fate.moves, ++out_.moves;
}

void Replay::arrive_there(std::uint32_t slot) {
  Running& running = slots_[slot];
  Moving& moving = moving_[slot];
  const std::uint32_t job = running.job;
  const double left = left_now(running);
  running.joules += count_use(job, running.pool, running.since);
  running.joules += count_use(job, moving.pool, moving.since);
  // The engine takes the room that was kept for it, and gives the old back.
  for (const auto& share : moving.shares) pools_[moving.pool].give_back(shape_of(job).part, share);
  auto holding = *engine_->holding(job);
  holding.places.clear();
  for (const auto& share : moving.shares) holding.places.push_back({moving.pool, share});
  engine_->hold(job, std::move(holding));
  left_[job] = left;
  running.pool = moving.pool, running.since = now_, running.whole = false, running.settled = false;
  running.shares.swap(moving.shares);
  moving.shares.clear();
  running.standing = 0;
  running.seconds = left * seconds(job, running.pool, running.shares.size() > 1);
  running_.set(slot, now_ + running.seconds);
  out_.jobs[job].pool = running.pool;
  ++out_.jobs[job].moves, ++out_.moves;
  note_room();
}

void Replay::undo_move(std::uint32_t slot) {
  if (!arrivals_there_.contains(slot)) return;
  Moving& moving = moving_[slot];
  const std::uint32_t job = slots_[slot].job;
  slots_[slot].joules += count_use(job, moving.pool, moving.since);
  slots_[slot].whole = false;
  engine_->give_back_room(moving.pool, shape_of(job).part, moving.shares);
  moving.shares.clear();
  arrivals_there_.erase(slot);
  ++out_.moves_undone;
  note_room();
}

bool Replay::undo_moves() {
  if (arrivals_there_.empty()) return false;
  while (!arrivals_there_.empty()) undo_move(arrivals_there_.first());
  return true;
}

}  // namespace tandem::sim
