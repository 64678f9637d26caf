#include "runtime/slurm/world.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>

#include "base/error.h"
#include "runtime/local/attempt.h"
#include "runtime/slurm/clock.h"
#include "runtime/slurm/gpus.h"

namespace tandem::slurm {
namespace {

constexpr const char* kNoCheckpoints =
    "the program keeps no checkpoints (docs/protocol.md): on Slurm it would have to start over to be resized";

const Resources kNothing{0, 0, 1.0};

}  // namespace

SlurmWorld::SlurmWorld(SlurmOptions options) : options_(std::move(options)) {
  validate(options_.site);
  validate_run(options_.run);
  options_.folder = std::filesystem::absolute(options_.folder);
  std::filesystem::create_directories(options_.folder / "slurm");
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) throw_errno("making an event queue");
}

SlurmWorld::~SlurmWorld() {
  std::vector<SlurmJobId> jobs(to_cancel_.begin(), to_cancel_.end());
  for (auto& [task, a] : attempts_) {
    if (links_) signal(*a, SIGKILL);
    if (a->life && a->life->listed() && !a->in_pilot) jobs.push_back(*a->life->job());
  }
  for (auto& [node, pilot] : pilots_)
    if (pilot.life.listed()) jobs.push_back(*pilot.life.job());
  // What sbatch is just submitting finds nobody to join, and ends by itself.
  try {
    if (!jobs.empty()) commands_.run_and_wait(scancel(jobs), Seconds{20});
  } catch (const std::exception&) {  // a destructor has nobody to tell; agents end without us
  }
}

Seconds SlurmWorld::now() {
  return {std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

// ---- decisions ----

struct SlurmWorld::Carry {
  SlurmWorld& world;
  const View& view;
  DecisionId id;

  // A command for an attempt that is over is refused, unless its end has already answered it.
  void refuse_late() const {
    if (view.open.contains(id)) world.refuse(id, "that attempt is over");
  }
  template <class D, class Act>
  void with(const D& d, Act act) const {
    if (Attempted* a = world.find(d.task, d.attempt))
      act(*a);
    else
      refuse_late();
  }

  void operator()(const Start& d) const { world.start(id, d, view); }
  void operator()(const Resize& d) const {
    with(d, [&](Attempted& a) { world.resize(id, a, d); });
  }
  void operator()(const Stop& d) const {
    with(d, [&](Attempted& a) { world.stop(a); });
  }
  void operator()(const TakeCheckpoint& d) const {
    with(d, [&](Attempted& a) {
      if (!a.talk.keeps_checkpoints)
        world.refuse(id, "the program keeps no checkpoints");
      else if (a.talk.checkpoint_asked)
        world.refuse(id, "a checkpoint is being taken already");
      else
        a.talk.checkpoint_asked = id;
    });
  }
  void operator()(const Continue& d) const {
    if (Attempted* a = world.find(d.task, d.attempt)) world.go_on(*a, d.epoch);
  }
  void operator()(const Hold& d) const {
    if (Attempted* a = world.find(d.task, d.attempt)) world.hold(*a);
  }
  void operator()(const Wake& d) const { world.wakes_.emplace(d.at.value, id); }
  void operator()(const Request&) const {}
  void operator()(const Release&) const {}
  void operator()(const Learn&) const {}
  void operator()(const Retune&) const { world.refuse(id, "GPUs cannot be set here"); }
  void operator()(const FinishJob&) const {}
};

void SlurmWorld::carry_out(const Decision& decision, const View& view) {
  std::visit(Carry{*this, view, decision.id}, decision.body);
}

void SlurmWorld::start(DecisionId id, const Start& d, const View& view) {
  if (auto found = attempts_.find(d.task); found != attempts_.end()) {
    if (found->second->number != d.attempt) refuse(id, "an earlier attempt of the task is still there");
    return;  // the same command again
  }
  const auto& task = view.tasks.at(static_cast<std::size_t>(d.task));
  auto attempt = std::make_unique<Attempted>();
  Attempted& a = *attempt;
  a.task = d.task;
  a.number = d.attempt;
  a.node = d.node;
  a.more = d.more;
  a.granted = d.granted;
  a.start_decision = id;
  if (const Node* full = lacks_room(a, kNothing, d.granted)) return refuse(id, no_room(*full, d.granted));
  a.job = what_runs(view, task);
  if (task.trial) {
    a.talk.cloned_at = task.trial->clone_epoch;
    if (task.trial->clone_from)
      local::copy_checkpoints(task_folder(*task.trial->clone_from), task_folder(d.task));
  }
  a.talk.counted_before = task.reported();
  a.talk.begin = {.task = fmt::format("run {}, task {}", options_.run, a.task),
                  .attempt = a.number,
                  .epochs = a.job.epochs,
                  .seed = a.job.seed,
                  .folder = task_folder(a.task).string(),
                  .keep_checkpoints = a.job.keep_checkpoints,
                  .hyper = a.job.hyper,
                  .system = a.granted,
                  .drop = d.drop,
                  .cloned = a.talk.cloned_at > 0};
  take(a, kNothing, a.granted);
  attempts_.emplace(a.task, std::move(attempt));
  submit(a);
}

void SlurmWorld::resize(DecisionId id, Attempted& a, const Resize& d) {
  if (a.told_to_stop || a.verdict) return refuse(id, "it is being ended");
  if (a.resize || a.move == Move::resized || a.move == Move::renewed)
    return refuse(id, "it is being moved already");
  if (!a.parked && d.granted == a.granted) return happened(SystemChanged{a.task, a.number, id, a.granted});
  const Resources held = a.holds();
  if (const Node* full = lacks_room(a, held, d.granted)) return refuse(id, no_room(*full, d.granted));
  const bool at_work = a.life && a.life->stage() == Stage::running && !a.parked;
  if (at_work && !a.talk.movable()) return refuse(id, kNoCheckpoints);
  take(a, held, d.granted);
  a.before_resize = a.granted;
  a.granted = a.talk.begin.system = d.granted;
  a.resize = id;
  const bool was_parked = std::exchange(a.parked, false);
  if (!a.life) return submit(a);
  a.move = Move::resized;
  if (!was_parked) leave(a);
}

// Ends its job, which shall go on in another one.
void SlurmWorld::leave(Attempted& a) {
  if (a.life->stage() != Stage::running) return a.life->cancel("it is submitted again, otherwise");
  a.kill_at = steady() + options_.grace;
  if (a.talk.owes_answer) {
    a.talk.gated = true;
    tell(a, answer(a.talk, true, steady()));
  } else {
    signal(a, SIGTERM);
  }
}

// Only a task that waits for an answer, and only one that can go on from a checkpoint: others keep their
// cores.
void SlurmWorld::hold(Attempted& a) {
  if (!a.talk.owes_answer || a.told_to_stop || a.verdict || a.move != Move::none || !a.talk.keeps_checkpoints)
    return;
  a.parked = true;
  take(a, a.granted, a.holds());
  a.move = Move::parked;
  leave(a);
}

void SlurmWorld::go_on(Attempted& a, std::int64_t epoch) {
  if (a.parked || a.told_to_stop || epoch != a.talk.last_epoch) return;
  if (a.talk.gated) {  // it has moved since it reported
    a.talk.gated = false;
    if (std::exchange(a.talk.begin_due, false)) begin_program(a);
    return;
  }
  if (!a.talk.owes_answer || a.move != Move::none) return;
  const bool renew =
      a.life->walltime_near(steady()) && a.talk.keeps_checkpoints && epoch < a.talk.begin.epochs;
  if (renew) {
    note(a.task, "its time on Slurm is nearly up: it goes on from its checkpoint in another job");
    a.move = Move::renewed;
    a.kill_at = steady() + options_.grace;
  } else {
    a.stall_at = steady() + a.job.limits.stall;
  }
  tell(a, answer(a.talk, renew, steady()));
}

void SlurmWorld::stop(Attempted& a) {
  if (a.told_to_stop) return;
  a.told_to_stop = true;
  if (!a.life) return finish(a.task, TaskEnded{a.task, a.number, {}});
  if (a.life->stage() != Stage::running) return a.life->cancel("it is to be stopped");
  a.kill_at = steady() + options_.grace;
  if (a.talk.owes_answer)
    tell(a, answer(a.talk, true, steady()));
  else
    signal(a, SIGTERM);  // an epoch can be long; its checkpoint is safe
}

// ---- waiting ----

std::vector<Event> SlurmWorld::wait(Seconds at_most) {
  settle();
  const Seconds until = steady() + at_most;
  bool interrupted = false;
  do interrupted = look(until - steady());
  while (pending_.empty() && !interrupted && steady() < until);
  std::vector<Event> out(std::make_move_iterator(pending_.begin()), std::make_move_iterator(pending_.end()));
  pending_.clear();
  return out;
}

// Sleeps until there is something to do, and does it. True: `interrupt` was called.
bool SlurmWorld::look(Seconds at_most) {
  std::array<pollfd, 3> on{{{wake_.get(), POLLIN, 0},
                            {commands_.descriptor(), POLLIN, 0},
                            {links_ ? links_->descriptor() : -1, POLLIN, 0}}};
  const double sleep = pending_.empty() ? until_next(at_most).value : 0;
  ::poll(on.data(), on.size(), static_cast<int>(std::clamp(sleep, 0.0, 3600.0) * 1000 + 0.999));
  std::uint64_t drained;
  const bool interrupted = ::read(wake_.get(), &drained, sizeof(drained)) > 0;
  commands_.look();
  if (links_) links_->look();
  look_for_records();
  check_deadlines();
  if (links_) look_after_pilots();
  look_after_gangs();
  settle();
  cancel_jobs();
  ask_queue();
  ask_nodes();
  return interrupted;
}

void SlurmWorld::check_deadlines() {
  const Seconds moment = steady();
  for (auto& [task, attempt] : attempts_) {
    Attempted& a = *attempt;
    if (!a.life) continue;
    a.life->tick(moment);
    if (a.kill_at && moment >= *a.kill_at) {
      a.kill_at.reset();
      a.cancel_at = moment + options_.grace;
      signal(a, SIGKILL);
    }
    if (a.cancel_at && moment >= *a.cancel_at) {
      a.cancel_at.reset();
      a.life->cancel("it did not end when it was made to");
    }
    if (a.stall_at && moment >= *a.stall_at && !a.told_to_stop && a.move == Move::none && !a.talk.gated)
      condemn(a, Failure::stalled,
              fmt::format("no report for {}; raise limits.stall if its epochs are that long",
                          text(a.job.limits.stall)));
  }
  const double wall = now().value;
  while (!wakes_.empty() && wakes_.begin()->first <= wall) {
    happened(Woke{wakes_.begin()->second});
    wakes_.erase(wakes_.begin());
  }
}

Seconds SlurmWorld::until_next(Seconds at_most) const {
  const Seconds moment = steady();
  Seconds wait = std::min(at_most, commands_.until_limit());
  auto not_after = [&](const std::optional<Seconds>& at) {
    if (at) wait = std::min(wait, *at - moment);
  };
  for (const auto& [task, a] : attempts_) {
    not_after(a->kill_at);
    not_after(a->cancel_at);
    not_after(a->stall_at);
    for (const auto& follower : a->followers)
      if (a->exit && follower.over_at && *follower.over_at > moment) not_after(follower.over_at);
    if (a->life && a->life->wants_record()) wait = std::min(wait, Seconds{0.5});
  }
  if (!queue_asked_ && (!attempts_.empty() || !pilots_.empty())) not_after(next_queue_);
  if (!nodes_asked_ && links_) not_after(next_nodes_);
  if (!wakes_.empty()) {
    const double wall =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    wait = std::min(wait, Seconds{wakes_.begin()->first - wall});
  }
  return std::max(wait, Seconds{0});
}

// ---- small things ----

bool SlurmWorld::fits(const Node& node, const Resources& before, const Resources& now) const {
  return now.cores - before.cores <= node.free_cores && now.memory - before.memory <= node.free_memory &&
         gpus_of(now) - gpus_of(before) <= node.free_gpus;
}

std::string SlurmWorld::no_room(const Node& node, const Resources& wanted) const {
  return fmt::format("{} asked for, but only {} cores, {} and {} GPUs of {} are not granted yet",
                     tandem::text(wanted), node.free_cores, text_bytes(node.free_memory), node.free_gpus,
                     node.name);
}

void SlurmWorld::take(const Attempted& a, const Resources& before, const Resources& now) {
  for (const NodeId id : nodes_of(a)) {
    auto& node = nodes_.at(static_cast<std::size_t>(id));
    node.free_cores += before.cores - now.cores;
    node.free_memory += before.memory - now.memory;
    node.free_gpus += gpus_of(before) - gpus_of(now);
  }
}

const SlurmWorld::Node* SlurmWorld::lacks_room(const Attempted& a, const Resources& before,
                                               const Resources& now) const {
  for (const NodeId id : nodes_of(a))
    if (const auto& node = nodes_.at(static_cast<std::size_t>(id)); !fits(node, before, now)) return &node;
  return nullptr;
}

SlurmWorld::Attempted* SlurmWorld::find(TaskId task, Attempt attempt) {
  auto found = attempts_.find(task);
  return found != attempts_.end() && found->second->number == attempt ? found->second.get() : nullptr;
}

SlurmWorld::Attempted* SlurmWorld::find(const std::string& mark) {
  const auto parsed = parse_mark(mark);
  Attempted* a = parsed ? find(parsed->task, parsed->attempt) : nullptr;
  return a && parsed->submission == a->submission ? a : nullptr;
}

void SlurmWorld::interrupt() {
  const std::uint64_t one = 1;
  [[maybe_unused]] auto told = ::write(wake_.get(), &one, sizeof(one));
}

void SlurmWorld::refuse(DecisionId id, const std::string& reason) {
  happened(DecisionRefused{id, reason});
}

void SlurmWorld::happened(EventBody body) {
  pending_.push_back({now(), std::move(body)});
}

void SlurmWorld::note(TaskId task, const std::string& line) {
  std::ofstream(output_file(task), std::ios::app) << "[tandem] task " << task << ": " << line << '\n';
}

}  // namespace tandem::slurm
