#include "place/engine/experience.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tandem::place {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Jobs without a family are alike only to themselves.
const std::string& family_of(const JobView& job) {
  return job.base().place.family;
}

double work_of(const JobView& job) {
  return job.base().place.work > 0 ? job.base().place.work : 1;
}

std::string machine_of(const NodeView& node) {
  return node.type.empty() ? node.name : node.type;
}

const JobView& job_of(const View& view, const TaskView& task) {
  return view.jobs[static_cast<std::size_t>(task.job)];
}

}  // namespace

const char* name(Expected::From from) {
  switch (from) {
    case Expected::From::learnt:
      return "learnt from tasks like it";
    case Expected::From::related:
      return "learnt on other machines";
    case Expected::From::declared:
      return "as the job says";
    case Expected::From::nothing:
      return "not known: machines are compared by their speed factors";
  }
  return "?";
}

double added_joules(const NodeTraits& traits, const Amount& node, int cores, double seconds) {
  if (!traits.idle || !traits.busy || node.milli_cores <= 0) return 0;
  const double share = std::min(1.0, 1000.0 * cores / static_cast<double>(node.milli_cores));
  return (traits.busy->value - traits.idle->value) * share * seconds;
}

const std::string* Experience::saw(const View& view, const Event& event) {
  const auto* ended = std::get_if<TaskEnded>(&event.body);
  if (!ended) return nullptr;
  const auto& task = view.tasks[static_cast<std::size_t>(ended->task)];
  const auto& job = job_of(view, task);
  if (!ran_whole(job, task) || family_of(job).empty() || task.ended_at <= task.started_at) return nullptr;
  const auto& node = view.nodes[static_cast<std::size_t>(task.node)];
  auto& seen = seen_[{family_of(job), machine_of(node)}];
  const double joules = task.energy_complete ? task.joules().value : 0;
  const int cores = task.granted.cores * task.nodes_wanted;  // of a gang, on all its nodes
  seen.push_back({work_of(job), cores, (task.ended_at - task.started_at).value, joules});
  // The last kKept are predicted, each from kKept before it: older ones leave no trace.
  if (seen.size() > 4 * kKept) seen.erase(seen.begin(), seen.end() - 2 * kKept);
  return &family_of(job);
}

void Experience::learn() {
  for (const auto& [key, runs] : seen_) {
    auto& known = known_[key];
    known = learn(known.get(), runs);
  }
  seen_.clear();
}

// As if each run had been predicted and then learnt from when it ended, less what would be forgotten again.
std::shared_ptr<const Experience::Known> Experience::learn(const Known* before,
                                                           const std::vector<Run>& runs) {
  auto known = std::make_shared<Known>();  // copies may still use the one before
  if (before) known->runs = before->runs, known->off = before->off;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    if (!known->runs.empty() && i + kKept >= runs.size()) {
      if (i > 0) fit(*known);
      const auto said = from(i > 0 ? *known : *before, run.work, run.cores);
      known->off.push_back(std::abs(said.seconds - run.seconds) / run.seconds);
    }
    known->runs.push_back(run);
    if (known->runs.size() > kKept) known->runs.erase(known->runs.begin());
  }
  if (known->off.size() > kKept)
    known->off.erase(known->off.begin(), known->off.end() - static_cast<std::ptrdiff_t>(kKept));
  fit(*known);
  return known;
}

Experience Experience::learnt() const {
  auto out = *this;
  out.learn();
  return out;
}

std::size_t Experience::runs(const std::string& family, const std::string& machine) const {
  const auto found = known_.find({family, machine});
  return found == known_.end() ? 0 : found->second->runs.size();
}

nlohmann::json Experience::to_json() const {
  assert(seen_.empty());
  auto out = nlohmann::json::array();
  for (const auto& [key, known] : known_) {
    auto runs = nlohmann::json::array();
    for (const auto& run : known->runs) runs.push_back({run.work, run.cores, run.seconds, run.joules});
    out.push_back({key.first, key.second, std::move(runs), known->off});
  }
  return out;
}

void Experience::restore(const nlohmann::json& saved) {
  known_.clear(), seen_.clear();
  for (const auto& row : saved) {
    auto known = std::make_shared<Known>();
    for (const auto& run : row.at(2)) known->runs.push_back({run.at(0), run.at(1), run.at(2), run.at(3)});
    known->off = row.at(3).get<std::vector<double>>();
    fit(*known);
    known_[{row.at(0), row.at(1)}] = std::move(known);
  }
}

void Experience::fit(Known& known) {
  known.energy =
      std::all_of(known.runs.begin(), known.runs.end(), [](const Run& run) { return run.joules > 0; });
  if (known.runs.size() < kFewest) return;
  known.model.emplace(1, HeatsModelOptions{});
  for (const auto& run : known.runs)
    known.model->learn(0, {0, run.work, static_cast<double>(run.cores), 0, 1},
                       {run.seconds, known.energy ? run.joules : 1});
  known.model->fit();
}

Expected Experience::from(const Known& known, double work, int cores) {
  if (known.model) {
    const auto said = known.model->predict(0, {0, work, static_cast<double>(cores), 0, 1});
    return {said.seconds, known.energy ? said.joules : 0, Expected::From::learnt, within(known)};
  }
  std::vector<double> seconds, joules;
  for (const auto& run : known.runs) {
    seconds.push_back(run.seconds / run.work);
    joules.push_back(run.joules / run.work);
  }
  return {median(seconds) * work, known.energy ? median(joules) * work : 0, Expected::From::learnt,
          within(known)};
}

double Experience::within(const Known& known) {
  if (known.off.size() < kFewest) return 0;
  auto off = known.off;
  const auto at =
      off.begin() + static_cast<std::ptrdiff_t>(std::ceil(0.9 * static_cast<double>(off.size()))) - 1;
  std::nth_element(off.begin(), at, off.end());
  return *at;
}

Expected Experience::expect(const View& view, const TaskView& task, const Cluster& cluster,
                            std::uint32_t type) const {
  assert(seen_.empty());
  const auto& job = job_of(view, task);
  const auto& here = cluster.traits[type];
  const int each = wanted_of(task).cores, cores = each * task.nodes_wanted;
  const auto by_power = [&](double seconds) {
    return task.nodes_wanted * added_joules(here, cluster.types[type].node, each, seconds);
  };
  if (!family_of(job).empty()) {
    const auto found = known_.find({family_of(job), cluster.types[type].name});
    if (found != known_.end()) {
      auto out = from(*found->second, work_of(job), cores);
      // Stated power is the same yardstick on every type; what was measured on some only is not.
      out.joules = here.idle ? by_power(out.seconds) : out.joules;
      return out;
    }
    std::vector<double> at_factor_one;
    for (std::uint32_t other = 0; other < cluster.types.size(); ++other)
      if (const auto ran = known_.find({family_of(job), cluster.types[other].name}); ran != known_.end())
        at_factor_one.push_back(from(*ran->second, work_of(job), cores).seconds *
                                cluster.traits[other].speed_factor);
    if (!at_factor_one.empty()) {
      const double seconds = median(at_factor_one) / here.speed_factor;
      return {seconds, by_power(seconds), Expected::From::related};
    }
  }
  const double seconds = (job.base().place.seconds ? job.base().place.seconds->value : 1) / here.speed_factor;
  return {seconds, by_power(seconds),
          job.base().place.seconds ? Expected::From::declared : Expected::From::nothing};
}

Prediction LivePredictor::predict(std::uint32_t task, std::uint32_t type) {
  const auto said = experience_.expect(view_, view_.tasks[task], cluster_, type);
  Prediction out{said.seconds, said.joules};
  out.known = said.from != Expected::From::nothing;
  const auto& traits = cluster_.traits[type];
  if (!traits.idle) return out;
  // Of cores, memory or GPUs, whichever it holds most of.
  const auto& wanted = view_.tasks[task];
  const Amount part = amount_of(wanted_of(wanted)), all = cluster_.types[type].node;
  const auto share = [](double some, double whole) { return whole > 0 ? std::min(1.0, some / whole) : 0; };
  const double most = std::max(
      {share(static_cast<double>(part.milli_cores), static_cast<double>(all.milli_cores)),
       share(static_cast<double>(part.memory), static_cast<double>(all.memory)), share(part.gpus, all.gpus)});
  out.idle_joules = said.seconds * wanted.nodes_wanted * most * traits.idle->value;
  return out;
}

bool LivePredictor::knows_energy(TaskId task) const {
  const auto& view = view_.tasks[static_cast<std::size_t>(task)];
  for (std::uint32_t type = 0; type < cluster_.types.size(); ++type)
    if (experience_.expect(view_, view, cluster_, type).joules <= 0) return false;
  return true;
}

}  // namespace tandem::place
