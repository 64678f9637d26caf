// The Slurm world: what agents say, and what the end of a job means for its attempt.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "runtime/common/clock.h"
#include "runtime/common/task_files.h"
#include "runtime/slurm/world.h"

namespace tandem::slurm {
namespace {

using runtime::steady;

// What an attempt comes to that was not told to stop.
runtime::Judgement judge_record(const ExitRecord& r, const runtime::Conversation& talk) {
  if (!r.could_not_start.empty()) return {false, Failure::could_not_start, r.could_not_start};
  if (r.lost_tandem) return {false, Failure::lost, "its node lost the connection to Tandem"};
  if (r.asked_by_slurm)
    return {false, Failure::killed,
            fmt::format("Slurm ended job {}: scancel, preemption or its time limit", r.job)};
  return judge(runtime::Exit{r.signalled, r.status, r.out_of_memory, talk.begin.system.memory}, talk);
}

}  // namespace

runtime::Judgement judge(const Ended& ended, const runtime::Conversation& talk) {
  switch (ended.end) {
    case End::exited:
      return judge_record(*ended.record, talk);
    case End::refused:
    case End::failed:
      return {false, ended.ran ? Failure::killed : Failure::could_not_start, ended.detail};
    case End::cancelled:
      return {false, Failure::killed, ended.detail};
    case End::timed_out:
      return {false, Failure::killed, ended.detail + "; raise slurm.time, or make checkpoints more often"};
    case End::out_of_memory:
      return {false, Failure::out_of_memory, ended.detail + "; raise system.memory"};
    case End::node_failed:
    case End::lost:
      return {false, Failure::lost, ended.detail};
  }
  return {};
}

// ---- what agents say ----

void SlurmWorld::heard(const std::string& mark, const FromAgent& message) {
  if (const auto parsed = parse_mark(mark); parsed && parsed->attempt == 0)
    return heard_pilot(*parsed, message);
  const auto [of_submission, rank] = split_rank(mark);
  Attempted* a = find(of_submission);
  if (!a || !a->life) return;
  if (rank > 0) return heard_follower(*a, rank, message);
  if (const auto* join = std::get_if<Join>(&message))
    joined(*a, *join);
  else if (const auto* line = std::get_if<Said>(&message))
    said(*a, line->line);
  else if (const auto* broke = std::get_if<Broke>(&message))
    make_fail(*a, Failure::bad_report, broke->why);
  else if (const auto* drew = std::get_if<Drew>(&message))
    a->drew = drew->joules;
  else if (const auto* exited = std::get_if<Exited>(&message))
    rank_0_exited(*a, exited->record);
}

void SlurmWorld::left(const std::string& mark) {
  if (const auto parsed = parse_mark(mark); parsed && parsed->attempt == 0) return pilot_left(*parsed);
  const auto [of_submission, rank] = split_rank(mark);
  Attempted* a = find(of_submission);
  if (!a || !a->life) return;
  if (rank > 0) return follower_left(*a, rank);
  if (!a->exit) a->life->left(steady());
}

void SlurmWorld::joined(Attempted& a, const Join& join) {
  if (a.told_to_stop || a.verdict || a.move != Move::none || a.life->wants_cancel()) {
    forget(a);  // too late: nothing of it has run
    return;
  }
  a.life->joined(steady());
  a.join = join;
  begin_together(a);
}

// Its programs begin, once all of them can.
void SlurmWorld::begin_together(Attempted& a) {
  const bool all =
      std::all_of(a.followers.begin(), a.followers.end(), [](const Follower& f) { return f.joined; });
  if (!a.join || !all) return;
  const Join join = *std::exchange(a.join, std::nullopt);
  a.let_go = true;
  for (const auto& mark : marks_of(a)) links_->send(mark, Go{join.port});
  a.began = steady();
  begun(a.talk, a.began);
  if (!std::exchange(a.started, true))
    happened(TaskStarted{a.task, a.number, a.start_decision, join.pid, join.pid_started, join.cpus});
  if (a.resize)
    happened(SystemChanged{a.task, a.number, *std::exchange(a.resize, std::nullopt), a.granted()});
}

void SlurmWorld::said(Attempted& a, const std::string& line) {
  if (a.verdict) return;
  try {
    runtime::Heard heard = hear(a.talk, line, steady());
    if (heard.fails) make_fail(a, heard.fails->first, heard.fails->second);
    if (heard.wants_begin) tell(a, begin_line(a.talk, steady()));
    if (heard.slice) happened(std::move(*heard.slice));
    if (heard.checkpoint) happened(*heard.checkpoint);
    if (!heard.warning.empty()) note(a.task, heard.warning);
    if (heard.epoch) {
      heard.epoch->energy = energy_since_last(a);
      happened(std::move(*heard.epoch));
      if (a.told_to_stop || a.move != Move::none) {  // it was at work when it was asked to end
        a.talk.gated = a.move != Move::none;
        tell(a, answer(a.talk, true, steady()));
      }
    }
    if (heard.past_the_end.empty()) return;
    note(a.task, heard.past_the_end);
    if (a.talk.plain)
      tell(a, answer(a.talk, false, steady()));
    else
      stop(a);
  } catch (const protocol::ProtocolError& e) {
    if (!a.verdict) a.verdict.emplace(Failure::bad_report, e.what());
    a.talk.stall_at.reset();
    tell(a, runtime::refusal(e.what()));
    a.kill_at = steady() + runtime::kLastWords;
  }
}

std::optional<Energy> SlurmWorld::energy_since_last(Attempted& a) {
  if (!a.drew) return std::nullopt;
  return Energy{Joules{*a.drew - std::exchange(a.drew_counted, *a.drew)}, "slurm"};
}

// One that cannot be told is gone; its life says so.
void SlurmWorld::tell(Attempted& a, const std::string& line) {
  links_->send(text(mark_of(a)), Tell{line});
}

void SlurmWorld::make_fail(Attempted& a, Failure failure, const std::string& why) {
  if (!a.verdict) a.verdict.emplace(failure, why);
  a.talk.stall_at.reset();
  if (!a.life) return;
  if (!signal(a, SIGKILL)) a.life->cancel(why);
}

// ---- how it ends ----

// A job has ended: the attempt goes on in another one, or has ended with it.
void SlurmWorld::over(Attempted& a) {
  const Ended ended = *a.life->ended();
  const bool time_was_up = ended.end == End::timed_out ||
                           (ended.record && ended.record->asked_by_slurm && a.life->time_is_up(steady()));
  const std::string mark = text(mark_of(a));
  forget(a);
  if (ended.ran) short_in_a_row_ = steady() - a.began < options_.short_task ? short_in_a_row_ + 1 : 0;
  if (a.in_pilot)
    leave_pilot(a, ended.record.has_value());
  else if (ended.record)
    done_.insert(mark);
  else if (a.life->listed())
    to_cancel_.insert(*a.life->job());
  a.life.reset();
  a.kill_at.reset();
  a.talk.stall_at.reset();
  a.cancel_at.reset();
  const Move move = std::exchange(a.move, Move::none);
  if (a.told_to_stop) {
    TaskEnded last{a.task, a.number, energy_since_last(a)};
    runtime::Judgement after{.well = true};
    if (a.talk.complete() && ended.record && !a.interrupted && !a.verdict) after = judge(ended, a.talk);
    if (!after.well) {
      last.failure = after.failure, last.detail = after.detail;
      last.last_output = runtime::tail_of(output_file(a.task), static_cast<off_t>(a.output_from));
    }
    return finish(a.task, std::move(last));
  }
  if (a.verdict) return fail(a, a.verdict->first, a.verdict->second);
  if (move == Move::parked && a.holds.lent) return;  // until it is given cores again
  if (move != Move::none || (ended.end == End::refused && a.submit_unsure)) return submit(a);
  if (time_was_up && a.talk.keeps_checkpoints && a.talk.last_epoch > a.epoch_at_submit) return submit(a);
  if (ended.end == End::refused && a.resize) return back_to_former_size(a, ended.detail);
  if (ended.end == End::refused && !a.started) {
    const auto decision = a.start_decision;
    return finish(a.task, DecisionRefused{decision, "Slurm does not take it: " + ended.detail});
  }
  const auto judgement = judge(ended, a.talk);
  if (judgement.well) return finish(a.task, TaskEnded{a.task, a.number, energy_since_last(a)});
  fail(a, judgement.failure, judgement.detail);
}

void SlurmWorld::back_to_former_size(Attempted& a, const std::string& why) {
  refuse(*std::exchange(a.resize, std::nullopt), "Slurm does not take it: " + why);
  ledger_.undo(a.holds, a.before_resize);
  a.talk.begin.system = a.granted();
  if (!a.holds.lent) submit(a);  // one that was held is held again
}

void SlurmWorld::fail(Attempted& a, Failure failure, const std::string& detail) {
  finish(a.task, TaskFailed{a.task, a.number, failure, detail,
                            runtime::tail_of(output_file(a.task), static_cast<off_t>(a.output_from)),
                            energy_since_last(a)});
}

void SlurmWorld::finish(TaskId task, EventBody last) {
  const auto node = attempts_.extract(task);
  ledger_.end(node.mapped()->holds);
  happened(std::move(last));
}

void SlurmWorld::settle() {
  std::vector<TaskId> ended;
  for (const auto& [task, a] : attempts_)
    if (a->life && a->life->ended()) ended.push_back(task);
  for (TaskId task : ended) over(*attempts_.at(task));
}

}  // namespace tandem::slurm
