#include "runtime/slurm/world.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/error.h"
#include "runtime/common/clock.h"
#include "runtime/common/task_files.h"

namespace tandem::slurm {
namespace {

using runtime::steady;

constexpr const char* kNoCheckpoints =
    "the program keeps no checkpoints (docs/protocol.md): on Slurm it would have to start over to be resized";

}  // namespace

SlurmWorld::SlurmWorld(SlurmOptions options) : options_(std::move(options)) {
  validate(options_.site);
  validate_run(options_.run);
  options_.folder = std::filesystem::absolute(options_.folder);
  std::filesystem::create_directories(options_.folder / "slurm");
  space_.emplace(options_.folder);
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
  return clock_.now();
}

// ---- decisions ----

void SlurmWorld::start(DecisionId id, const Start& d, const View& view) {
  if (auto found = attempts_.find(d.task); found != attempts_.end()) {
    if (found->second->number != d.attempt) refuse(id, "an earlier attempt of the task is still there");
    return;  // the same command again
  }
  if (held_) return refuse(id, space_->why());
  const auto& task = view.tasks.at(static_cast<std::size_t>(d.task));
  auto attempt = std::make_unique<Attempted>();
  Attempted& a = *attempt;
  a.task = d.task;
  a.number = d.attempt;
  a.nodes = {d.node};
  a.nodes.insert(a.nodes.end(), d.more.begin(), d.more.end());
  a.start_decision = id;
  if (const std::string why = ledger_.start(a.holds, a.nodes, d.granted); !why.empty())
    return refuse(id, why);
  a.job = what_runs(view, task);
  try {
    if (task.trial && task.trial->clone_from)
      runtime::copy_checkpoints(task_folder(*task.trial->clone_from), task_folder(d.task));
  } catch (const SystemError& error) {  // a full disk
    ledger_.end(a.holds);
    return refuse(id, error.what());
  }
  a.talk = runtime::begin_conversation(options_.run, d, task, a.job, task_folder(d.task).string());
  a.talk.objectives = runtime::objectives_of(view, task);
  attempts_.emplace(a.task, std::move(attempt));
  submit(a);
}

void SlurmWorld::resize(DecisionId id, Attempted& a, const Resize& d, const View&) {
  if (a.told_to_stop || a.verdict) return refuse(id, "it is being ended");
  if (a.resize || a.move == Move::resized || a.move == Move::renewed)
    return refuse(id, "it is being moved already");
  const bool was_parked = a.holds.lent;
  if (!was_parked && d.granted == a.granted())
    return happened(SystemChanged{a.task, a.number, id, a.granted()});
  const bool at_work = a.life && a.life->stage() == Stage::running && !was_parked;
  if (at_work && !a.talk.movable()) return refuse(id, kNoCheckpoints);
  a.before_resize = a.holds;
  if (const std::string why = ledger_.resize(a.holds, d.granted); !why.empty()) return refuse(id, why);
  a.talk.begin.system = d.granted;
  a.resize = id;
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
  ledger_.lend_cores(a.holds);
  a.move = Move::parked;
  leave(a);
}

void SlurmWorld::go_on(Attempted& a, const Continue& d, const View& view) {
  if (a.holds.lent || a.told_to_stop || d.epoch != a.talk.last_epoch) return;
  a.talk.slices = view.tasks.at(static_cast<std::size_t>(d.task)).slices;
  if (a.talk.gated) {  // it has moved since it reported
    a.talk.gated = false;
    if (std::exchange(a.talk.begin_due, false)) tell(a, begin_line(a.talk, steady()));
    return;
  }
  if (!a.talk.owes_answer || a.move != Move::none) return;
  const bool renew =
      a.life->walltime_near(steady()) && a.talk.keeps_checkpoints && d.epoch < a.talk.begin.epochs;
  if (renew) {
    note(a.task, "its time on Slurm is nearly up: it goes on from its checkpoint in another job");
    a.move = Move::renewed;
    a.kill_at = steady() + options_.grace;
  }
  tell(a, answer(a.talk, renew, steady()));
}

void SlurmWorld::stop(Attempted& a) {
  if (a.told_to_stop) return;
  a.told_to_stop = true;
  if (!a.life) return finish(a.task, TaskEnded{a.task, a.number, {}});
  if (a.life->stage() != Stage::running) return a.life->cancel("it is to be stopped");
  a.kill_at = steady() + (a.talk.complete() ? std::max(a.talk.stall_after, options_.grace) : options_.grace);
  a.interrupted = !a.talk.owes_answer;
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
  while (events_.empty() && !interrupted && steady() < until);
  return events_.take();
}

// Sleeps until there is something to do, and does it. True: `interrupt` was called.
bool SlurmWorld::look(Seconds at_most) {
  std::array<pollfd, 3> on{{{wake_.get(), POLLIN, 0},
                            {commands_.descriptor(), POLLIN, 0},
                            {links_ ? links_->descriptor() : -1, POLLIN, 0}}};
  const double sleep = events_.empty() ? until_next(at_most).value : 0;
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
    if (a.talk.stall_at && moment >= *a.talk.stall_at && !a.told_to_stop && a.move == Move::none &&
        !a.talk.gated)
      make_fail(a, Failure::stalled, stalled(a.talk));
  }
  events_.wake(now());
  held_ = space_->full(moment);
  if (held_) end_for_space();
}

void SlurmWorld::end_for_space() {
  for (auto& [task, attempt] : attempts_)
    if (!attempt->verdict) make_fail(*attempt, Failure::no_space, space_->why());
}

void SlurmWorld::out_of_space() {
  space_->is_full(steady());
  held_ = true;
  end_for_space();
}

Seconds SlurmWorld::until_next(Seconds at_most) {
  const Seconds moment = steady();
  Seconds wait = std::min(at_most, commands_.until_limit());
  auto not_after = [&](const std::optional<Seconds>& at) {
    if (at) wait = std::min(wait, *at - moment);
  };
  for (const auto& [task, a] : attempts_) {
    not_after(a->kill_at);
    not_after(a->cancel_at);
    not_after(a->talk.stall_at);
    for (const auto& follower : a->followers)
      if (a->exit && follower.over_at && *follower.over_at > moment) not_after(follower.over_at);
    if (a->life && a->life->wants_record()) wait = std::min(wait, Seconds{0.5});
  }
  if (!queue_asked_ && (!attempts_.empty() || !pilots_.empty())) not_after(next_queue_);
  if (!nodes_asked_ && links_) not_after(next_nodes_);
  if (const auto wake = events_.next_wake()) wait = std::min(wait, *wake - now());
  return std::max(wait, Seconds{0});
}

// ---- small things ----

Attempted* SlurmWorld::find(TaskId task, Attempt attempt) {
  auto found = attempts_.find(task);
  return found != attempts_.end() && found->second->number == attempt ? found->second.get() : nullptr;
}

Attempted* SlurmWorld::find(const std::string& mark) {
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
  events_.happened(now(), std::move(body));
}

void SlurmWorld::note(TaskId task, const std::string& line) {
  runtime::note(output_file(task), task, line);
}

}  // namespace tandem::slurm
