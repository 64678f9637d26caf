#include "place/scheduler.h"

#include <algorithm>

#include "place/live.h"
#include "place/scheduler_explain.h"

namespace tandem::place {

Scheduler::Scheduler(place::Policy policy, std::uint64_t seed) : policy_(std::move(policy)), seed_(seed) {
  if (policy_.infra) classes_ = ClassMemory(policy_.infra->thresholds);
  if (!policy_.kit) policy_.kit.emplace();
  for (const auto& must : parse_filters("architecture+accelerator+affinity")) {
    auto& filters = policy_.kit->filters;
    const auto same = [&](const Kit::Filter& filter) { return filter.entry == must.entry; };
    if (std::none_of(filters.begin(), filters.end(), same)) filters.push_back(must);
  }
  live_ = std::make_unique<Live>(policy_, seed_, Learnt{experience_, classes_.classes()});
}

Scheduler::~Scheduler() = default;

std::vector<DecisionBody> Scheduler::step(const View& view, const Event& event) {
  fold(view, event, {});
  return live_->decide(event);
}

void Scheduler::fold(const View& view, const Event& event, std::span<const Decision>) {
  const auto* learnt = experience_.saw(view, event);
  classes_.saw(view, event);
  live_->follow(view, learnt);
}

Explanation Scheduler::explain(const View& view, TaskId task) const {
  const auto cluster = cluster_of(view);
  return Explainer(policy_, seed_, {experience_, classes_.classes()}, view, cluster).explain(task);
}

std::string Scheduler::check(const View& view) {
  live_->follow(view, nullptr);
  return live_->check();
}

}  // namespace tandem::place
