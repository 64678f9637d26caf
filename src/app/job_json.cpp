#include "app/job_json.h"

#include <algorithm>
#include <set>

#include "app/kinds.h"
#include "app/results.h"
#include "event/codec.h"
#include "place/engine/cluster.h"

namespace tandem::app {
namespace {

using nlohmann::json;

const TaskView* first_task_of(const View& view, const JobView& job) {
  return job.tasks.empty() ? nullptr : &view.tasks[static_cast<std::size_t>(job.tasks.front())];
}

json time_or_null(const std::optional<Seconds>& time) {
  return time ? json(time->value) : json(nullptr);
}

// What others use, as far as it is known; null: nobody looks there, or not yet.
json load_json(const NodeView& node) {
  if (node.observed.empty()) return nullptr;
  const auto& [at, load] = node.observed.back();
  const auto share = [](const std::optional<double>& s) { return s ? json(*s) : json(nullptr); };
  return {{"since", at.value},
          {"cpu", share(load.cpu)},
          {"memory", share(load.memory)},
          {"network", share(load.network)},
          {"gpu", share(load.gpu)},
          {"gpu_memory", share(load.gpu_memory)},
          {"latency", time_or_null(load.latency)}};
}

json job_energy_json(const View& view, const JobView& job) {
  Joules sum;
  std::string source;
  bool complete = true;
  std::vector<EnergyPart> parts;
  for (const TaskId id : job.tasks) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    sum += task.joules();
    add_parts(parts, task.energy_parts());
    complete &= task.energy_complete;
    if (!task.energy_source.empty()) source = task.energy_source;
  }
  if (source.empty()) return nullptr;
  return {{"joules", sum.value}, {"source", source}, {"complete", complete}, {"parts", parts_json(parts)}};
}

// Of all its trials, those that have a process now.
json gpus_of(const View& view, const JobView& job) {
  std::set<int> numbers;
  for (const TaskId id : job.tasks)
    if (const auto& task = view.tasks[static_cast<std::size_t>(id)]; task.alive && task.gpus_held > 0)
      numbers.insert(task.gpus.begin(), task.gpus.end());
  return numbers;
}

// Of all its trials, on all nodes.
int cores_held(const View& view, const JobView& job) {
  int sum = 0;
  for (const TaskId id : job.tasks) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    if (task.alive) sum += task.cores_held * (1 + static_cast<int>(task.more.size()));
  }
  return sum;
}

// From the least to the most of its configurations.
json cores_asked(const TaskView& task) {
  const auto [least, most] = std::minmax_element(
      task.options.begin(), task.options.end(),
      [](const Option& a, const Option& b) { return a.resources.cores < b.resources.cores; });
  return {least->resources.cores, most->resources.cores};
}

json node_names(const View& view, const TaskView& task) {
  json out = json::array();
  task.each_node([&](NodeId node) { out.push_back(view.nodes[static_cast<std::size_t>(node)].name); });
  return out;
}

}  // namespace

std::string state_of(const View& view, const JobView& job) {
  if (job.state != JobState::running) return name(job.state);
  bool any = false, running = false, starting = false;
  for (const TaskId id : job.tasks) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    any |= task.alive;
    starting |= task.state == TaskState::starting;
    running |= task.state == TaskState::running || task.state == TaskState::held;
  }
  if (job.cancelled) return "stopping";
  if (!any) return "queued";
  return running ? "running" : starting ? "starting" : "stopping";
}

const TaskView& telling_task(const View& view, const JobView& job) {
  const TaskView *waits = nullptr, *ran = nullptr;
  for (const TaskId id : job.tasks) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    if (task.alive) return task;
    if (task.state == TaskState::waiting && !task.released && waits == nullptr) waits = &task;
    if (task.attempt > 0) ran = &task;
  }
  return waits ? *waits : ran ? *ran : view.tasks[static_cast<std::size_t>(job.tasks.front())];
}

json job_json(const View& view, const JobView& job) {
  const TaskView* task = first_task_of(view, job);
  const std::string state = state_of(view, job);
  const bool over = job.state != JobState::running;
  const TaskView* telling = task ? &telling_task(view, job) : nullptr;
  // What a search asks for is said by its trials.
  const bool search = telling && (telling->trial || !telling->options.empty());
  const Resources asked = search ? place::wanted_of(*telling) : job.base().system;
  json out{{"job", job.id},
           {"name", job.base().name},
           {"kind", spec::kind_of(job.spec)},
           {"state", state},
           {"reason", job.reason},
           {"owner", job.owner.user < 0 ? json(nullptr)
                                        : json{{"user", job.owner.user}, {"name", job.owner.name}}},
           {"priority", job.base().place.priority},
           {"submitted", job.submitted_at.value},
           {"resources", to_json(asked)},
           {"cores_held", cores_held(view, job)},
           {"deadline", nullptr},
           {"node", nullptr},
           {"gpus", gpus_of(view, job)},
           {"started", nullptr},
           {"ended", over ? json(job.finished_at.value) : json(nullptr)},
           {"attempts", task ? task->attempt : 0},
           {"drop", task ? task->drop : 0},
           {"epochs", job.base().epochs},
           {"reported", task ? task->reported() : 0},
           {"progress", progress_json(view, job)},
           {"energy", job_energy_json(view, job)}};
  if (telling && !telling->options.empty()) out["cores_asked"] = cores_asked(*telling);
  if (job.base().nodes > 1) out["on_nodes"] = job.base().nodes;
  if (job.base().place.deadline) out["deadline"] = (job.submitted_at + *job.base().place.deadline).value;
  if (task && task->attempt > 0) {
    out["node"] = view.nodes[static_cast<std::size_t>(task->node)].name;
    if (!task->more.empty()) out["nodes"] = node_names(view, *task);
    if (task->started_at.value > 0) out["started"] = task->started_at.value;
  }
  return out;
}

json anonymous_row(json row) {
  static const std::set<std::string> kShown{"job",  "state",    "priority", "submitted",
                                            "node", "nodes",    "gpus",     "resources",
                                            "ended", "on_nodes", "started",  "archived",
                                            "cores_held", "cores_asked"};
  for (auto& [key, value] : row.items()) {
    if (kShown.contains(key)) continue;
    value = value.is_string() ? json("") : value.is_number() ? json(0) : json(nullptr);
  }
  return row;
}

json whole_job_json(const View& view, const JobView& job) {
  json out = job_json(view, job);
  out["spec"] = spec::to_json(job.spec);
  out["tasks"] = json::array();
  for (const TaskId id : job.tasks) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    json row{{"task", id},
             {"state", name(task.state)},
             {"attempt", task.attempt},
             {"granted", to_json(task.granted)},
             {"cpus", task.cpus},
             {"gpus", task.gpus},
             {"epochs", json::array()}};
    if (task.attempt > 0) row["node"] = view.nodes[static_cast<std::size_t>(task.node)].name;
    if (!task.more.empty()) row["nodes"] = node_names(view, task);
    if (task.last_failure)
      row["last_failure"] = {{"what", name(task.last_failure->failure)},
                             {"detail", task.last_failure->detail},
                             {"last_output", task.last_failure->last_output}};
    for (const auto& epoch : task.epochs)
      row["epochs"].push_back(
          {{"epoch", epoch.epoch}, {"seconds", epoch.seconds.value}, {"metrics", metrics_json(epoch)}});
    out["tasks"].push_back(std::move(row));
  }
  return out;
}

json node_json(const View& view, const NodeView& node) {
  json jobs = json::array();
  for (const TaskId id : view.holding) {
    const auto& task = view.tasks[static_cast<std::size_t>(id)];
    if (task.is_on(node.id)) jobs.push_back(task.job);
  }
  const auto watts = [](const std::optional<Watts>& w) { return w ? json(w->value) : json(nullptr); };
  const bool up = node.capacity.cores > 0;
  return {{"node", node.name},
          {"type", node.type},
          {"state", up ? "up" : "down"},
          {"cores", node.largest.cores},
          {"free_cores", up ? node.free_cores : 0},
          {"memory", node.largest.memory},
          {"free_memory", up ? node.free_memory : 0},
          {"gpus", node.largest.gpus},
          {"free_gpus", up ? node.free_gpus : 0},
          {"architecture", node.traits.architecture},
          {"accelerator", node.traits.accelerator},
          {"labels", node.traits.labels},
          {"speed_factor", node.traits.speed_factor},
          {"pace", node.traits.speed_factor},
          {"idle_watts", watts(node.traits.idle)},
          {"busy_watts", watts(node.traits.busy)},
          {"bandwidth", node.traits.bandwidth > 0 ? json(node.traits.bandwidth) : json(nullptr)},
          {"load", load_json(node)},
          {"jobs", std::move(jobs)}};
}

json explanation_json(const place::Explanation& why) {
  json types = json::array();
  for (const auto& c : why.types)
    types.push_back(
        {{"type", c.type},
         {"nodes", c.nodes},
         {"up", c.up},
         {"refused", c.refused},
         {"score", c.score},
         {"why", c.why},
         {"expected_seconds",
          c.expected.from == place::Expected::From::nothing ? json(nullptr) : json(c.expected.seconds)},
         {"expected_within", c.expected.within > 0 ? json(c.expected.within) : json(nullptr)},
         {"expected_joules", c.expected.joules > 0 && c.expected.from != place::Expected::From::nothing
                                 ? json(c.expected.joules)
                                 : json(nullptr)},
         {"expected_from", name(c.expected.from)}});
  return {{"policy", why.policy},
          {"energy_weight", why.energy_weight ? json(*why.energy_weight) : json(nullptr)},
          {"considered", std::move(types)},
          {"verdict", why.verdict},
          {"ahead", why.ahead},
          {"expected_start", time_or_null(why.expected_start)},
          {"start_note", why.start_note}};
}

}  // namespace tandem::app
