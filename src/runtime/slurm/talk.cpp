#include "runtime/slurm/talk.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <utility>

namespace tandem::slurm {
namespace {

using protocol::ProtocolError;

std::int64_t number_of(const Talk& talk, const protocol::Epoch& report) {
  const std::int64_t next = talk.last_epoch + 1;
  if (!report.number || *report.number == next) return next;
  // A program that keeps its own state without saying hello may go on where it ended last.
  if (talk.first_report && *report.number == talk.counted_before + 1) return *report.number;
  throw ProtocolError(fmt::format("it reported epoch {}, but epoch {} is next", *report.number, next));
}

Heard hear_hello(Talk& talk, const protocol::Hello& hello) {
  talk.said_hello = true;
  talk.keeps_checkpoints = hello.durable_epoch.has_value();
  // Without a checkpoint to go on from, it starts over and its new epochs supersede the old.
  talk.last_epoch = talk.begin.reported = hello.durable_epoch.value_or(0) > 0 ? talk.counted_before : 0;
  if (hello.durable_epoch.value_or(0) < talk.cloned_at)
    return {
        .cannot_begin =
            "it was to go on from another trial's checkpoint but has none: population-based training needs a "
            "program that keeps checkpoints (docs/protocol.md)"};
  talk.begin_due = talk.gated;
  return {.wants_begin = !talk.gated};
}

Heard hear_epoch(Talk& talk, const protocol::Epoch& report, Seconds now) {
  const auto epoch = number_of(talk, report);
  if (talk.owes_answer) throw ProtocolError("it reported again without waiting for the answer");
  talk.owes_answer = true;
  talk.first_report = false;
  if (talk.plain()) return {.past_the_end = "a plain command reported an epoch, which is not counted"};
  if (epoch > talk.begin.epochs)
    return {.past_the_end = fmt::format("epoch {} was reported but not counted: the job has {} epochs", epoch,
                                        talk.begin.epochs)};
  talk.last_epoch = epoch;
  EpochEnded ended;
  ended.epoch = epoch;
  ended.metrics = report.metrics;
  ended.seconds = now - talk.stretch_from;
  ended.startup = std::exchange(talk.startup, Seconds{});
  return {.epoch = std::move(ended)};
}

Judgement judge_record(const ExitRecord& r, const Talk& talk) {
  if (!r.could_not_start.empty()) return {false, Failure::could_not_start, r.could_not_start};
  if (r.lost_tandem) return {false, Failure::lost, "its node lost the connection to Tandem"};
  if (r.asked_by_slurm)
    return {false, Failure::killed,
            fmt::format("Slurm ended job {}: scancel, preemption or its time limit", r.job)};
  if (r.out_of_memory > 0)
    return {false, Failure::out_of_memory, "it needed more than its memory limit; raise system.memory"};
  if (r.signalled)
    return {false, Failure::killed, fmt::format("ended by signal {} ({})", r.status, ::strsignal(r.status))};
  if (r.status != 0) return {false, Failure::crashed, fmt::format("exit status {}", r.status)};
  if (talk.plain()) return {true, {}, ""};
  if (std::max(talk.last_epoch, talk.counted_before) == 0)
    return {false, Failure::silent,
            "it exited without having reported an epoch; does it call tandem.report() or `tandem tell`?"};
  return {true, {}, ""};
}

}  // namespace

void Talk::begin_again(Seconds now) {
  counted_before = std::max(counted_before, last_epoch);
  first_report = true;
  said_hello = owes_answer = begin_due = false;
  startup = {};
  stretch_from = now;
  news.reset();  // Begin says it
}

Heard hear(Talk& talk, const std::string& line, Seconds now) {
  const auto message = protocol::parse_from_program(line);
  if (const auto* hello = std::get_if<protocol::Hello>(&message)) return hear_hello(talk, *hello);
  if (const auto* report = std::get_if<protocol::Epoch>(&message)) return hear_epoch(talk, *report, now);
  if (std::holds_alternative<protocol::Ready>(message) && talk.first_report)
    talk.startup = now - talk.stretch_from;
  if (const auto* taken = std::get_if<protocol::Checkpointed>(&message))
    if (talk.checkpoint_asked) return {.checkpoint = taken->epoch};
  return {};
}

std::string answer(Talk& talk, bool stop, Seconds now) {
  talk.owes_answer = false;
  talk.stretch_from = now;
  return protocol::line(
      protocol::FromTandem(protocol::Answer{.stop = stop,
                                            .checkpoint = talk.checkpoint_asked.has_value(),
                                            .system = std::exchange(talk.news, std::nullopt),
                                            .epoch = talk.last_epoch}));
}

Judgement judge(const Ended& ended, const Talk& talk) {
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

}  // namespace tandem::slurm
