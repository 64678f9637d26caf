#include "app/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "spec/parse.h"
#include "spec/reading.h"

namespace tandem::app {
namespace {

constexpr const char* kEpochs = "epochs";

std::vector<std::int64_t> few_whole(std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> out;
  if (high - low < kFewValues) {
    for (std::int64_t value = low; value <= high; ++value) out.push_back(value);
    return out;
  }
  std::set<std::int64_t> some{low, high};
  for (std::int64_t power = 1; power < high; power *= 2)
    if (power > low) some.insert(power);
  out.assign(some.begin(), some.end());
  return out;
}

// An experiment's epochs are a factor, or fixed.
std::vector<std::int64_t> epochs_to_try(const spec::Experiment& job) {
  const auto& all = job.factors.parameters;
  const auto at = std::find_if(all.begin(), all.end(), [](const auto& p) { return p.name == kEpochs; });
  if (at == all.end()) return {job.base.epochs};
  std::vector<std::int64_t> out;
  for (const auto& value : few_values(at->domain)) out.push_back(std::get<std::int64_t>(value));
  return out;
}

std::vector<int> cores_to_try(const Choices& job, int most) {
  std::vector<int> wanted = job.system.cores;
  if (wanted.empty())
    for (const auto cores : few_whole(1, most)) wanted.push_back(static_cast<int>(cores));
  std::vector<int> out;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(out), [&](int c) { return c <= most; });
  if (out.empty())
    throw UserError(
        fmt::format("the spec asks for at least {} cores, and this machine has {}: lower "
                    "system.cores, or ask on a machine that has them",
                    *std::min_element(wanted.begin(), wanted.end()), most));
  return out;
}

std::vector<Resources> systems_of(const Choices& job, const Resources& machine) {
  std::vector<Resources> out;
  const Bytes memory = job.system.memory.empty() ? 0 : job.system.memory.back();  // a limit, not a speed
  if (memory > machine.memory)
    throw UserError(fmt::format("the spec asks for {} of memory, and this machine has {}", text_bytes(memory),
                                text_bytes(machine.memory)));
  const auto speeds = job.system.speed.empty() ? std::vector<double>{1.0} : job.system.speed;
  for (const int cores : cores_to_try(job, machine.cores))
    for (const double speed : speeds) out.push_back({cores, memory, speed, job.base.system.gpus});
  return out;
}

// The combinations of parameters, up to one more than `most`.
class Combinations {
 public:
  Combinations(const std::vector<spec::Parameter>& parameters, std::size_t most)
      : parameters_(parameters), most_(most) {
    for (const auto& parameter : parameters) values_.push_back(few_values(parameter.domain));
    combine(0);
  }
  std::vector<Values> all;

 private:
  void combine(std::size_t at) {
    if (all.size() > most_) return;
    if (at == parameters_.size()) {
      all.push_back(so_far_);
      return;
    }
    const auto& parameter = parameters_[at];
    const bool skip =
        parameter.name == kEpochs || parameter.name == spec::kJobs || !exists(parameter, so_far_);
    if (skip) return combine(at + 1);
    for (const auto& value : values_[at]) {
      if (all.size() > most_) break;
      so_far_[parameter.name] = value;
      combine(at + 1);
    }
    so_far_.erase(parameter.name);
  }

  const std::vector<spec::Parameter>& parameters_;
  const std::size_t most_;
  std::vector<std::vector<Value>> values_;  // of each
  Values so_far_;
};

// Constraints may speak of all of them.
bool allowed_here(const Choices& job, const Values& varies, const advise::Setting& setting) {
  Values all = job.base.hyper;
  for (const auto& [name, value] : varies) all[name] = value;
  all["cores"] = std::int64_t{setting.system.cores};
  all["memory"] = static_cast<std::int64_t>(setting.system.memory);
  all["speed"] = setting.system.speed;
  all[kEpochs] = setting.epochs;
  return allowed(job.hyper, all);
}

advise::Setting setting_of(const Choices& job, const Values& varies, const Resources& system,
                           std::int64_t epochs) {
  advise::Setting out{job.base.hyper, system, epochs, job.base.nodes};
  for (const auto& [name, value] : varies) {
    if (name == spec::kNodes)
      out.nodes = static_cast<int>(std::get<std::int64_t>(value));
    else
      out.hyper[name] = value;
  }
  return out;
}

}  // namespace

Choices choices_of(const spec::TrainJob& train) {
  Choices out{train, {}, {}, {train.epochs}};
  out.system.cores = {train.system.cores};
  if (train.system.memory > 0) out.system.memory = {train.system.memory};
  out.system.speed = {train.system.speed};
  return out;
}

Choices choices_of(const spec::TuneJob& job) {
  return {job.base, job.hyper, job.system, few_whole(1, job.search.max_epochs)};
}

Choices choices_of(const spec::Experiment& job) {
  return {job.base, job.factors, job.system, epochs_to_try(job)};
}

AdvisedSpec load_advised(const std::filesystem::path& path, const Catalogue& catalogue) {
  return read_advised(spec::read_file(path), path.string(), catalogue);
}

AdvisedSpec read_advised(const std::string& text, const std::string& file_name, const Catalogue& catalogue) {
  AdvisedSpec out;
  if (spec::says_it_is<spec::TuneJob>(text)) {
    const auto job = spec::require_tune(text, file_name, catalogue);
    out.choices = choices_of(job);
    const auto& goal = job.objective.goals.front();
    if (goal.metric != "train_time" && goal.metric != "energy")
      out.metric = goal.metric, out.higher_is_better = goal.maximise;
    return out;
  }
  // What is wrong with a training spec is best said by the reader of training specs, unless it has domains.
  auto plain = spec::parse_train(text, file_name, catalogue);
  auto varying = plain.job ? spec::ExperimentResult{} : spec::parse_characterize(text, file_name, catalogue);
  if (!plain.job && !varying.job) spec::refuse(varying.issues);
  out.choices = plain.job ? choices_of(*plain.job) : choices_of(*varying.job);
  return out;
}

AdvisedSpec as_advised(const spec::TrainJob& job) {
  return {choices_of(job), "", true};
}

std::vector<Value> few_values(const spec::Domain& domain) {
  using Of = spec::Domain::Kind;
  std::vector<Value> out;
  if (domain.kind == Of::choice) return domain.choices;
  if (domain.step > 0) {
    const std::int64_t values = *count(domain), taken = values <= kFewValues ? values : kSteps;
    for (std::int64_t i = 0; i < taken; ++i) out.push_back(value_of(domain, i * (values - 1) / (taken - 1)));
    return out;
  }
  if (domain.kind == Of::whole || domain.kind == Of::log_whole) {
    for (const auto value :
         few_whole(static_cast<std::int64_t>(domain.low), static_cast<std::int64_t>(domain.high)))
      out.emplace_back(value);
    return out;
  }
  for (int step = 0; step < kSteps; ++step) {
    const double share = static_cast<double>(step) / (kSteps - 1);
    out.emplace_back(domain.kind == Of::real ? domain.low + share * (domain.high - domain.low)
                                             : domain.low * std::pow(domain.high / domain.low, share));
  }
  return out;
}

std::vector<advise::Setting> candidates_of(const Choices& job, const Resources& machine) {
  // A candidate has all hyperparameters: where there are hundreds, fewer candidates are as much to hold.
  const std::size_t each = job.hyper.parameters.size() + job.base.hyper.size();
  const std::size_t most = std::min(kMostCandidates, kMostValues / std::max<std::size_t>(each, 1));
  const auto points = Combinations(job.hyper.parameters, most).all;
  const auto systems = systems_of(job, machine);
  const auto& epochs = job.epochs;
  if (points.size() * systems.size() * epochs.size() > most)
    throw UserError(
        fmt::format("the spec has more than {} combinations to choose from{}; give fewer choices, "
                    "or fix what is not in question",
                    most, most < kMostCandidates ? fmt::format(", each of {} hyperparameters", each) : ""));
  std::vector<advise::Setting> out;
  for (const auto& point : points)
    for (const auto& system : systems)
      for (const auto count : epochs)
        if (auto setting = setting_of(job, point, system, count); allowed_here(job, point, setting))
          out.push_back(std::move(setting));
  if (out.empty())
    throw UserError(fmt::format("none of the {} combinations satisfies the spec's constraints",
                                points.size() * systems.size() * epochs.size()));
  return out;
}

spec::TrainJob chosen_job(const spec::TrainJob& base, const advise::Setting& setting) {
  spec::TrainJob out = base;
  out.hyper = setting.hyper;
  out.system = setting.system;
  out.epochs = setting.epochs;
  out.nodes = setting.nodes;
  return out;
}

}  // namespace tandem::app
