#include "sim/world/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace tandem::sim {
namespace {

constexpr double kUsualBatch = 32;
constexpr double kQuickest = 0.1;  // of the expected time, however far a draw is off

// The same for every question about this epoch of this attempt; `of` keeps draws for different ends apart.
Random draw(const ProgramRun& run, std::int64_t epoch, std::uint64_t seed, const char* of) {
  const std::uint64_t stream = (static_cast<std::uint64_t>(run.task) << 32) ^
                               (static_cast<std::uint64_t>(run.attempt) << 20) ^
                               static_cast<std::uint64_t>(epoch);
  return Random(seed ^ hash_name(of), stream);
}

double number_or(const std::map<std::string, double>& numbers, const std::string& name, double otherwise) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? otherwise : found->second;
}

}  // namespace

double batch_among(const Values& hyper) {
  for (const char* name : {"batch_size", "batch", "batch-size"})
    if (const auto found = hyper.find(name); found != hyper.end())
      return as_number(found->second).value_or(0);
  return 0;
}

ProgramStart FixedPrograms::start(const ProgramRun& run) {
  ProgramStart start{.startup = startup_};
  if (run.job < 0 || static_cast<std::size_t>(run.job) >= seconds_.size())
    start.cannot_start =
        fmt::format("nothing is known of job {}: the trace has {}", run.job, seconds_.size());
  return start;
}

ProgramEpoch FixedPrograms::epoch(const ProgramRun& run, std::int64_t, bool) {
  ProgramEpoch epoch;
  const auto job = static_cast<std::size_t>(run.job);
  if (run.job >= 0 && job < seconds_.size())
    epoch.seconds.value = seconds_[job] / static_cast<double>(std::max<std::int64_t>(run.epochs, 1));
  return epoch;
}

ProgramStart CurvePrograms::start(const ProgramRun& run) {
  return {.startup = {curve_.startup / number_or(curve_.speed_factor, run.machine, 1)},
          .keeps_checkpoints = curve_.keeps_checkpoints,
          .ending = {curve_.ending}};
}

ProgramEpoch CurvePrograms::epoch(const ProgramRun& run, std::int64_t number, bool first) {
  const double batch = batch_among(run.hyper);
  const double batches = std::ceil(curve_.samples / (batch > 0 ? batch : kUsualBatch));
  const int cores = run.granted.cores * run.nodes;  // a gang's are those of all its nodes
  const double shared = curve_.samples * curve_.seconds_a_sample / cores;
  const double alone = batches * curve_.seconds_a_batch;
  double by =
      (first ? curve_.first : 1) / (run.granted.speed * number_or(curve_.speed_factor, run.machine, 1));
  if (curve_.spread > 0)
    by *= std::max(1 + curve_.spread * draw(run, number, curve_.seed, "spread").normal(), kQuickest);

  ProgramEpoch epoch{.seconds = {by * (shared + alone)}};
  // What is not shared keeps one core busy.
  if (shared + alone > 0) epoch.busy = (shared + alone / cores) / (shared + alone);
  epoch.metrics = curve_.metrics ? curve_.metrics(run.hyper, number)
                                 : Metrics{{"accuracy", 1 - std::exp(-0.3 * static_cast<double>(number))}};
  if (curve_.rates) epoch.rates = curve_.rates(run.hyper, run.granted);
  return epoch;
}

ProgramEpoch FaultyPrograms::epoch(const ProgramRun& run, std::int64_t number, bool first) {
  ProgramEpoch epoch = programs_.epoch(run, number, first);
  Random random = draw(run, number, faults_.seed, "fault");
  const double luck = random.uniform(), where = random.uniform();
  if (luck >= faults_.crash + faults_.kill + faults_.hang) return epoch;
  if (luck >= faults_.crash + faults_.kill) {
    epoch.seconds.value = std::numeric_limits<double>::infinity();
    return epoch;
  }
  const bool crashes = luck < faults_.crash;
  epoch.seconds.value *= where;
  epoch.then = ProgramEpoch::Then::fails;
  epoch.failure = crashes ? Failure::crashed : Failure::killed;
  epoch.detail = crashes ? "exit status 1" : "ended by signal 9 (Killed)";
  return epoch;
}

}  // namespace tandem::sim
