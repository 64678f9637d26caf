#include "place/dias/dias_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace tandem::place {
namespace {

using stats::PhaseType;

constexpr int kMostPhasesAWave = 160;

struct Moments {
  double mean = 0, variance = 0;
};

// P(T <= i · step) of an Erlang time of so many phases of rate 1, for every i.
std::vector<double> erlang_table(int phases, double step, int entries) {
  std::vector<double> out;
  for (int i = 0; i < entries; ++i) {
    const double at = i * step;
    double sum = 0;
    for (int n = 0; n < phases; ++n) sum += std::exp((n ? n * std::log(at) : 0) - at - std::lgamma(n + 1.0));
    out.push_back(i == 0 ? (phases == 0 ? 1 : 0) : 1 - std::min(1.0, sum));
  }
  return out;
}

// When the last wave's tasks start: those slots that were first through the waves before, each as likely.
std::vector<double> earliest_starts(const std::vector<double>& before, double share, double step) {
  constexpr int kStarts = 24;
  std::vector<double> out;
  for (int j = 0; j < kStarts; ++j) {
    const auto at = std::lower_bound(before.begin(), before.end(), share * (j + 0.5) / kStarts);
    out.push_back(static_cast<double>(at - before.begin()) * step);
  }
  return out;
}

// Of the time until the slowest slot is done. All slots run all waves but the last, whose tasks go to those
// slots that are free first; they are then taken as independent.
Moments slowest_slot(const DiasStage& stage, int tasks, int slots) {
  constexpr int kEntries = 1200;
  const int waves = (tasks + slots - 1) / slots, late = tasks - (waves - 1) * slots;
  const int phases = waves * stage.shape;
  const double step = (phases + 12 * std::sqrt(phases) + 30) / kEntries;
  const auto before = erlang_table(phases - stage.shape, step, kEntries);
  const auto task = erlang_table(stage.shape, step, kEntries);
  const auto starts = earliest_starts(before, static_cast<double>(late) / slots, step);
  Moments out;
  double square = 0;
  for (int i = 0; i < kEntries; ++i) {
    const double at = i * step;
    double done = 0;
    for (const double start : starts)
      if (start <= at) done += task[static_cast<std::size_t>((at - start) / step + 0.5)];
    done /= static_cast<double>(starts.size());
    const double others = waves > 1 ? std::pow(before[static_cast<std::size_t>(i)], slots) : 1;
    const double tail = 1 - std::pow(done, late) * others, width = i ? step : step / 2;
    out.mean += tail * width;
    square += 2 * at * tail * width;
  }
  const double second = stage.task / stage.shape;  // of the table's unit
  out.mean *= second;
  out.variance = square * second * second - out.mean * out.mean;
  return out;
}

PhaseType tasks_one_by_one(const DiasStage& stage, int tasks, int slots) {
  std::vector<double> rates;
  for (int left = tasks; left > 0; --left) rates.push_back(std::min(left, slots) / stage.task);
  return PhaseType::chain(rates);
}

PhaseType wave_by_wave(const DiasStage& stage, int tasks, int slots) {
  const int waves = (tasks + slots - 1) / slots;
  const auto whole = slowest_slot(stage, tasks, slots);
  const double mean = whole.mean / waves, variance = whole.variance / waves;
  const auto wave = PhaseType::fitted(mean, std::min(1.0, variance / (mean * mean)), kMostPhasesAWave);
  PhaseType out = wave;
  for (int i = 1; i < waves; ++i) out = out.then(wave);
  return out;
}

using TasksTime = PhaseType (*)(const DiasStage&, int tasks, int slots);

PhaseType stage_after_stage(const DiasJob& job, int slots, TasksTime tasks_time) {
  PhaseType out = PhaseType::zero();
  for (const auto& stage : job.stages) {
    if (stage.setup > 0) out = out.then(PhaseType::exponential(stage.setup));
    std::vector<double> weights;
    std::vector<PhaseType> parts;
    for (const auto& count : stage.counts) {
      weights.push_back(count.probability);
      parts.push_back(tasks_time(stage, tasks_left(count.tasks, stage.droppable ? stage.drop : 0), slots));
    }
    out = out.then(parts.size() == 1 ? parts[0] : PhaseType::mixture(weights, parts));
  }
  return out;
}

}  // namespace

void check(const DiasJob& job, const std::string& where) {
  const auto refuse = [&](const std::string& what) { throw UserError(fmt::format("{}: {}", where, what)); };
  if (job.stages.empty()) refuse("a job has at least one stage");
  for (const auto& stage : job.stages) {
    double sum = 0;
    for (const auto& count : stage.counts) {
      if (count.tasks < 1) refuse(fmt::format("a stage of {} tasks; at least 1", count.tasks));
      sum += count.probability;
    }
    if (std::fabs(sum - 1) > 1e-9)
      refuse(fmt::format("the numbers of tasks have probabilities of {} in all", sum));
    if (!(stage.task > 0) || !(stage.setup >= 0))
      refuse(fmt::format("tasks of {} s after a set-up of {} s", stage.task, stage.setup));
    if (stage.shape < 1) refuse(fmt::format("an Erlang shape of {}; at least 1", stage.shape));
    if (!(stage.drop >= 0 && stage.drop < 1))
      refuse(fmt::format("a drop ratio of {}; from 0 to below 1", stage.drop));
  }
}

DiasJob with_drop(DiasJob job, double drop) {
  for (auto& stage : job.stages)
    if (stage.droppable) stage.drop = drop;
  return job;
}

DiasJob longer(DiasJob job, double by) {
  for (auto& stage : job.stages) stage.setup *= by, stage.task *= by;
  return job;
}

DiasJob training_job(int steps, int micro_batches, double seconds_each, double exchange, int shape) {
  const DiasStage step{{{micro_batches, 1}}, exchange, seconds_each, shape, true, 0};
  return {std::vector<DiasStage>(static_cast<std::size_t>(steps), step)};
}

int tasks_left(int tasks, double drop) {
  return static_cast<int>(
      std::ceil(tasks * (1 - drop) - 1e-9));  // 50 · 0.9 is 45, whatever its last bit says
}

std::vector<int> kept_tasks(int tasks, double drop, std::uint64_t seed) {
  Random random(seed, hash_name("dias dropper"));
  std::vector<int> out;
  int wanted = tasks_left(tasks, drop);
  for (int i = 0; i < tasks; ++i)  // each subset is as likely as any other (Knuth's algorithm S)
    if (random.below(static_cast<std::uint64_t>(tasks - i)) < static_cast<std::uint64_t>(wanted))
      out.push_back(i), --wanted;
  return out;
}

double effective_drop(const DiasJob& job) {
  double all = 0, left = 0;
  for (const auto& stage : job.stages)
    for (const auto& count : stage.counts) {
      all += count.probability * count.tasks;
      left += count.probability * tasks_left(count.tasks, stage.droppable ? stage.drop : 0);
    }
  return 1 - left / all;
}

PhaseType task_level(const DiasJob& job, int slots) {
  for (const auto& stage : job.stages)
    if (stage.shape != 1)
      throw UserError("the task level needs exponential tasks (shape 1): use the wave level for others");
  return stage_after_stage(job, slots, tasks_one_by_one);
}

PhaseType wave_level(const DiasJob& job, int slots) {
  return stage_after_stage(job, slots, wave_by_wave);
}

PhaseType processing_time(const DiasJob& job, int slots) {
  const bool exact =
      std::all_of(job.stages.begin(), job.stages.end(), [](const auto& s) { return s.shape == 1; });
  return exact ? task_level(job, slots) : wave_level(job, slots);
}

}  // namespace tandem::place
