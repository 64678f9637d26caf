#include "event/view.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error.h"

namespace tandem {
namespace {

template <class Id, class T>
T& at(IdTable<T>& all, Id id, const char* what) {
  if (!all.contains(id)) throw SystemError(std::string("the journal speaks of an unknown ") + what);
  return all[static_cast<std::size_t>(id)];
}

// Ids are dense: the next one may be made, none may be skipped.
template <class Id, class T>
T& at_or_next(IdTable<T>& all, Id id, const char* what) {
  if (id >= 0 && static_cast<std::size_t>(id) == all.size()) {
    all.emplace_back().id = id;
  }
  return at(all, id, what);
}

std::optional<TaskId> task_of(const DecisionBody& body) {
  return std::visit(
      [](const auto& word) -> std::optional<TaskId> {
        if constexpr (requires { word.task; }) return word.task;
        return std::nullopt;
      },
      body);
}

bool has_time_limit(const JobView& job) {
  const auto* tune = job.as<spec::TuneJob>();
  return job.base().limits.time || (tune && tune->budget.time);
}

// The time since `job` was last counted, if it was at work all the while.
void count_work(const View& view, JobView& job) {
  if (job.at_work > 0 && job.state == JobState::running) job.active += view.worked - job.counted;
  job.counted = view.worked;
}

struct Folder {
  View& view;

  // Whoever is looked up here is about to be changed.
  TaskView& task(TaskId id) {
    auto& out = at(view.tasks, id, "task");
    touch(Touched::What::task, id);
    return out;
  }
  JobView& job(JobId id) {
    auto& out = at(view.jobs, id, "job");
    touch(Touched::What::job, id);
    return out;
  }
  void touch(Touched::What what, std::int64_t id) { view.touched.push_back({what, id}); }

  void give_back(TaskView& t) { hold(t, 0, 0, 0); }

  void take(TaskView& t, const Resources& granted) {
    t.granted = granted;
    hold(t, granted.cores, granted.memory, granted.gpus);
  }

  void hold(TaskView& t, int cores, Bytes memory, int gpus) {
    if (cores == t.cores_held && memory == t.memory_held && gpus == t.gpus_held) return;
    t.each_node([&](NodeId id) {
      auto& node = at(view.nodes, id, "node");
      node.free_cores += t.cores_held - cores;
      node.free_memory += t.memory_held - memory;
      if (t.granted.gpu_memory == 0) node.free_gpus += t.gpus_held - gpus;
    });
    t.cores_held = cores;
    t.memory_held = memory;
    t.gpus_held = gpus;
  }

  // It has reported and waits for its answer: the cores are for others; its memory and its GPUs, where the
  // memory is too, stay.
  void rest(TaskView& t) { hold(t, 0, t.memory_held, t.gpus_held); }

  void close(DecisionId decision) {
    const auto found = view.open.find(decision);
    if (found == view.open.end()) return;
    if (const auto* wake = std::get_if<Wake>(&found->second.body))
      view.open_wakes.erase(view.open_wakes.find(wake->at.value));
    if (const auto task = task_of(found->second.body)) view.open_of_task.erase({*task, decision});
    view.open.erase(found);
  }

  // The end of an attempt is the outcome of whatever was still open for it.
  void close_all_of(TaskId id) {
    auto& open = view.open_of_task;
    for (auto next = open.lower_bound({id, 0}); next != open.end() && next->first == id;) {
      view.open.erase(next->second);
      next = open.erase(next);
    }
  }

  void note_source(TaskView& t, const Energy& energy) {
    t.energy_source = energy.source;
    t.energy_complete &= energy.complete();
  }

  void add_energy(TaskView& t, const std::optional<Energy>& energy) {
    if (!energy) {
      t.energy_complete = false;
      return;
    }
    t.joules_between += energy->joules;
    add_parts(t.parts_between, *energy);
    note_source(t, *energy);
  }

  void set_state(TaskView& t, TaskState state) {
    t.state = state;
    if (state == TaskState::waiting)
      view.waiting.insert(view.waiting.end(), t.id);  // mostly it is the newest
    else
      view.waiting.erase(t.id);
    if (t.alive == view.holding.contains(t.id)) return;
    if (t.alive)
      view.holding.insert(t.id);
    else
      view.holding.erase(t.id);
    change_at_work(t.job, t.alive ? 1 : -1);
  }

  void change_at_work(JobId id, int by) {
    auto& job = at(view.jobs, id, "job");
    count_work(view, job);
    job.at_work += by;
    if (job.at_work == 0)
      view.at_work_timed.erase(id);
    else if (job.at_work == by && has_time_limit(job))
      view.at_work_timed.insert(id);
  }

  // A newer attempt starts over at `epoch`: what it repeats no longer counts, but its energy was spent.
  void supersede_from(TaskView& t, std::int64_t epoch) {
    while (!t.epochs.empty() && t.epochs.back().epoch >= epoch) {
      if (const auto& energy = t.epochs.back().energy) {
        t.joules_between += energy->joules;
        add_parts(t.parts_between, *energy);
      }
      t.epochs.pop_back();
    }
  }

  void end_attempt(TaskView& t, TaskState state, const std::optional<Energy>& energy) {
    give_back(t);
    close_all_of(t.id);
    add_energy(t, energy);
    t.before_resize.reset();
    t.alive = t.parked = t.mixed = false;
    if (const auto sliced = std::exchange(t.sliced, std::nullopt)) add_energy(t, sliced);
    set_state(t, state);
    t.ended_at = view.now;
  }

  // ---- events ----

  void operator()(const JobSubmitted& e) {
    auto& job = at_or_next(view.jobs, e.job, "job");
    touch(Touched::What::job, e.job);
    job.spec = e.spec;
    job.owner = e.owner;
    job.key = e.key;
    job.submitted_at = view.now;
  }
  void operator()(const JobCancelled& e) {
    auto& job = this->job(e.job);
    job.cancelled = true;
    job.cancel_reason = e.reason;
  }
  void operator()(const JobResumed& e) {
    auto& job = this->job(e.job);
    count_work(view, job);
    job.cancelled = false;
    job.state = JobState::running;
    job.reason.clear();
    if (e.limits) spec::base_of(job.spec).limits = *e.limits;
    if (auto* tune = std::get_if<spec::TuneJob>(&job.spec); tune && e.budget) tune->budget = *e.budget;
    if (job.at_work > 0 && has_time_limit(job)) view.at_work_timed.insert(e.job);
    for (TaskId id : job.tasks) task(id).failures = task(id).lost_at_once = 0;
  }
  void operator()(const NodeJoined& e) {
    auto& node = at_or_next(view.nodes, e.node, "node");
    touch(Touched::What::node, e.node);
    const Resources before = node.capacity;
    const bool known = !node.name.empty();
    node.name = e.name;
    node.type = e.type;
    node.capacity = e.capacity;
    if (e.capacity.cores > 0) node.largest = e.capacity;
    node.traits = e.traits;
    node.observed.clear();  // of another machine, or of a while ago
    node.free_cores += e.capacity.cores - (known ? before.cores : 0);
    node.free_memory += e.capacity.memory - (known ? before.memory : 0);
    node.free_gpus += e.capacity.gpus - (known ? before.gpus : 0);
  }
  void operator()(const TaskStarted& e) {
    auto& t = task(e.task);
    close(e.decision);
    if (t.state == TaskState::starting) set_state(t, TaskState::running);
    t.pid = e.pid;
    t.pid_started = e.pid_started;
    t.cpus = e.cpus;
    t.gpus = e.gpus;
    t.preloaded += e.preloaded;
    t.started_at = view.now;
  }
  void operator()(const EpochEnded& e) {
    auto& t = task(e.task);
    supersede_from(t, e.epoch);
    t.epochs.push_back({e.epoch, e.attempt, e.metrics, view.now, e.seconds, e.energy, e.profile, t.granted,
                        e.startup, t.phase, t.workload, std::exchange(t.mixed, false), e.startup_energy,
                        e.not_finite});
    t.sliced.reset();
    if (!e.hyper_read.empty())
      for (auto& read = at(view.jobs, t.job, "job").hyper_read; const auto& name : e.hyper_read)
        if (read.size() < JobView::kMostRead) read.insert(name);
    if (!e.energy) {
      t.energy_complete = false;
      return;
    }
    note_source(t, *e.energy);
    auto& job = at(view.jobs, t.job, "job");
    if (e.seconds > Seconds{})
      job.most_power = std::max(job.most_power, Watts{e.energy->joules.value / e.seconds.value});
  }
  void operator()(const SliceEnded& e) {
    auto& t = task(e.task);
    if (!e.energy) return;
    t.sliced = t.sliced ? sum_of(*t.sliced, *e.energy) : *e.energy;
  }
  void operator()(const CheckpointTaken& e) { close(e.decision); }
  void operator()(const SystemChanged& e) {
    // The Resize took the resources when it was decided; what was really granted may be less.
    auto& t = task(e.task);
    if (const auto found = view.open.find(e.decision); found != view.open.end())
      t.mixed |= std::holds_alternative<Retune>(found->second.body) && !(t.granted == e.granted);
    close(e.decision);
    t.before_resize.reset();
    if (t.alive && !t.parked) take(t, e.granted);
  }
  void operator()(const TaskEnded& e) {
    auto& t = task(e.task);
    end_attempt(t, TaskState::ended, e.energy);
    if (!e.detail.empty()) t.last_failure = TaskFailed{e.task, e.attempt, e.failure, e.detail, e.last_output, {}};
  }
  void operator()(const TaskFailed& e) {
    auto& t = task(e.task);
    end_attempt(t, TaskState::failed, e.energy);
    t.last_failure = e;
    // Being lost is Tandem's fault or the machine's, not the program's: it is never counted against its
    // retries.
    if (e.failure != Failure::lost) ++t.failures;
    const bool reported = !t.epochs.empty() && t.epochs.back().attempt == e.attempt;
    const bool at_once = e.failure == Failure::lost && !reported && e.ran && *e.ran < TaskView::kAtOnce;
    t.lost_at_once = at_once ? t.lost_at_once + 1 : 0;
  }
  // A refused Start or Resize gives back what it took when it was decided.
  void operator()(const DecisionRefused& e) {
    auto found = view.open.find(e.decision);
    if (found == view.open.end()) return;
    const DecisionBody refused = found->second.body;
    close(e.decision);
    if (const auto* start = std::get_if<Start>(&refused)) {
      auto& t = task(start->task);
      give_back(t);
      t.alive = false;
      set_state(t, TaskState::failed);
      t.last_failure = TaskFailed{t.id, start->attempt, Failure::could_not_start, e.reason, "", {}};
      ++t.failures;
    } else if (const auto* resize = std::get_if<Resize>(&refused)) {
      auto& t = task(resize->task);
      if (!t.before_resize) return;
      const TaskView::Holding before = *t.before_resize;
      t.before_resize.reset();
      t.keeps_size = true;
      t.parked = before.parked;
      if (t.state == TaskState::running && !before.parked)
        return take(t, before.granted);  // it goes on as it was
      t.granted = before.granted;
      hold(t, before.cores, before.memory, before.gpus);
      if (t.state == TaskState::running) set_state(t, TaskState::waiting);  // its CPUs are others' still
    }
  }
  void operator()(const Woke& e) { close(e.decision); }
  void operator()(const KnowledgeArrived& e) { view.known = e.known; }
  void operator()(const NodeObserved& e) {
    auto& seen = at(view.nodes, e.node, "node").observed;
    touch(Touched::What::node, e.node);
    if (e.load == NodeLoad{}) return seen.clear();
    if (seen.size() == NodeView::kObserved) seen.erase(seen.begin());
    seen.push_back({view.now, e.load});
  }

  void operator()(const JobsArchived& e) {
    for (const JobId id : e.jobs) {
      const auto& job = at(view.jobs, id, "job");
      ++view.archived[job.state];
      if (view.keeps_all || view.keeps.contains(id)) continue;
      for (const TaskId task : job.tasks) {
        view.waiting.erase(task);  // of a job that was cancelled before
        touch(Touched::What::task, task);
        view.tasks.erase(static_cast<std::size_t>(task));
      }
      view.jobs.erase(static_cast<std::size_t>(id));
    }
  }

  // ---- decisions ----

  void operator()(const Request& d) {
    const bool first = static_cast<std::size_t>(d.task) == view.tasks.size();
    auto& t = at_or_next(view.tasks, d.task, "task");
    touch(Touched::What::task, d.task);
    if (first) at(view.jobs, d.job, "job").tasks.push_back(d.task);
    t.job = d.job;
    t.wanted = d.wanted;
    if (d.trial) t.trial = d.trial;
    t.options = d.options;
    t.epochs_left = d.epochs_left;
    t.priority = d.priority;
    t.phase = d.phase;
    t.workload = d.workload;
    t.nodes_wanted = d.nodes;
    t.slices = d.slices;
    t.released = t.evicted = false;
    if (t.alive) rest(t);
    set_state(t, TaskState::waiting);
    t.requested_at = view.now;
  }
  void operator()(const Start& d) {
    auto& t = task(d.task);
    t.node = d.node;
    t.drop = d.drop;
    t.more = d.more;
    t.attempt = d.attempt;
    t.keeps_size = false;
    t.reason = d.reason;
    take(t, d.granted);
    t.alive = true;
    set_state(t, TaskState::starting);
  }
  void operator()(const Continue& d) {
    auto& t = task(d.task);
    if (t.state != TaskState::waiting && t.state != TaskState::held) return;
    if (t.cores_held == 0) take(t, t.granted);
    set_state(t, TaskState::running);
  }
  void operator()(const Hold& d) {
    auto& t = task(d.task);
    rest(t);
    t.parked = true;
    if (d.workload >= 0) t.workload = d.workload;
    if (t.state == TaskState::running) set_state(t, TaskState::held);
  }
  void operator()(const Resize& d) {
    auto& t = task(d.task);
    t.before_resize = TaskView::Holding{t.granted, t.cores_held, t.memory_held, t.gpus_held, t.parked};
    take(t, d.granted);
    t.parked = false;
  }
  void operator()(const Retune& d) { task(d.task).slices = d.slices; }
  void operator()(const Stop& d) {
    auto& t = task(d.task);
    t.evicted = d.again;
    set_state(t, TaskState::stopping);
  }
  void operator()(const Release& d) {
    auto& t = task(d.task);
    t.released = true;
    if (d.workload >= 0) t.workload = d.workload;
    t.release_reason = d.reason;
  }
  void operator()(const FinishJob& d) {
    auto& job = this->job(d.job);
    count_work(view, job);
    job.state = d.state;
    job.reason = d.reason;
    job.finished_at = view.now;
  }
  void operator()(const Learn&) { ++view.learned; }
  void operator()(const TakeCheckpoint&) {}
  void operator()(const Wake&) {}
};

bool has_outcome(const DecisionBody& body) {
  return std::holds_alternative<Start>(body) || std::holds_alternative<Resize>(body) ||
         std::holds_alternative<Stop>(body) || std::holds_alternative<TakeCheckpoint>(body) ||
         std::holds_alternative<Retune>(body) || std::holds_alternative<Wake>(body);
}

}  // namespace

std::optional<Joules> EpochRecord::working_energy() const {
  if (!energy || !energy->complete()) return std::nullopt;
  if (startup_energy) return std::max(energy->joules - *startup_energy, Joules{});
  return energy->joules * std::clamp(working().value / std::max(seconds.value, 1e-9), 0.0, 1.0);
}

Joules TaskView::joules() const {
  Joules sum = joules_between;
  for (const auto& record : epochs)
    if (record.energy) sum += record.energy->joules;
  return sum;
}

std::vector<EnergyPart> TaskView::energy_parts() const {
  std::vector<EnergyPart> sums;
  for (const auto& record : epochs)
    if (record.energy) add_parts(sums, *record.energy);
  add_parts(sums, parts_between);
  return sums;
}

bool TaskView::is_on(NodeId which) const {
  return which == node || std::find(more.begin(), more.end(), which) != more.end();
}

bool same_type(const NodeView& a, const NodeView& b) {
  return a.type == b.type && a.largest == b.largest && a.traits == b.traits;
}

const char* name(TaskState state) {
  switch (state) {
    case TaskState::waiting:
      return "waiting";
    case TaskState::starting:
      return "starting";
    case TaskState::running:
      return "running";
    case TaskState::stopping:
      return "stopping";
    case TaskState::held:
      return "held";
    case TaskState::ended:
      return "ended";
    case TaskState::failed:
      return "failed";
  }
  return "?";
}

spec::TrainJob what_runs(const View& view, const TaskView& task) {
  const auto& job = view.jobs[static_cast<std::size_t>(task.job)];
  spec::TrainJob out = job.base();
  if (!task.trial) return out;
  out.hyper = task.trial->hyper;
  out.epochs = task.trial->epochs;
  if (job.as<spec::Experiment>()) out.seed += task.trial->rung;
  return out;
}

void View::apply(const Event& event) {
  touched.erase(touched.begin(), touched.begin() + static_cast<std::ptrdiff_t>(touched_by_last_));
  touched_before += touched_by_last_;
  touched_by_last_ = touched.size();
  // A session opens with NodeJoined: the time before it, while nobody was at work, is nobody's.
  if (!std::holds_alternative<NodeJoined>(event.body) && events > 0 && event.at > now) {
    const Seconds before = worked, passed = event.at - now;
    worked += passed;
    const auto count = [&](JobId id) {
      auto& job = jobs[static_cast<std::size_t>(id)];
      if (job.counted == before && job.state == JobState::running) {
        job.active += passed;
        job.counted = worked;
      } else {
        count_work(*this, job);
      }
    };
    if (holding.size() <= kTasksCounted)
      for (const TaskId id : holding) count(std::as_const(tasks)[static_cast<std::size_t>(id)].job);
    else
      for (const JobId id : at_work_timed) count(id);
  }
  now = event.at;
  ++events;
  std::visit(Folder{*this}, event.body);
}

void View::index() {
  open_of_task.clear(), open_wakes.clear(), at_work_timed.clear();
  for (const auto& [id, decision] : open) {
    if (const auto task = task_of(decision.body)) open_of_task.insert({*task, id});
    if (const auto* wake = std::get_if<Wake>(&decision.body)) open_wakes.insert(wake->at.value);
  }
  for (const JobView& job : std::as_const(jobs))
    if (job.at_work > 0 && has_time_limit(job)) at_work_timed.insert(job.id);
}

View View::share() {
  auto own_nodes = std::move(nodes);
  auto own_jobs = std::move(jobs);
  auto own_tasks = std::move(tasks);
  auto own_known = std::move(known);
  View out = *this;  // all the rest of it
  out.nodes = (nodes = std::move(own_nodes)).share();
  out.jobs = (jobs = std::move(own_jobs)).share();
  out.tasks = (tasks = std::move(own_tasks)).share();
  out.known = (known = std::move(own_known)).share();
  return out;
}

void View::apply(const Decision& decision) {
  assert(decision.id >= next_decision);
  next_decision = decision.id + 1;
  if (has_outcome(decision.body)) {
    open.emplace(decision.id, decision);
    if (const auto task = task_of(decision.body)) open_of_task.insert({*task, decision.id});
    if (const auto* wake = std::get_if<Wake>(&decision.body)) open_wakes.insert(wake->at.value);
  }
  std::visit(Folder{*this}, decision.body);
}

}  // namespace tandem
