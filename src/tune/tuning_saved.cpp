// What a tuning job's controller knows, as it is kept in snapshots: the searcher by what it was asked and told,
// the rest as it is. Numbers are kept exactly.
#include <nlohmann/json.hpp>

#include "tune/tuning.h"

namespace tandem::tune {

using nlohmann::json;

nlohmann::json WorkloadClass::save() const {
  const auto sums = [](const Sums& s) {
    return json{s.seconds, s.doubtful, s.joules, s.epochs, s.with_joules};
  };
  auto configurations = json::array(), rates = json::array();
  for (const auto& c : configurations_)
    configurations.push_back({to_json(c.system), sums(c.first), sums(c.later), c.adopted});
  for (const auto& [name, rate] : rates_) rates.push_back({name, rate.sum, rate.squares, rate.count});
  return {batch_,  to_json(reference_), std::move(configurations), std::move(rates), memory_,
          longer_, shorter_,            reused_,                   news_,            trials};
}

WorkloadClass WorkloadClass::restored(const nlohmann::json& from) {
  const auto sums = [](const json& s) {
    return Sums{s.at(0).get<std::vector<double>>(), s.at(1), s.at(2), s.at(3), s.at(4)};
  };
  WorkloadClass out(from.at(0), resources_from_json(from.at(1)));
  for (const auto& c : from.at(2))
    out.configurations_.push_back({resources_from_json(c.at(0)), sums(c.at(1)), sums(c.at(2)), c.at(3)});
  for (const auto& rate : from.at(3)) out.rates_[rate.at(0).get<std::string>()] = {rate.at(1), rate.at(2), rate.at(3)};
  out.memory_ = from.at(4), out.longer_ = from.at(5), out.shorter_ = from.at(6);
  out.reused_ = from.at(7), out.news_ = from.at(8), out.trials = from.at(9);
  return out;
}

nlohmann::json SystemTuner::save() const {
  auto workloads = json::array(), of_task = json::array();
  for (const auto& workload : workloads_) workloads.push_back(workload.save());
  for (const auto& [task, workload] : workload_of_) of_task.push_back({task, workload});
  return {{"workloads", std::move(workloads)},
          {"of_task", std::move(of_task)},
          {"shifts", shifts_},
          {"time_price", time_price_.value}};
}

void SystemTuner::restore(const nlohmann::json& from) {
  for (const auto& workload : from.at("workloads")) workloads_.push_back(WorkloadClass::restored(workload));
  for (const auto& row : from.at("of_task")) workload_of_[row.at(0).get<TaskId>()] = row.at(1);
  shifts_ = from.at("shifts");
  time_price_.value = from.at("time_price");
}

nlohmann::json Tuning::save() const {
  auto trials = json::array(), known = json::array();
  for (const auto& t : trials_)
    trials.push_back({search::to_json(t.ask), t.task, static_cast<int>(t.state), t.told});
  for (const auto& workload : known_) known.push_back(to_json(workload));
  return {{"id", id_},
          {"job", spec::to_json(job_)},
          {"capacity", to_json(node_.capacity)},
          {"machine", node_.type},
          {"known", std::move(known)},
          {"searcher", searcher_->history()},
          {"tuner", tuner_ ? tuner_->save() : json()},
          {"trials", std::move(trials)},
          {"spent", spent_.value},
          {"waits_from", waits_from_.value},
          {"best", best_main_ ? json(*best_main_) : json()},
          {"any_success", any_success_},
          {"last_failure", last_failure_}};
}

Tuning::Tuning(const nlohmann::json& saved)
    : id_(saved.at("id")), job_(spec::tune_job_from_json(saved.at("job"))) {
  node_.capacity = resources_from_json(saved.at("capacity"));
  node_.type = saved.at("machine");
  for (const auto& workload : saved.at("known")) known_.push_back(known_workload_from_json(workload));
  prepare();
  searcher_->restore(saved.at("searcher"));
  if (tuner_) tuner_->restore(saved.at("tuner"));
  for (const auto& row : saved.at("trials")) {
    by_task_[row.at(1).get<TaskId>()] = trials_.size();
    trials_.push_back({search::ask_from_json(row.at(0)), row.at(1),
                       static_cast<State>(row.at(2).get<int>()), row.at(3)});
  }
  spent_.value = saved.at("spent");
  waits_from_.value = saved.at("waits_from");
  if (!saved.at("best").is_null()) best_main_ = saved.at("best").get<double>();
  any_success_ = saved.at("any_success");
  last_failure_ = saved.at("last_failure");
}

}  // namespace tandem::tune
