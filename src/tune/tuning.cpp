#include "tune/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "tune/goals.h"
#include "tune/possible.h"
#include "tune/retry.h"
#include "tune/time_limit.h"

namespace tandem::tune {
namespace {

// Before the names of what came with GPUs: a program may well have a hyperparameter called precision.
constexpr const char* kSystemKeys = "system.";
constexpr const char *kGpuPower = "system.gpu_power", *kGpuClock = "system.gpu_clock",
                     *kPrecision = "system.precision";

constexpr int kMostInVain = 100;  // trials an event: one must not take long

bool is_system(const std::string& name) {
  return name == "cores" || name == "memory" || name == "speed" || name.starts_with(kSystemKeys);
}

template <class T>
std::vector<Value> as_values(const std::vector<T>& list) {
  std::vector<Value> out;
  for (const T& item : list) {
    if constexpr (std::is_same_v<T, Precision>)
      out.emplace_back(std::string(name(item)));
    else if constexpr (std::is_floating_point_v<T>)
      out.emplace_back(static_cast<double>(item));
    else
      out.emplace_back(static_cast<std::int64_t>(item));
  }
  return out;
}

void add_choice(spec::Space& space, const std::string& name, std::vector<Value> choices) {
  space.parameters.push_back({name, {spec::Domain::Kind::choice, std::move(choices)}, std::nullopt});
}

}  // namespace

spec::Space search_space(const spec::TuneJob& job, const NodeView& node) {
  spec::Space space = job.hyper;
  // A fixed hyperparameter that a constraint speaks of is a choice of one.
  for (const auto& constraint : job.hyper.constraints)
    for (const auto& name : constraint.names()) {
      const auto fixed = job.base.hyper.find(name);
      const bool varies = std::any_of(space.parameters.begin(), space.parameters.end(),
                                      [&](const spec::Parameter& p) { return p.name == name; });
      if (fixed != job.base.hyper.end() && !varies) add_choice(space, name, {fixed->second});
    }
  if (job.mode != spec::Mode::joint) return space;
  const auto system = on_node(job.system, node);
  add_choice(space, "cores", as_values(system.cores));
  add_choice(space, "memory", as_values(system.memory));
  add_choice(space, "speed", as_values(system.speed));
  if (!job.system.gpu_power.empty()) add_choice(space, kGpuPower, as_values(system.gpu_power));
  if (!job.system.gpu_clock.empty()) add_choice(space, kGpuClock, as_values(system.gpu_clock));
  if (!job.system.precision.empty()) add_choice(space, kPrecision, as_values(system.precision));
  return space;
}

Tuning::Tuning(JobId id, const View& view)
    : id_(id),
      job_(*view.jobs[static_cast<std::size_t>(id)].as<spec::TuneJob>()),
      known_(view.known.values()),
      waits_from_(view.worked) {
  node_ = node_for(job_, view);
  prepare();
}

void Tuning::search_anew() {
  searcher_ = std::make_unique<search::Recorded>(
      search::make_searcher(job_.search, search_space(job_, node_), loss_count(job_)));
  trials_.clear();
  by_task_.clear();
  best_main_.reset();
  any_success_ = false;
  last_failure_.clear();
}

void Tuning::prepare() {
  search_anew();
  if (job_.mode == spec::Mode::pipelined) tuner_ = std::make_unique<SystemTuner>(job_, node_, known_);
}

const JobView& Tuning::job(const View& view) const {
  return view.jobs[static_cast<std::size_t>(id_)];
}

Tuning::Trial* Tuning::trial_of(TaskId task) {
  const auto found = by_task_.find(task);
  return found == by_task_.end() ? nullptr : &trials_[found->second];
}

Values Tuning::hyper_of(const search::Ask& ask) const {
  Values hyper = job_.base.hyper;
  for (const auto& [name, value] : ask.point)
    if (!is_system(name)) hyper[name] = value;
  // A parameter whose condition does not hold is not there at all.
  for (const auto& parameter : job_.hyper.parameters)
    if (!ask.point.contains(parameter.name)) hyper.erase(parameter.name);
  return hyper;
}

// Modes hyper and joint: one configuration for all of a trial's epochs.
Resources Tuning::fixed_system(const search::Ask& ask) const {
  const auto system = on_node(job_.system, node_);
  Resources out{job_.hyper_cores.value_or(system.cores.back()),
                system.memory.back(),
                system.speed.back(),
                system.gpus,
                system.gpu_memory,
                Watts{system.gpu_power.back()},
                system.gpu_clock.back(),
                system.precision.front()};
  if (job_.mode != spec::Mode::joint) return out;
  out.cores = static_cast<int>(std::get<std::int64_t>(ask.point.at("cores")));
  out.memory = std::get<std::int64_t>(ask.point.at("memory"));
  out.speed = std::get<double>(ask.point.at("speed"));
  const auto& point = ask.point;
  if (point.contains(kGpuPower)) out.gpu_power.value = std::get<double>(point.at(kGpuPower));
  if (point.contains(kGpuClock)) out.gpu_clock = std::get<double>(point.at(kGpuClock));
  if (point.contains(kPrecision))
    out.precision = precision_from(std::get<std::string>(point.at(kPrecision))).value_or(Precision::own);
  return out;
}

Request Tuning::request(const View& view, const Trial& trial) {
  Request request{.task = trial.task, .job = id_};
  TrialPart part{.hyper = hyper_of(trial.ask),
                 .epochs = job_.search.max_epochs,
                 .until = trial.ask.until,
                 .bracket = trial.ask.bracket,
                 .rung = trial.ask.rung,
                 .point = trial.ask.point};
  if (trial.ask.clone_from) {
    const auto& parent = trials_[static_cast<std::size_t>(*trial.ask.clone_from)];
    part.clone_from = parent.task;
    const bool known = static_cast<std::size_t>(trial.task) < view.tasks.size();
    part.clone_epoch =
        known && task_at(view, trial.task).trial ? task_at(view, trial.task).trial->clone_epoch : parent.told;
  }
  request.epochs_left = std::max<std::int64_t>(trial.ask.until - std::max(trial.told, part.clone_epoch), 1);
  // A clone before its parent, which would write over what is to be copied.
  request.priority =
      static_cast<int>(std::min<std::int64_t>(trial.ask.rung, 1000)) + (part.clone_from ? 1 : 0);
  if (tuner_) {
    tuner_->set_time_price(price_of_time(view, job(view)).watts);
    auto plan = tuner_->plan(trial.task, part.hyper);
    request.options = std::move(plan.options);
    request.phase = plan.phase;
    request.workload = plan.workload;
    request.slices = plan.slices;
    if (!request.options.empty()) request.wanted = request.options.front().resources;
  } else {
    request.wanted = fixed_system(trial.ask);
  }
  request.trial = std::move(part);
  return request;
}

// ---- deciding ----

void Tuning::began(const View& view, std::vector<DecisionBody>& out) {
  arm_budget(view, out);
  go_on(view, out);
}

std::string Tuning::why_missing(const std::string& goal, const EpochEnded& e) const {
  if (goal == "energy" || (goal == spec::kCost && job_.objective.cost))
    return fmt::format("the objective names {}, but nothing here can tell {}; see `tandem doctor`", goal,
                       e.energy           ? "all of an epoch's energy"
                       : goal == "energy" ? "it"
                                          : "energy");
  std::string reported;
  for (const auto& [name, value] : e.metrics) reported += (reported.empty() ? "" : ", ") + name;
  return fmt::format("the objective names '{}', which the program does not report; it reports {}{}", goal,
                     reported.empty() ? "nothing" : reported,
                     goal == spec::kCost
                         ? "; for Tandem's own cost give it weights: objective.cost: {energy: 0.5, time: 0.5}"
                         : "");
}

void Tuning::epoch_ended(const View& view, const EpochEnded& e, std::vector<DecisionBody>& out) {
  Trial* trial = trial_of(e.task);
  const auto& task = task_at(view, e.task);
  account(e);
  if (!trial || trial->state != State::running || job(view).state != JobState::running ||
      job(view).cancelled || task.state != TaskState::running)
    return;
  if (tuner_) tuner_->ended(task, task.trial->hyper);
  if (e.epoch <= trial->told) {  // a restarted program repeats what is known
    out.push_back(request(view, *trial));
    go_on(view, out);
    return;
  }
  std::string missing;
  const auto values =
      goal_values(job_.objective, task, task.epochs.size() - 1, price_of_time(view, job(view)), &missing);
  if (!values) {
    finish(JobState::failed, why_missing(missing, e), out);
    return;
  }
  note_success(*trial, e.epoch, *values);
  const auto verdict =
      searcher_->tell(trial->ask.trial, e.epoch, losses(job_, *values, task, task.epochs.size() - 1));
  const std::int32_t workload = tuner_ ? tuner_->workload_of(e.task) : -1;
  if (verdict == search::Verdict::go_on) {
    out.push_back(request(view, *trial));
  } else if (verdict == search::Verdict::hold) {
    trial->state = State::held;
    out.push_back(Hold{e.task, e.attempt, workload});
  } else {
    trial->state = State::over;
    const bool complete = e.epoch >= job_.search.max_epochs;
    out.push_back(Release{e.task, complete ? "it has run all its epochs" : "others do better", workload});
  }
  go_on(view, out);
}

// Whether a slice's configuration was the right one, and what to try on the next.
void Tuning::slice_ended(const View& view, const SliceEnded& e, std::vector<DecisionBody>& out) {
  const auto& task = task_at(view, e.task);
  const Trial* trial = trial_of(e.task);
  if (!tuner_ || !trial || trial->state != State::running || task.state != TaskState::running) return;
  tuner_->saw(task, e);
  if (e.share == 0 || job(view).state != JobState::running || job(view).cancelled) return;
  if (const auto next = tuner_->retune(task, task.trial->hyper))
    out.push_back(
        Retune{e.task, e.attempt, next->resources.gpu_power, next->resources.gpu_clock, next->more});
}

void Tuning::task_failed(const View& view, TaskId id, std::vector<DecisionBody>& out) {
  Trial* trial = trial_of(id);
  const auto& task = task_at(view, id);
  if (!trial || job(view).state != JobState::running) return;
  if (job(view).cancelled) {
    cancelled(view, out);
    return;
  }
  if (const auto held = why_held(task, job(view).base().limits); !held.empty())
    return finish(JobState::failed, held, out);
  if (trial->state == State::running) {
    if (task.evicted || worth_another_attempt(task, *task.last_failure, job(view).base().limits)) {
      out.push_back(request(view, *trial));
    } else {
      give_up(view, *trial);
      // A clone finds no checkpoint where the program keeps none: so would all the others.
      if (trial->ask.clone_from && task.last_failure->failure == Failure::could_not_start)
        return finish(JobState::failed, last_failure_, out);
    }
  }
  go_on(view, out);
}

void Tuning::task_ended(const View& view, TaskId id, std::vector<DecisionBody>& out) {
  Trial* trial = trial_of(id);
  if (!trial || job(view).state != JobState::running) return;
  if (job(view).cancelled) {
    cancelled(view, out);
    return;
  }
  // One that is held was ended to make room, and goes on from its checkpoint when its turn comes. One that
  // should have gone on ended by itself: it has nothing more to say.
  if (trial->state == State::running && task_at(view, id).evicted)
    out.push_back(request(view, *trial));  // it was stopped to make room, or to move
  else if (trial->state == State::running)
    give_up(view, *trial);
  go_on(view, out);
}

void Tuning::give_up(const View& view, Trial& trial) {
  trial.state = State::over;
  if (const auto& failure = task_at(view, trial.task).last_failure)
    last_failure_ = fmt::format("{}: {}", name(failure->failure), failure->detail);
  if (task_at(view, trial.task).state == TaskState::ended && trial.told > 0)
    searcher_->ended(trial.ask.trial);
  else
    searcher_->left(trial.ask.trial);
}

void Tuning::note_success(Trial& trial, std::int64_t epoch, const std::vector<double>& values) {
  any_success_ = true;
  trial.told = epoch;
  const bool more = job_.objective.goals.front().maximise;
  if (!best_main_ || (more ? values.front() > *best_main_ : values.front() < *best_main_))
    best_main_ = values.front();
}

void Tuning::take_up(const View& view) {
  job_.budget = job(view).as<spec::TuneJob>()->budget;
  waits_from_ = view.worked;
  // Nothing is left to go on with, and nothing was found: its program was mended meanwhile, or its machine.
  const auto over = [](const Trial& trial) { return trial.state == State::over; };
  if (std::all_of(trials_.begin(), trials_.end(), over) && came_to_nothing(view)) search_anew();
}

void Tuning::resumed(const View& view, std::vector<DecisionBody>& out) {
  take_up(view);
  arm_budget(view, out);
  for (const auto& trial : trials_)
    if (trial.state == State::running && !task_at(view, trial.task).alive)
      out.push_back(request(view, trial));
  go_on(view, out);
}

void Tuning::cancelled(const View& view, std::vector<DecisionBody>& out) {
  if (job(view).state == JobState::running && !anything_alive(view))
    finish(JobState::stopped, job(view).cancel_reason, out);
}

void Tuning::woke(const View& view, std::vector<DecisionBody>& out) {
  if (job(view).state != JobState::running || job(view).cancelled) return;
  // A refused start leaves a trial that should run, failed, and asked for by nobody.
  for (auto& trial : trials_) {
    if (trial.state != State::running) continue;
    const auto& task = task_at(view, trial.task);
    if (task.state != TaskState::failed) continue;
    if (worth_another_attempt(task, *task.last_failure, job(view).base().limits))
      out.push_back(request(view, trial));
    else
      give_up(view, trial);
  }
  if (!view.holding.empty()) waits_from_ = view.worked;
  if (never_began(view))
    return finish(JobState::failed,
                  fmt::format("budget.time of {} has passed, and no trial could be started",
                              text(*job_.budget.time)),
                  out);
  if (job_.budget.time && job(view).active < *job_.budget.time) arm_budget(view, out);
  go_on(view, out);
}

// Time in which nothing of it runs is not its own, unless nobody else was at work either.
bool Tuning::never_began(const View& view) const {
  return job_.budget.time && job(view).active == Seconds{} && view.holding.empty() &&
         view.worked - waits_from_ >= *job_.budget.time;
}

// What may follow from anything: losers go, winners and new trials come, or it is over.
void Tuning::go_on(const View& view, std::vector<DecisionBody>& out) {
  drop_held(out);
  if (end_if_due(view, out)) return;
  fill(view, out);
  end_if_due(view, out);
}

void Tuning::drop_held(std::vector<DecisionBody>& out) {
  for (const auto id : searcher_->dropped()) {
    Trial& trial = trials_[static_cast<std::size_t>(id)];
    trial.state = State::over;
    out.push_back(Release{trial.task, "others of its rung do better"});
  }
}

TaskId Tuning::next_task(const View& view, const std::vector<DecisionBody>& out) const {
  auto next = static_cast<TaskId>(view.tasks.size());
  for (const auto& decision : out)
    if (const auto* request = std::get_if<Request>(&decision); request && request->task >= next)
      next = request->task + 1;
  return next;
}

// How many more trials find GPUs. Those of held ones can be had: they go on from their checkpoints. Other
// jobs' tasks take as many places as their GPUs are worth.
int Tuning::gpu_places(const View& view, const std::vector<DecisionBody>& out) const {
  const int each = job_.system.gpus;
  if (each == 0) return std::numeric_limits<int>::max();
  int places = 0;
  for (const auto& node : view.nodes) places += tune::gpu_places(job_.system, node);
  const auto at_work = [&](TaskId id) { return task_at(view, id).state != TaskState::held; };
  for (const TaskId id : view.holding)
    if (at_work(id)) places -= (task_at(view, id).gpus_held + each - 1) / each;
  for (const TaskId id : view.waiting)
    if (!task_at(view, id).alive) places -= (task_at(view, id).wanted.gpus + each - 1) / each;
  for (const auto& decision : out) {
    const auto* request = std::get_if<Request>(&decision);
    if (request && static_cast<std::size_t>(request->task) >= view.tasks.size()) --places;
    if (const auto* hold = std::get_if<Hold>(&decision); hold && at_work(hold->task)) ++places;
    if (const auto* release = std::get_if<Release>(&decision);
        release && static_cast<std::size_t>(release->task) < view.tasks.size() && at_work(release->task))
      ++places;
  }
  return places;
}

// Asks for as many as there will be cores for, once what was decided so far has happened.
void Tuning::fill(const View& view, std::vector<DecisionBody>& out) {
  int free = 0, wanted = 0;
  for (const auto& node : view.nodes) free += node.free_cores;
  const auto least = [](const Request& r) {
    int cores = r.wanted.cores;
    for (const auto& option : r.options) cores = std::min(cores, option.resources.cores);
    return cores;
  };
  for (TaskId id : view.waiting) {
    const auto& task = task_at(view, id);
    int cores = task.wanted.cores;
    for (const auto& option : task.options) cores = std::min(cores, option.resources.cores);
    wanted += cores;
  }
  for (const auto& decision : out) {
    if (const auto* request = std::get_if<Request>(&decision)) {
      wanted += least(*request);
      if (static_cast<std::size_t>(request->task) < view.tasks.size())
        free += task_at(view, request->task).cores_held;
    } else if (const auto* hold = std::get_if<Hold>(&decision)) {
      free += task_at(view, hold->task).cores_held;
    }
  }
  // Beside other jobs there may be no room now: one that asks for nothing would never hear that there is.
  const auto active = [](const Trial& trial) { return trial.state == State::running; };
  bool must = std::none_of(trials_.begin(), trials_.end(), active);
  int in_vain = 0;
  for (int places = gpu_places(view, out); must || (wanted < free && places > 0);) {
    std::optional<search::Ask> ask;
    try {
      ask = searcher_->ask();
    } catch (const UserError& no_point) {  // constraints that hardly any point meets
      return finish(JobState::failed, no_point.what(), out);
    }
    if (!ask) return;
    if (static_cast<std::size_t>(ask->trial) == trials_.size()) {
      by_task_[next_task(view, out)] = trials_.size();
      trials_.push_back({*ask, next_task(view, out)});
    }
    Trial& trial = trials_[static_cast<std::size_t>(ask->trial)];
    trial.ask = *ask;
    trial.state = State::running;
    auto asked = request(view, trial);
    wanted += std::max(least(asked), 1);
    --places;
    const bool impossible = tuner_ && asked.options.empty();
    out.push_back(std::move(asked));
    must &= impossible;
    if (!impossible) {
      in_vain = 0;
      continue;
    }
    // Told by its own task, so that it shows among the trials.
    out.push_back(Release{trial.task, "no system configuration satisfies the constraints"});
    trial.state = State::over;
    searcher_->left(trial.ask.trial);
    if (++in_vain == kMostInVain && must)
      return wind_up(view, fmt::format("no system configuration satisfies the constraints, for {} trials in a row", in_vain), out);
    if (in_vain == kMostInVain) return;
  }
}

bool Tuning::end_if_due(const View& view, std::vector<DecisionBody>& out) {
  if (!out.empty() && std::holds_alternative<FinishJob>(out.back())) return true;
  const auto& main = job_.objective.goals.front();
  if (job_.objective.target && best_main_ &&
      (main.maximise ? *best_main_ >= *job_.objective.target : *best_main_ <= *job_.objective.target))
    finish(JobState::finished,
           fmt::format("{} reached the target of {}", main.metric, *job_.objective.target), out);
  else if (job_.budget.time && job(view).active >= *job_.budget.time)
    wind_up(view, "budget.time of " + text(*job_.budget.time) + " is used up", out);
  else if (job_.budget.energy && spent_ >= *job_.budget.energy)
    wind_up(view, "budget.energy of " + text(*job_.budget.energy) + " is used up", out);
  else if (job_.budget.cost && cost_so_far(view) >= *job_.budget.cost)
    wind_up(view, "budget.cost of " + text(*job_.budget.cost) + " is used up", out);
  else if (searcher_->finished())
    wind_up(view, "", out);
  else
    return false;
  return true;
}

// What reported epochs and then failed came to nothing all the same.
bool Tuning::came_to_nothing(const View& view) const {
  const auto failed = [&](const Trial& trial) {
    return static_cast<std::size_t>(trial.task) < view.tasks.size() &&
           task_at(view, trial.task).state == TaskState::failed;
  };
  return !any_success_ || std::all_of(trials_.begin(), trials_.end(), failed);
}

void Tuning::wind_up(const View& view, const std::string& why, std::vector<DecisionBody>& out) {
  if (!came_to_nothing(view)) return finish(JobState::finished, why, out);
  std::string reason = why;
  if (last_failure_.empty())
    reason += why.empty() ? "no trial reported an epoch" : ", and no trial has reported an epoch";
  else
    reason += (why.empty() ? "every trial failed; the last one: " : "; every trial failed, the last one: ") +
              last_failure_;
  finish(JobState::failed, reason, out);
}

Joules Tuning::cost_so_far(const View& view) const {
  Seconds trained;
  Joules used;
  for (TaskId id : job(view).tasks)
    if (const auto& task = task_at(view, id); !task.epochs.empty()) {
      trained += trained_until(task, task.epochs.size() - 1);
      used += energy_trained_until(task, task.epochs.size() - 1);
    }
  const auto weights = job_.objective.cost.value_or(spec::CostWeights{});
  return cost_of(weights, used, trained, price_of_time(view, job(view)).watts);
}

void Tuning::finish(JobState state, std::string reason, std::vector<DecisionBody>& out) {
  if (tuner_ && state == JobState::finished)
    for (auto& workload : tuner_->learned()) out.push_back(Learn{id_, std::move(workload)});
  out.push_back(FinishJob{id_, state, std::move(reason)});
}

void Tuning::arm_budget(const View& view, std::vector<DecisionBody>& out) const {
  if (!job_.budget.time) return;
  const bool begun = job(view).active > Seconds{} || !view.holding.empty();
  wake_when_used_up(view, job(view), *job_.budget.time - (begun ? job(view).active : view.worked - waits_from_), out);
}

void Tuning::account(const EpochEnded& e) {
  if (e.energy) spent_ += e.energy->joules;
}

bool Tuning::anything_alive(const View& view) const {
  return std::any_of(view.holding.begin(), view.holding.end(),
                     [&](TaskId id) { return task_at(view, id).job == id_; });
}

}  // namespace tandem::tune
