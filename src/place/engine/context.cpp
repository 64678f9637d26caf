#include "place/engine/context.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace tandem::place {

PlacementContext::PlacementContext(const place::Policy& policy, std::uint64_t seed, const Learnt& learnt,
                                   const View* view, const Cluster& cluster)
    : policy_(policy),
      seed_(seed),
      experience_(learnt.experience),
      classes_(learnt.classes),
      view_(view),
      cluster_(cluster) {
  if (view_) forget_types();
}

void PlacementContext::forget_types() {
  rankings_.clear();
  all_types_.resize(cluster_.types.size());
  std::iota(all_types_.begin(), all_types_.end(), 0U);
  predictor_ = view_ ? std::make_unique<LivePredictor>(experience_, *view_, cluster_) : nullptr;
}

double PlacementContext::weight(TaskId id) const {
  if (!policy_.heats || !predictor_->knows_energy(id)) return 0;
  if (const auto& own = job(id).base().place.energy_weight) return *own;
  if (policy_.heats->random_h) return Random(seed_, static_cast<std::uint64_t>(id)).uniform();
  return policy_.heats->h;
}

Ranking& PlacementContext::ranking_for(double h) {
  constexpr std::size_t kMost = 64;  // weights may be drawn for each task
  if (rankings_.size() >= kMost && !rankings_.contains(h)) rankings_.clear();
  auto& found = rankings_[h];
  if (!found) {
    auto policy = policy_;
    if (policy.heats) policy.heats->h = h, policy.heats->random_h = false;
    found = std::make_unique<Ranking>(policy, cluster_.types, predictor_.get(), seed_);
  }
  return *found;
}

std::vector<std::uint32_t> PlacementContext::ranked(TaskId id, const TaskRequirements& needs) {
  auto& ranks = ranking(id);
  auto allowed = ranks.allowed(needs, all_types_);
  if (!policy_.heats && policy_.kit->weighers.empty())  // nothing else ranks them: the fastest first
    std::stable_sort(allowed.begin(), allowed.end(),
                     [&](auto a, auto b) { return seconds(id, a) < seconds(id, b); });
  auto out = ranks.rank(static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(task(id).attempt), needs,
                        allowed, cluster_.pools);
  if (const auto& deadline = job(id).base().place.deadline) {
    const double left = (job(id).submitted_at + *deadline - view_->now).value;
    std::stable_partition(out.begin(), out.end(), [&](auto type) { return seconds(id, type) <= left; });
  }
  return out;
}

double PlacementContext::order_key(TaskId id, std::span<const std::uint32_t> types) const {
  if (!policy_.order->key) return task(id).requested_at.value;
  JobFacts facts{job(id).submitted_at.value, 0, static_cast<double>(task(id).nodes_wanted), priority(id)};
  if (policy_.order->by_time)
    for (const auto type : types)
      facts.seconds = facts.seconds == 0 ? seconds(id, type) : std::min(facts.seconds, seconds(id, type));
  return policy_.order->key(facts);
}

// Where tasks are resized they ask again at every report; a job then says by its requests' priorities who of
// its own goes first.
double PlacementContext::second_key(TaskId id) const {
  return policy_.malleable ? -1.0 * task(id).priority : task(id).requested_at.value;
}

Resources PlacementContext::asked_of(TaskId id) const {
  return policy_.malleable && task(id).nodes_wanted == 1 ? least_of(task(id)) : wanted_of(task(id));
}

double PlacementContext::left(TaskId id) const {
  const auto& t = task(id);
  const double begun = t.state == TaskState::starting ? view_->now.value : t.started_at.value;
  return std::max(0.0, begun + seconds(id, cluster_.type_of(t)) - view_->now.value);
}

std::vector<Judgement> PlacementContext::judged(TaskId id) {
  if (!catalogue_) {
    catalogue_ = catalogue_of(*view_, cluster_);
    hosts_.clear();
    for (const auto& node : view_->nodes) hosts_[node.name] = node.id;
  }
  return judge_nodes(*catalogue_, classes_, demands_of(*view_, task(id)), view_->now, policy_.infra->pick);
}

}  // namespace tandem::place
