// Pilots of the Slurm world: where tasks are short, they run as steps of one long job a node.
//
// A pilot asks for all that is free of its node when it is made. A task that fits into it becomes a step; its
// agent joins, reports and leaves a record as in a job of its own, so that only three things differ: the
// pilot is told to start it, the pilot says when srun has ended, and the end of the pilot is the end of its
// steps. A task that fits nowhere beside the pilot retires it: it takes no new ones, and ends with its last.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "base/text.h"
#include "runtime/common/clock.h"
#include "runtime/slurm/gpus.h"
#include "runtime/slurm/world.h"

namespace tandem::slurm {
namespace {

using runtime::steady;

constexpr int kShortEnough = 3;    // in a row
constexpr Seconds kNoPilots{300};  // after one that could not be started

bool has(const Resources& room, const Resources& asked) {
  return asked.cores <= room.cores && asked.memory <= room.memory && gpus_of(asked) <= gpus_of(room);
}

Resources minus(const Resources& from, const Resources& what) {
  return with_gpus(Resources{from.cores - what.cores, from.memory - what.memory, 1.0},
                   gpus_of(from) - gpus_of(what));
}

Resources plus(const Resources& one, const Resources& other) {
  return minus(one, minus(minus(other, other), other));
}

// What the end of a pilot says about its steps.
JobPhase phase_of_steps(const Ended& ended) {
  switch (ended.end) {
    case End::node_failed:
    case End::lost:
      return JobPhase::node_failed;
    case End::timed_out:
      return JobPhase::timed_out;
    case End::out_of_memory:
      return JobPhase::out_of_memory;
    case End::cancelled:
      return JobPhase::cancelled;
    case End::exited:
      return ended.record->asked_by_slurm ? JobPhase::cancelled : JobPhase::failed;
    default:
      return JobPhase::failed;
  }
}

}  // namespace

Mark SlurmWorld::mark_of_pilot(NodeId node, int number) const {
  return {options_.run, node, 0, number};  // attempts count from 1
}

// What Slurm is asked for: as `granted`, but its share of the node's memory where it has no limit.
Resources SlurmWorld::asked_for(const Attempted& a) const {
  Resources asked = a.granted();
  const auto& capacity = nodes_.at(static_cast<std::size_t>(a.node())).capacity;
  // Slurm counts whole MiB: shares are rounded down, so that all fit; what was granted is given.
  if (asked.memory == 0)
    asked.memory = capacity.memory / std::max(1, capacity.cores) * asked.cores / kMiB * kMiB;
  else
    asked.memory = (asked.memory + kMiB - 1) / kMiB * kMiB;
  return asked;
}

// What no job and no pilot of ours holds of the node.
Resources SlurmWorld::room_outside(const Attempted& but, NodeId node) const {
  Resources room = nodes_.at(static_cast<std::size_t>(node)).capacity;
  if (const auto pilot = pilots_.find(node); pilot != pilots_.end()) room = minus(room, pilot->second.size);
  for (const auto& [task, a] : attempts_) {
    const auto& on = a->nodes;
    const bool there = std::find(on.begin(), on.end(), node) != on.end();
    if (a.get() != &but && there && a->life && !a->in_pilot) room = minus(room, a->asked);
  }
  return room;
}

// A gang is a job of its own: a pilot in its way takes no new tasks, and ends with its last.
void SlurmWorld::make_room_for_gang(const Attempted& a) {
  for (const NodeId node : a.nodes)
    if (const auto pilot = pilots_.find(node); pilot != pilots_.end() && !has(room_outside(a, node), a.asked))
      pilot->second.retired = true;
}

// One that takes the task, made if that is worth it; null: the task shall be a job of its own.
SlurmWorld::Pilot* SlurmWorld::pilot_for(const Attempted& a) {
  if (a.gang()) {
    make_room_for_gang(a);
    return nullptr;
  }
  const auto found = pilots_.find(a.node());
  const Resources outside = room_outside(a, a.node());
  if (found != pilots_.end()) {
    Pilot& pilot = found->second;
    if (pilot.retired) return nullptr;
    // Where there is room nowhere now, a step of the pilot is about to end: srun waits for that.
    if (has(pilot.free, a.asked) || (has(pilot.size, a.asked) && !has(outside, a.asked))) return &pilot;
    if (!has(outside, a.asked)) pilot.retired = true;
    return nullptr;
  }
  const bool worth_it = options_.pilots == Pilots::always ||
                        (options_.pilots == Pilots::when_short && short_in_a_row_ >= kShortEnough);
  // What every task gets by the site's `gres` cannot be dealt out again.
  const bool possible =
      options_.site.gres.empty() && steady() >= nodes_.at(static_cast<std::size_t>(a.node())).pilots_from;
  return worth_it && possible && has(outside, a.asked) ? start_pilot(a.node(), outside) : nullptr;
}

SlurmWorld::Pilot* SlurmWorld::start_pilot(NodeId node, const Resources& size) {
  int number = 1;  // never one that an earlier Tandem has used
  while (std::filesystem::exists(job_file(mark_of_pilot(node, number), "ticket.json"))) ++number;
  const Mark mark = mark_of_pilot(node, number);
  Ticket ticket = blank_ticket(mark);
  const auto output = job_file(mark, "log");
  ticket.command = {"pilot"};
  ticket.output = output;
  write_whole(job_file(mark, "ticket.json"), text(ticket));
  const Submission s{.mark = mark,
                     .node = nodes_.at(static_cast<std::size_t>(node)).name,
                     .granted = size,
                     .script = options_.folder / "slurm/run-agent.sh",
                     .output = output,
                     .working_folder = std::filesystem::current_path(),
                     .command = {options_.agent, "--pilot", job_file(mark, "ticket.json").string()}};
  commands_.run(sbatch(options_.site, s), kCommandLimit, [this, mark](const CommandResult& result) {
    const auto found = pilots_.find(static_cast<NodeId>(mark.task));
    if (found != pilots_.end() && found->second.number == mark.submission) told(found->second.life, result);
  });
  Pilot pilot{
      .number = number, .life = Life(options_.life), .size = size, .free = size, .idle_from = steady()};
  next_queue_ = std::min(next_queue_, steady() + options_.poll);
  return &pilots_.insert_or_assign(node, std::move(pilot)).first->second;
}

void SlurmWorld::join_pilot(Attempted& a, Pilot& pilot) {
  a.in_pilot = true;
  a.step_sent = false;
  pilot.free = minus(pilot.free, a.asked);
  if (pilot.life.stage() == Stage::running) run_step(a, pilot);
}

void SlurmWorld::run_step(Attempted& a, Pilot& pilot) {
  a.step_sent = true;
  a.life->accepted(pilot.life.job().value_or(0), steady());
  try {
    const RunStep step{text(mark_of(a)), srun(options_.site, submission_for(a))};
    links_->send(text(mark_of_pilot(a.node(), pilot.number)), step);  // if it is gone, its life says so
  } catch (const std::exception& e) {
    a.life->refused(e.what());
  }
}

// Its step is over, or shall be.
void SlurmWorld::leave_pilot(Attempted& a, bool recorded) {
  a.in_pilot = false;
  const auto found = pilots_.find(a.node());
  if (found == pilots_.end()) return;
  Pilot& pilot = found->second;
  pilot.free = plus(pilot.free, a.asked);
  pilot.idle_from = steady();
  if (a.step_sent && !recorded)
    links_->send(text(mark_of_pilot(a.node(), pilot.number)), EndStep{text(mark_of(a))});
}

// ---- what pilots say, and how they end ----

void SlurmWorld::heard_pilot(const Mark& mark, const FromAgent& message) {
  const auto found = pilots_.find(static_cast<NodeId>(mark.task));
  if (found == pilots_.end() || found->second.number != mark.submission) return;
  Pilot& pilot = found->second;
  if (const auto* join = std::get_if<Join>(&message)) {
    pilot.life.accepted(join->job, steady());
    pilot.life.joined(steady());
    for (auto& [task, a] : attempts_)
      if (a->node() == found->first && a->in_pilot && !a->step_sent && a->life) run_step(*a, pilot);
  } else if (const auto* exited = std::get_if<Exited>(&message)) {
    pilot.life.recorded(exited->record);
  } else if (const auto* ended = std::get_if<StepEnded>(&message)) {
    Attempted* a = find(ended->mark);
    if (!a || !a->life || !a->in_pilot) return;
    if (ended->status != 0 && !a->life->ever_joined()) pilot.retired = true;  // it starts no steps (any more)
    step_is_over(*a, ended->status == 0 ? JobPhase::completed : JobPhase::failed,
                 fmt::format("srun ended with status {}", ended->status));
  }
}

// As if Slurm had listed it so. One that had not begun is tried again outside the pilot.
void SlurmWorld::step_is_over(Attempted& a, JobPhase phase, const std::string& why) {
  if (!a.life->ever_joined() && !a.life->cancel_asked()) {
    note(a.task, why + " before it had begun: it is started again");
    links_->forget(text(mark_of(a)));
    leave_pilot(a, true);
    return submit(a);
  }
  const QueuedJob job{a.life->job().value_or(0), phase, why, "", "", {}, text(mark_of(a))};
  a.life->queue_says(&job, steady(), steady());
}

void SlurmWorld::pilot_left(const Mark& mark) {
  const auto found = pilots_.find(static_cast<NodeId>(mark.task));
  if (found == pilots_.end() || found->second.number != mark.submission) return;
  found->second.life.left(steady());
  found->second.retired = true;
}

void SlurmWorld::look_after_pilots() {
  std::vector<NodeId> over;
  for (auto& [node, pilot] : pilots_) {
    pilot.life.tick(steady());
    if (pilot.life.ended()) {
      over.push_back(node);
      continue;
    }
    if (pilot.life.walltime_near(steady())) pilot.retired = true;
    const bool used = look_after_steps(node, pilot);
    if (used) pilot.idle_from = steady();
    if (used || pilot.ending) continue;
    if (!pilot.retired && steady() - pilot.idle_from < options_.pilot_idle) continue;
    pilot.ending = pilot.retired = true;
    if (!links_->send(text(mark_of_pilot(node, pilot.number)), Signal{SIGTERM}))
      pilot.life.cancel("no task needs it any more");
  }
  for (NodeId node : over) pilot_over(node);
}

// True: there are some.
bool SlurmWorld::look_after_steps(NodeId node, const Pilot& pilot) {
  bool any = false;
  for (auto& [task, a] : attempts_) {
    if (a->node() != node || !a->in_pilot || !a->life) continue;
    any = true;
    a->life->limited_by(pilot.life);
    if (!a->step_sent && a->life->cancel_asked()) a->life->refused("it was cancelled before it began");
  }
  return any;
}

// Steps that had begun end with it.
void SlurmWorld::pilot_over(NodeId node) {
  const auto entry = pilots_.extract(node);
  const Pilot& pilot = entry.mapped();
  const Ended& ended = *pilot.life.ended();
  const std::string mark = text(mark_of_pilot(node, pilot.number));
  links_->forget(mark);
  if (ended.record)
    done_.insert(mark);
  else if (pilot.life.listed())
    to_cancel_.insert(*pilot.life.job());
  if (!ended.ran) nodes_.at(static_cast<std::size_t>(node)).pilots_from = steady() + kNoPilots;
  for (auto& [task, a] : attempts_) {
    if (a->node() != node || !a->in_pilot || !a->life || a->life->ended()) continue;
    step_is_over(*a, phase_of_steps(ended),
                 fmt::format("its pilot ended ({} {})", name(ended.end), ended.detail));
  }
}

}  // namespace tandem::slurm
