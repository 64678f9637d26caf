#include "spec/tune_job.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "spec/journalled.h"

namespace tandem::spec {
namespace {

using namespace journalled;

constexpr std::array<std::pair<Mode, const char*>, 3> kModes{
    {{Mode::hyper, "hyper"}, {Mode::joint, "joint"}, {Mode::pipelined, "pipelined"}}};
constexpr std::size_t kMostSizes = 65536;  // as many as there can be cores
constexpr std::size_t kMostGoalsRead = 1000;

template <class Number>
void check_sorted(const std::vector<Number>& numbers, const char* key) {
  if (std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) != numbers.end())
    damaged(std::string(key) + " are not sorted");
}

SystemSpace read_system(const json& from) {
  SystemSpace system;
  for (const auto& item : list(from, "cores", kMostSizes))
    system.cores.push_back(whole<int>(item, "cores", 1));
  for (const auto& item : list(from, "memory", kMostSizes))
    system.memory.push_back(whole<Bytes>(item, "memory", 1));
  for (const auto& item : list(from, "speed", kMostSizes)) {
    system.speed.push_back(not_negative(item, "speed"));
    if (system.speed.back() == 0 || system.speed.back() > 1) damaged("speed is not a share");
  }
  read_whole(from, "gpus", system.gpus, 0);
  read_whole(from, "gpu_memory", system.gpu_memory, 0);
  for (const auto& item : list(from, "gpu_power", kMostSizes))
    system.gpu_power.push_back(not_negative(item, "gpu_power"));
  for (const auto& item : list(from, "gpu_clock", kMostSizes))
    system.gpu_clock.push_back(not_negative(item, "gpu_clock"));
  for (const auto& item : list(from, "precision", kMostSizes)) {
    const auto precision = precision_from(word(item, "precision"));
    if (!precision) damaged("precision is " + shown(item));
    system.precision.push_back(*precision);
  }
  check_sorted(system.gpu_power, "gpu_power");
  check_sorted(system.gpu_clock, "gpu_clock");
  check_sorted(system.precision, "precision");
  check_sorted(system.cores, "cores");
  check_sorted(system.memory, "memory");
  check_sorted(system.speed, "speed");
  return system;
}

SearchSpec read_search(const json& from) {
  SearchSpec search;
  read_word(from, "algorithm", search.algorithm);
  read_whole(from, "max_epochs", search.max_epochs, 1);
  read_whole(from, "reduction", search.reduction, 2);
  read_whole(from, "trials", search.trials, 1);
  read_whole(from, "seed", search.seed, std::numeric_limits<std::int64_t>::min());
  read_word(from, "pruning", search.pruning);
  for (const auto& item : list(from, "start", kMostStarts)) {
    int refused = 0;
    search.start.push_back(values_from_json(item, &refused));
    if (refused > 0 || !item.is_object()) damaged("a point to start with is " + shown(item));
  }
  return search;
}

// Journals older than the weights have none.
CostWeights read_cost(const json& from) {
  if (!from.contains("energy") || !from.contains("time")) damaged("the weights of cost are " + shown(from));
  const CostWeights cost{not_negative(from["energy"], "energy"), not_negative(from["time"], "time")};
  if (!(cost.energy + cost.time > 0)) damaged("the weights of cost are " + shown(from));
  return cost;
}

Objective read_objective(const json& from) {
  Objective objective;
  if (from.contains("target")) objective.target = finite(from["target"], "target");
  if (from.contains("cost")) objective.cost = read_cost(part(from, "cost"));
  if (!from.contains("goals")) return objective;
  objective.goals.clear();
  std::set<std::string> seen;
  for (const auto& item : list(from, "goals", kMostGoalsRead)) {
    const bool whole_goal = item.is_object() && item.contains("metric") && item.contains("maximise");
    if (!whole_goal || !item["maximise"].is_boolean()) damaged("a goal is " + shown(item));
    Goal goal{word(item["metric"], "metric"), item["maximise"].get<bool>()};
    if (goal.metric.empty() || !seen.insert(goal.metric).second) damaged("a goal has no metric of its own");
    objective.goals.push_back(std::move(goal));
  }
  if (objective.goals.empty()) damaged("it has no goal");
  return objective;
}

TuneJob read_tune_job(const json& from) {
  if (!from.is_object() || from.value("kind", "") != "tune") damaged("it is not of kind tune");
  TuneJob job;
  if (from.contains("base")) job.base = train_job_from_json(from["base"]);
  job.hyper = space_from_json(part(from, "hyper"));
  job.system = read_system(part(from, "system"));
  job.search = read_search(part(from, "search"));
  for (const auto& point : job.search.start)
    for (const auto& parameter : job.hyper.parameters)
      if (const auto held = point.find(parameter.name);
          held != point.end() && !contains(parameter.domain, held->second))
        damaged("a point to start with lies outside the space");
  job.objective = read_objective(part(from, "objective"));
  const json budget = part(from, "budget");
  read_quantity(budget, "time", job.budget.time);
  read_quantity(budget, "energy", job.budget.energy);
  read_quantity(budget, "cost", job.budget.cost);
  if (from.contains("recurring")) job.recurring = from["recurring"] == true;
  std::string mode = name(job.mode);
  read_word(from, "mode", mode);
  const auto known = mode_from(mode);
  if (!known) damaged("mode is " + shown(mode));
  job.mode = *known;
  read_whole(from, "hyper_cores", job.hyper_cores, 1);
  read_word(from, "similarity", job.similarity);
  read_whole(from, "warm_repetitions", job.warm_repetitions, 1);
  return job;
}

json search_json(const SearchSpec& search) {
  json out = {{"algorithm", search.algorithm},
              {"max_epochs", search.max_epochs},
              {"reduction", search.reduction},
              {"seed", search.seed},
              {"pruning", search.pruning}};
  if (search.trials) out["trials"] = *search.trials;
  for (const auto& point : search.start) out["start"].push_back(tandem::to_json(point));
  return out;
}

json objective_json(const Objective& objective) {
  json goals = json::array();
  for (const auto& goal : objective.goals)
    goals.push_back({{"metric", goal.metric}, {"maximise", goal.maximise}});
  json out = {{"goals", goals}};
  if (objective.target) out["target"] = *objective.target;
  if (objective.cost) out["cost"] = {{"energy", objective.cost->energy}, {"time", objective.cost->time}};
  return out;
}

}  // namespace

const char* name(Mode mode) {
  return std::find_if(kModes.begin(), kModes.end(), [&](const auto& row) { return row.first == mode; })
      ->second;
}

std::optional<Mode> mode_from(const std::string& written) {
  for (const auto& [mode, word] : kModes)
    if (written == word) return mode;
  return std::nullopt;
}

void sort_choices(SystemSpace& system) {
  const auto sort_unique = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  sort_unique(system.cores);
  sort_unique(system.memory);
  sort_unique(system.speed);
  sort_unique(system.gpu_power);
  sort_unique(system.gpu_clock);
  sort_unique(system.precision);
}

bool varies(const SystemSpace& system) {
  return system.cores.size() > 1 || system.memory.size() > 1 || system.speed.size() > 1 ||
         system.gpu_power.size() > 1 || system.gpu_clock.size() > 1 || system.precision.size() > 1;
}

// What is not in the spec is left out, as journals of older versions have it.
nlohmann::json to_json(const SystemSpace& system) {
  json out = {{"cores", system.cores}, {"memory", system.memory}, {"speed", system.speed}};
  if (system.gpus > 0) out["gpus"] = system.gpus;
  if (system.gpu_memory > 0) out["gpu_memory"] = system.gpu_memory;
  if (!system.gpu_power.empty()) out["gpu_power"] = system.gpu_power;
  if (!system.gpu_clock.empty()) out["gpu_clock"] = system.gpu_clock;
  for (const Precision precision : system.precision) out["precision"].push_back(name(precision));
  return out;
}

SystemSpace system_space_from_json(const nlohmann::json& from) {
  return read_system(from);
}

nlohmann::json to_json(const TuneJob& job) {
  json budget = json::object();
  if (job.budget.time) budget["time"] = job.budget.time->value;
  if (job.budget.energy) budget["energy"] = job.budget.energy->value;
  if (job.budget.cost) budget["cost"] = job.budget.cost->value;
  json out = {{"kind", "tune"},
              {"base", to_json(job.base)},
              {"hyper", to_json(job.hyper)},
              {"system", to_json(job.system)},
              {"search", search_json(job.search)},
              {"objective", objective_json(job.objective)},
              {"budget", budget},
              {"mode", name(job.mode)}};
  out["similarity"] = job.similarity;
  if (job.recurring) out["recurring"] = true;
  if (job.hyper_cores) out["hyper_cores"] = *job.hyper_cores;
  if (job.warm_repetitions) out["warm_repetitions"] = *job.warm_repetitions;
  return out;
}

TuneJob tune_job_from_json(const nlohmann::json& from) {
  try {
    return read_tune_job(from);
  } catch (const json::exception& error) {
    damaged(error.what());
  }
}

}  // namespace tandem::spec
