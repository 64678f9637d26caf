#include "place/scheduler.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "place/scheduler_round.h"
#include "place/unwanted.h"

namespace tandem::place {

Scheduler::Scheduler(place::Policy policy, std::uint64_t seed) : policy_(std::move(policy)), seed_(seed) {
  if (policy_.infra) classes_ = ClassMemory(policy_.infra->thresholds);
  if (!policy_.kit) policy_.kit.emplace();
  for (const auto& must : parse_filters("architecture+accelerator+affinity")) {
    auto& filters = policy_.kit->filters;
    const auto same = [&](const Kit::Filter& filter) { return filter.entry == must.entry; };
    if (std::none_of(filters.begin(), filters.end(), same)) filters.push_back(must);
  }
}

std::vector<DecisionBody> Scheduler::step(const View& view, const Event& event) {
  experience_.saw(view, event);
  classes_.saw(view, event);
  std::vector<DecisionBody> out;
  for (auto& stop : stops_of_unwanted(view)) out.push_back(std::move(stop));
  const bool woke = std::holds_alternative<Woke>(event.body);
  const bool reschedules =
      policy_.heats && policy_.heats->moves != HeatsOptions::Moves::none && policy_.heats->every > 0;
  if (view.waiting.empty() && !(reschedules && !view.holding.empty())) return out;
  Round round(policy_, seed_, {experience_, classes_.classes()}, view);
  round.go_on();
  round.serve();
  if (reschedules && woke && view.waiting.empty()) round.reschedule();
  if (reschedules) round.wake_again();
  for (auto& decision : round.take()) out.push_back(std::move(decision));
  return out;
}

void Scheduler::fold(const View& view, const Event& event, std::span<const Decision>) {
  experience_.saw(view, event);
  classes_.saw(view, event);
}

Explanation SchedulerKnowledge::explain(const View& view, TaskId task) const {
  const auto own = classes;  // it keeps what it worked out
  return Round(policy, seed, {experience, own}, view).explain(task);
}

std::optional<std::string> Scheduler::save(const View&) const {
  return nlohmann::json{{"experience", experience_.to_json()}, {"classes", classes_.to_json()}}.dump();
}

bool Scheduler::restore(const std::string& bytes) {
  try {
    const auto saved = nlohmann::json::parse(bytes);
    Experience experience;
    auto classes = classes_;
    experience.restore(saved.at("experience"));
    classes.restore(saved.at("classes"));
    experience_ = std::move(experience);
    classes_ = std::move(classes);
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

}  // namespace tandem::place
