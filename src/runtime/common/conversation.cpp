#include "runtime/common/conversation.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.h"

namespace tandem::runtime {
namespace {

using protocol::ProtocolError;

Attempt attempt_of(const Conversation& talk) {
  return static_cast<Attempt>(talk.begin.attempt);
}

std::int64_t number_of(const Conversation& talk, const protocol::Epoch& report) {
  const std::int64_t next = talk.last_epoch + 1;
  if (!report.number || *report.number == next) return next;
  // A program that keeps its own state without saying hello may go on where it ended last.
  if (talk.first_report && *report.number == talk.counted_before + 1) return *report.number;
  throw ProtocolError(fmt::format("it reported epoch {}, but epoch {} is next", *report.number, next));
}

// A number that was computed otherwise than the spec says would be taken for what it is not.
std::optional<std::pair<Failure, std::string>> lacks_precision(const Conversation& talk) {
  const Precision wanted = talk.begin.system.precision;
  if (wanted == Precision::own || talk.sets_precision) return std::nullopt;
  return std::pair(
      Failure::bad_report,
      fmt::format("it is to compute in {} (system.precision), and does not say that it can change that "
                  "(can: [\"precision\"] in its hello, docs/protocol.md); leave system.precision out",
                  name(wanted)));
}

std::pair<Failure, std::string> cannot_be_a_clone() {
  return {Failure::could_not_start,
          "it was to go on from another trial's checkpoint but has none: population-based training needs a "
          "program that keeps checkpoints (docs/protocol.md)"};
}

Heard hear_hello(Conversation& talk, const protocol::Hello& hello) {
  // Its answer would be counted from the start again, over what this process reported.
  if (talk.said_hello || !talk.first_report)
    throw ProtocolError(
        "it said hello again: a program says it once, before its first report; if its command runs two "
        "programs that report, make them two jobs");
  talk.said_hello = true;
  talk.keeps_checkpoints = hello.durable_epoch.has_value();
  talk.sets_precision = std::count(hello.can.begin(), hello.can.end(), "precision") > 0;
  if (auto why = lacks_precision(talk)) return {.fails = std::move(why)};
  // Without a checkpoint to go on from, it starts over and its new epochs supersede the old.
  talk.last_epoch = talk.begin.reported = hello.durable_epoch.value_or(0) > 0 ? talk.counted_before : 0;
  if (hello.durable_epoch.value_or(0) < talk.cloned_at) return {.fails = cannot_be_a_clone()};
  talk.begin_due = talk.gated;
  return {.wants_begin = !talk.gated};
}

std::optional<std::pair<Failure, std::string>> bad_objective(const Conversation& talk,
                                                             const protocol::Epoch& report) {
  for (const auto& name : talk.objectives)
    if (const auto found = report.metrics.find(name);
        found != report.metrics.end() && !std::isfinite(found->second))
      return std::pair(Failure::bad_report, fmt::format("metric '{}', which is an objective, is {}", name,
                                                        std::isnan(found->second) ? "NaN" : "infinite"));
  return std::nullopt;
}

// Those that are no numbers are kept by name; a warning for each that was none for the first time.
std::string take_metrics(Conversation& talk, const protocol::Epoch& report, EpochEnded& ended) {
  std::string warning;
  for (const auto& [name, value] : report.metrics) {
    if (std::isfinite(value)) {
      ended.metrics.emplace(name, value);
      continue;
    }
    ended.not_finite.push_back(name);
    if (talk.not_finite.insert(name).second)
      warning += fmt::format("{}metric '{}' is {} in epoch {}: kept as null, and not said again",
                             warning.empty() ? "" : "; ", printable_line(name),
                             std::isnan(value) ? "NaN" : "infinite", ended.epoch);
  }
  return warning;
}

Heard hear_epoch(Conversation& talk, const protocol::Epoch& report, Seconds now) {
  const auto epoch = number_of(talk, report);
  if (talk.owes_answer) throw ProtocolError("it reported again without waiting for the answer");
  if (auto why = lacks_precision(talk)) return {.fails = std::move(why)};
  if (talk.cloned_at > 0 && !talk.said_hello) return {.fails = cannot_be_a_clone()};
  if (auto why = bad_objective(talk, report)) return {.fails = std::move(why)};
  talk.owes_answer = true;
  talk.first_report = false;
  talk.stall_at.reset();
  if (talk.plain) return {.past_the_end = "a plain command reported an epoch, which is not counted"};
  if (epoch > talk.begin.epochs)
    return {.past_the_end = fmt::format("epoch {} was reported but not counted: the job has {} epochs", epoch,
                                        talk.begin.epochs)};
  talk.last_epoch = epoch;
  EpochEnded ended;
  ended.task = talk.task;
  ended.attempt = attempt_of(talk);
  ended.epoch = epoch;
  ended.seconds = now - talk.stretch_from;
  ended.startup = std::exchange(talk.startup, Seconds{});
  // Its `ready` may have waited to be read; the epoch began when it was said.
  if (report.since_ready)
    ended.startup = std::clamp(ended.seconds - *report.since_ready, Seconds{}, ended.startup);
  ended.hyper_read = report.hyper_read;
  std::string warning = take_metrics(talk, report, ended);
  return {.epoch = std::move(ended), .warning = std::move(warning), .loaded = report.loaded};
}

Heard slice_of(Conversation& talk, double share, Seconds now) {
  if (!talk.slices || now - talk.settling_from < talk.lengths.settling) return {};
  SliceEnded ended;
  ended.task = talk.task;
  ended.attempt = attempt_of(talk);
  if (!talk.slice) {
    ended.seconds = now - talk.settling_from;
  } else {
    ended.share = share - talk.slice->from_share;
    ended.seconds = now - talk.slice->from;
    if (ended.seconds < talk.lengths.slice || !(ended.share > 0)) return {};
  }
  talk.slice = {share, now};
  return {.slice = std::move(ended)};
}

Heard hear_progress(Conversation& talk, double share, Seconds now) {
  if (talk.owes_answer) throw ProtocolError("it spoke of progress while it waits for an answer");
  if (share < talk.progress)
    throw ProtocolError(
        fmt::format("its progress went back from {} to {} within an epoch", talk.progress, share));
  talk.progress = share;
  talk.stall_at = now + talk.stall_after;
  return slice_of(talk, share, now);
}

Heard hear_ready(Conversation& talk, Seconds now) {
  if (!talk.first_report) return {};
  talk.startup = now - talk.stretch_from;
  return {.ready = true};
}

Heard hear_checkpoint(Conversation& talk, std::int64_t epoch) {
  if (!talk.checkpoint_asked) return {};
  const auto decision = *std::exchange(talk.checkpoint_asked, std::nullopt);
  return {.checkpoint = CheckpointTaken{talk.task, attempt_of(talk), decision, epoch}};
}

}  // namespace

Conversation begin_conversation(const std::string& run, const Start& start, const TaskView& task,
                                const spec::TrainJob& job, const std::string& folder) {
  Conversation talk;
  talk.task = start.task;
  talk.plain = job.program.plain || job.epochs == 0;  // none to report
  talk.counted_before = task.reported();
  talk.slices = task.slices;
  if (task.trial) talk.cloned_at = task.trial->clone_epoch;
  talk.stall_after = talk.plain ? Seconds{std::numeric_limits<double>::infinity()} : job.limits.stall;
  talk.begin = {.task = fmt::format("run {}, task {}", run, start.task),
                .attempt = start.attempt,
                .epochs = job.epochs,
                .seed = job.seed,
                .folder = folder,
                .keep_checkpoints = job.keep_checkpoints,
                .hyper = spec::in_groups(job.hyper, job.groups),
                .system = start.granted,
                .drop = start.drop,
                .cloned = talk.cloned_at > 0};
  return talk;
}

std::vector<std::string> objectives_of(const View& view, const TaskView& task) {
  std::vector<std::string> out;
  if (const auto* tune = view.jobs[static_cast<std::size_t>(task.job)].as<spec::TuneJob>())
    for (const auto& goal : tune->objective.goals) out.push_back(goal.metric);
  return out;
}

void begun(Conversation& talk, Seconds now) {
  talk.stretch_from = now;
  talk.stall_at = now + talk.stall_after;
  settle(talk, now);
}

void resized(Conversation& talk, const Resources& granted) {
  talk.begin.system = granted;
  talk.news = granted;
}

void begin_again(Conversation& talk, Seconds now) {
  talk.counted_before = std::max(talk.counted_before, talk.last_epoch);
  talk.first_report = true;
  talk.said_hello = talk.owes_answer = talk.begin_due = false;
  talk.startup = {};
  talk.stretch_from = now;
  talk.stall_at.reset();
  talk.progress = 0;
  talk.news.reset();  // Begin says it
}

namespace {

// Reports need no such limit: each waits for its answer.
void count_line(Conversation& talk, Seconds now) {
  if (now - talk.lines_from > kLinesWithin) {
    talk.lines_from = now;
    talk.lines = 0;
  }
  if (++talk.lines > kMostLines)
    throw ProtocolError(
        fmt::format("it sent more than {} lines within {} that report no epoch; tell of progress less often",
                    kMostLines, text(kLinesWithin)));
}

}  // namespace

Heard hear(Conversation& talk, const std::string& line, Seconds now) {
  const auto message = protocol::parse_from_program(line);
  if (!std::holds_alternative<protocol::Epoch>(message)) count_line(talk, now);
  if (const auto* hello = std::get_if<protocol::Hello>(&message)) return hear_hello(talk, *hello);
  if (const auto* report = std::get_if<protocol::Epoch>(&message)) return hear_epoch(talk, *report, now);
  if (const auto* part = std::get_if<protocol::Progress>(&message))
    return hear_progress(talk, part->share, now);
  if (std::holds_alternative<protocol::Ready>(message)) return hear_ready(talk, now);
  return hear_checkpoint(talk, std::get<protocol::Checkpointed>(message).epoch);
}

std::string begin_line(Conversation& talk, Seconds now) {
  talk.stall_at = now + talk.stall_after;
  return protocol::line(protocol::FromTandem(talk.begin));
}

std::string answer(Conversation& talk, bool stop, Seconds now) {
  talk.owes_answer = false;
  talk.stretch_from = now;
  talk.stall_at = stop ? std::nullopt : std::optional(now + talk.stall_after);
  talk.progress = 0;
  settle(talk, now);
  return protocol::line(
      protocol::FromTandem(protocol::Answer{.stop = stop,
                                            .checkpoint = talk.checkpoint_asked.has_value(),
                                            .system = std::exchange(talk.news, std::nullopt),
                                            .epoch = talk.last_epoch}));
}

std::string refusal(const std::string& reason) {
  return protocol::line(protocol::FromTandem(protocol::Refusal{reason}));
}

void settle(Conversation& talk, Seconds now) {
  talk.slice.reset();
  talk.settling_from = now;
}

std::string stalled(const Conversation& talk) {
  return fmt::format("no report for {}; raise limits.stall if its epochs are that long",
                     text(talk.stall_after));
}

Judgement judge(const Exit& exit) {
  if (!exit.signalled && exit.status == 0) return {.well = true};
  if (exit.out_of_memory > 0)
    return {
        false, Failure::out_of_memory,
        fmt::format("it needed more than its memory limit{}; raise system.memory, or make batches smaller",
                    exit.memory_limit > 0 ? " of " + text_bytes(exit.memory_limit) : "")};
  if (exit.signalled)
    return {false, Failure::killed,
            fmt::format("ended by signal {} ({})", exit.status, ::strsignal(exit.status))};
  return {false, Failure::crashed, fmt::format("exit status {}", exit.status)};
}

Judgement judge(const Exit& exit, const Conversation& talk) {
  Judgement out = judge(exit);
  // A script that ends with `tandem tell` ends with its answer: no more epochs.
  if (talk.complete() && !talk.owes_answer && out.failure == Failure::crashed &&
      exit.status == protocol::kToldToStop)
    return {.well = true};
  if (out.well && !talk.plain && !talk.reported_any())
    return {false, Failure::silent,
            "it exited without having reported an epoch; does it call tandem.report() or `tandem tell`?"};
  return out;
}

}  // namespace tandem::runtime
