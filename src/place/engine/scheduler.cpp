#include "place/engine/scheduler.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "place/engine/live.h"
#include "place/engine/scheduler_explain.h"

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
  const auto* learnt = experience_.saw(view, event);
  experience_.learn();
  classes_.saw(view, event);
  live_->follow(view, learnt);
  return live_->decide(event);
}

// Who takes history as it was needs neither index nor models before it decides again.
void Scheduler::fold(const View& view, const Event& event, std::span<const Decision>) {
  experience_.saw(view, event);
  classes_.saw(view, event);
  live_->lose_track();
}

Explanation SchedulerKnowledge::explain(const View& view, TaskId task) const {
  const auto own = classes;  // it keeps what it worked out
  const auto cluster = cluster_of(view);
  return Explainer(policy, seed, {experience, own}, view, cluster).explain(task);
}

std::optional<std::string> Scheduler::save(const View&) const {
  return nlohmann::json{{"experience", experience_.learnt().to_json()}, {"classes", classes_.to_json()}}.dump();
}

bool Scheduler::restore(const std::string& bytes) {
  try {
    const auto saved = parse_json(bytes);
    Experience experience;
    auto classes = classes_;
    experience.restore(saved.at("experience"));
    classes.restore(saved.at("classes"));
    experience_ = std::move(experience);
    classes_ = std::move(classes);
    live_->lose_track();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

std::uint64_t Scheduler::nodes_looked_at() const {
  return live_->nodes_looked_at();
}

std::size_t Scheduler::room_for_tasks() const {
  return live_->room_for_tasks();
}

std::string Scheduler::check(const View& view) {
  experience_.learn();
  live_->follow(view, nullptr);
  return live_->check();
}

}  // namespace tandem::place
