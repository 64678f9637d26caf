#include "app/past_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/predictions.h"
#include "app/runs.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace tandem::app {
using advise::LoadChange;
using advise::PastRun;
using nlohmann::json;
namespace {

bool is_cost(const std::string& metric) {
  return metric.starts_with("seconds_") || metric.ends_with("_per_second");
}

Metrics without_costs(Metrics metrics) {
  std::erase_if(metrics, [](const auto& metric) { return is_cost(metric.first); });
  return metrics;
}

bool can_be_learnt_from(const TaskView& task) {
  return task.state == TaskState::ended && !task.epochs.empty();
}

// Epochs of one attempt follow each other; what an earlier attempt did is of its own time.
Seconds began(const EpochRecord& record) {
  return record.at - record.seconds;
}

// Lanes of a machine (runtime/local/world.h) are nodes that share its CPUs.
std::string machine_of(const View& view, const TaskView& task) {
  if (task.node < 0 || static_cast<std::size_t>(task.node) >= view.nodes.size()) return "";
  const auto& name = view.nodes[static_cast<std::size_t>(task.node)].name;
  return name.substr(0, name.rfind("-lane-"));
}

// Which of the view's tasks worked on each machine, and when: who asks what ran beside a task looks at those
// near it in time alone.
class MachineLoads {
 public:
  explicit MachineLoads(const View& view) {
    for (const auto& task : view.tasks)
      if (task.started_at.value > 0)
        machines_[machine_of(view, task)].push_back({task.id, task.started_at,
                                                     task.alive ? view.now : task.ended_at,
                                                     static_cast<double>(task.granted.cores)});
    for (auto& [name, stays] : machines_) {
      std::stable_sort(stays.begin(), stays.end(),
                       [](const Stay& a, const Stay& b) { return a.from < b.from; });
      Seconds latest{};
      for (auto& stay : stays) stay.latest = latest = std::max(latest, stay.to);
    }
  }

  // How many worked on its machine at the same time, itself included, seen from `from` to `to`.
  advise::LoadProfile between(const View& view, const TaskView& self, Seconds from, Seconds to) const {
    advise::LoadProfile profile{{Seconds{0}, 1, static_cast<double>(self.granted.cores)}};
    const auto found = machines_.find(machine_of(view, self));
    if (found == machines_.end()) return profile;
    std::map<double, std::pair<double, double>> changes;  // jobs and cores, more or less
    const auto& stays = found->second;
    auto stay =
        std::partition_point(stays.begin(), stays.end(), [&](const Stay& s) { return s.latest <= from; });
    for (; stay != stays.end() && stay->from < to; ++stay) {
      if (stay->task == self.id || stay->to <= from || stay->to <= stay->from) continue;
      auto& [jobs, cores] = changes[std::max(0.0, (stay->from - from).value)];
      jobs += 1, cores += stay->cores;
      if (stay->to >= to) continue;
      auto& [fewer, fewer_cores] = changes[(stay->to - from).value];
      fewer -= 1, fewer_cores -= stay->cores;
    }
    for (const auto& [at, change] : changes) {
      LoadChange next = profile.back();
      next.at = Seconds{at};
      next.jobs += change.first, next.cores += change.second;
      if (at == 0)
        profile.back() = next;
      else if (next.jobs != profile.back().jobs || next.cores != profile.back().cores)
        profile.push_back(next);
    }
    return profile;
  }

 private:
  struct Stay {
    TaskId task;
    Seconds from, to;
    double cores;
    Seconds latest{};  // end of this one and all before it
  };
  std::map<std::string, std::vector<Stay>> machines_;  // by when they began
};

const Values& hyper_of(const View& view, const TaskView& task) {
  return task.trial ? task.trial->hyper : view.jobs[static_cast<std::size_t>(task.job)].base().hyper;
}

// Epochs [first, end) of a task, all with the same cores.
PastRun stretch(const std::string& id, const View& view, const MachineLoads& loads, const TaskView& task,
                std::size_t first, std::size_t end) {
  const auto& job = view.jobs[static_cast<std::size_t>(task.job)].base();
  PastRun out;
  out.id = id;
  out.program = program_name(job.program);
  out.machine = view.nodes[static_cast<std::size_t>(task.node)].type;
  out.setting = {hyper_of(view, task), task.epochs[first].granted, static_cast<std::int64_t>(end - first),
                 1 + static_cast<int>(task.more.size())};
  double joules = 0;
  bool measured = true;
  for (std::size_t i = first; i < end; ++i) {
    const auto& record = task.epochs[i];
    out.seconds += record.seconds;
    out.epoch_seconds.push_back(record.working().value);
    if (first == 0) out.metrics.push_back({record.epoch, without_costs(record.metrics)});
    measured = measured && record.energy.has_value();
    if (record.energy) joules += record.energy->joules.value;
  }
  if (measured) out.joules = Joules{joules}, out.joules_source = task.epochs[first].energy->source;
  out.load = loads.between(view, task, began(task.epochs[first]), task.epochs[end - 1].at);
  return out;
}

// What comes after the last epoch (the model is written) is part of a whole run.
void add_tail(const TaskView& task, PastRun& run) {
  const Seconds tail = task.ended_at - task.epochs.back().at;
  if (tail.value > 0) run.seconds += tail;
}

// Whoever was there and is not in this run's journal. No cores said: they were jobs like this one.
void add_others(const advise::Load& seen, PastRun& run) {
  const double own = run.setting.system.cores, others = seen.jobs - 1;
  for (auto& change : run.load) {
    change.jobs += others;
    change.cores += seen.cores > 0 ? std::max(0.0, seen.cores - own) : others * own;
  }
}

}  // namespace

std::string program_name(const spec::Program& program) {
  return program.built_in() ? program.model + "/" + program.dataset : join(program.command, " ");
}

namespace {

// visit(row, task)
template <class Visit>
void each_past_run(const std::string& run, const View& view, const advise::Load& seen, const Visit& visit) {
  const MachineLoads loads(view);
  for (const auto& task : view.tasks) {
    if (!can_be_learnt_from(task)) continue;
    const std::string id = view.tasks.size() > 1 ? fmt::format("{}#{}", run, task.id) : run;
    std::size_t first = 0;
    for (std::size_t i = 1; i <= task.epochs.size(); ++i) {
      if (i < task.epochs.size() && task.epochs[i].granted == task.epochs[first].granted) continue;
      PastRun row = stretch(id, view, loads, task, first, i);
      if (i == task.epochs.size()) add_tail(task, row);
      add_others(seen, row);
      visit(std::move(row), task);
      first = i;
    }
  }
}

}  // namespace

std::vector<PastRun> past_runs_of(const std::string& run, const View& view, const advise::Load& seen) {
  std::vector<PastRun> out;
  each_past_run(run, view, seen, [&](PastRun row, const TaskView&) { out.push_back(std::move(row)); });
  return out;
}

std::vector<store::PastRow> past_rows_of(const std::string& run, const View& view, const advise::Load& seen) {
  std::vector<store::PastRow> out;
  each_past_run(run, view, seen, [&](const PastRun& row, const TaskView& task) {
    const auto& owner = view.jobs[static_cast<std::size_t>(task.job)].owner;
    out.push_back({row.program, to_json(row).dump(), owner.user});
  });
  return out;
}

json to_json(const PastRun& run) {
  auto load = json::array(), metrics = json::array();
  for (const auto& change : run.load) load.push_back({change.at.value, change.jobs, change.cores});
  for (const auto& epoch : run.metrics) metrics.push_back({epoch.epoch, epoch.values});
  json out{{"id", run.id},
           {"program", run.program},
           {"machine", run.machine},
           {"hyper", tandem::to_json(run.setting.hyper)},
           {"system", tandem::to_json(run.setting.system)},
           {"epochs", run.setting.epochs},
           {"nodes", run.setting.nodes},
           {"load", load},
           {"seconds", run.seconds.value},
           {"epoch_seconds", run.epoch_seconds},
           {"metrics", metrics}};
  if (run.joules) out["joules"] = run.joules->value, out["joules_source"] = run.joules_source;
  return out;
}

PastRun past_run_from_json(const json& in) try {
  PastRun out;
  out.id = in.at("id");
  out.program = in.at("program");
  out.machine = in.at("machine");
  out.setting = {values_from_json(in.at("hyper")), resources_from_json(in.at("system")), in.at("epochs"),
                 in.at("nodes")};
  for (const auto& change : in.at("load"))
    out.load.push_back({Seconds{change.at(0)}, change.at(1), change.at(2)});
  out.seconds = Seconds{in.at("seconds").get<double>()};
  out.epoch_seconds = in.at("epoch_seconds").get<std::vector<double>>();
  for (const auto& epoch : in.at("metrics")) out.metrics.push_back({epoch.at(0), epoch.at(1).get<Metrics>()});
  if (in.contains("joules"))
    out.joules = Joules{in.at("joules").get<double>()}, out.joules_source = in.at("joules_source");
  return out;
} catch (const json::exception& error) {
  throw SystemError(std::string("a past run is damaged in the store: ") + error.what());
}

std::size_t fold_past_runs(store::Store& store, const std::string& program) {
  constexpr std::size_t kAtOnce = 500;  // runs a transaction: each waits for the disk
  const auto runs = store.unfolded(program);
  std::map<std::string, advise::Load> seen;  // by run
  if (!runs.empty())
    for (const auto& kept : store.predictions())
      if (!is_server(kept.run)) seen[kept.run.id] = predicted_run_from_json(parse_json(kept.body)).load;
  std::vector<store::FoldedRun> folded;
  for (const auto& run : runs) {
    folded.push_back({run, past_rows_of(run.id, replayed(store, run), seen[run.id])});
    if (folded.size() < kAtOnce) continue;
    store.keep_folded(folded);
    folded.clear();
  }
  if (!folded.empty()) store.keep_folded(folded);
  return runs.size();
}

std::vector<PastRun> past_runs(store::Store& store, const std::string& program, const store::Owners& whose) {
  std::vector<PastRun> out;
  for (const auto& body : store.past(program, whose)) {
    const auto parsed = parse_json(body);
    if (parsed.is_discarded()) throw SystemError("a past run of " + program + " is damaged in the store");
    out.push_back(past_run_from_json(parsed));
  }
  return out;
}

}  // namespace tandem::app
