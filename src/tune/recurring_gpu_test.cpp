// Ten runs of a job that recurs, on a GPU with an H200's numbers (docs/gpus-measured.md): the chooser of
// batch sizes and the tuner of clocks together, as `tandem tune --recurring` uses them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.h"
#include "tune/recurring_runs.h"
#include "tune/system_tuner.h"

namespace tandem::tune {
namespace {

constexpr double kPrice = 700, kStep = 0.1;  // watts of a second; seconds between steps of the counter

struct Spent {
  double joules = 0, seconds = 0;
  double cost() const { return 0.5 * joules + 0.5 * kPrice * seconds; }
  void add(double j, double s) { joules += j, seconds += s; }
};

struct Workload {
  std::vector<std::int64_t> batches;                                     // the default first
  std::map<std::int64_t, std::vector<std::pair<double, double>>> epoch;  // seconds and watts at each clock
  std::map<std::int64_t, double> epochs;                                 // to the target
  double luck;                                                           // of epochs
  double jitter;                                                         // of an epoch's time
  double accidents = 0;                                                  // share of epochs a third longer
};
const std::vector<double> kClocks{1.1e9, 1.3e9, 1.5e9, 1.7e9, 1.98e9};

class Recurrence {
 public:
  Recurrence(const Workload& of, std::uint64_t seed) : of_(of), random_(seed) {
    job_.hyper.parameters = {
        {"batch_size", {spec::Domain::Kind::choice, {of.batches.begin(), of.batches.end()}}, {}}};
    job_.system = {.cores = {4}, .gpus = 1, .gpu_clock = kClocks};
    job_.objective = {{{"accuracy", true}, {"cost", false}}, 0.9, spec::CostWeights{0.5, 0.5}};
    job_.search.max_epochs = 24;
    node_.capacity = {.cores = 16, .memory = 64 * kGiB, .gpus = 1, .gpu_memory = 80 * kGiB, .gpu_clock = 2e9};
    auto recurring = recurring_job_of(job_);
    recurring.price = kPrice;
    chooser_.emplace(recurring);
  }

  Spent fixed(std::int64_t batch, std::size_t clock) {
    Spent out;
    for (auto left = needed(batch); left > 0; --left) run(batch, clock, out);
    return out;
  }

  Spent ours() {
    Spent out;
    while (!attempt(out)) {
    }
    return out;
  }

 private:
  std::int64_t needed(std::int64_t batch) {
    return std::max(2l, std::lround(of_.epochs.at(batch) * std::exp(of_.luck * random_.normal())));
  }
  std::pair<double, double> run(std::int64_t batch, std::size_t clock, Spent& spent) {
    const auto [seconds, watts] = of_.epoch.at(batch)[clock];
    const double accident = random_.uniform() < of_.accidents ? 1.35 : 1;
    const double took = seconds * accident * (1 + of_.jitter * random_.normal());
    spent.add(took * watts, took);
    // Both ends of the epoch lie somewhere between two steps of the counter.
    const double late = kStep * random_.uniform(), seen = (took + late_ - late) * watts;
    late_ = late;
    return {took, seen};
  }

  bool attempt(Spent& all) {
    const auto plan = std::get<RecurringPlan>(chooser_->propose());
    SystemTuner tuner(attempt_of(job_, plan), node_, known_);
    tuner.set_time_price(Watts{kPrice});
    TaskView task;
    const Values hyper{{"batch_size", plan.batch}};
    const auto enough = needed(plan.batch);
    Spent spent;
    for (std::int64_t epoch = 1; epoch <= enough && spent.cost() < plan.stop_cost; ++epoch) {
      const auto granted = tuner.plan(0, hyper).options.at(0).resources;
      const auto clock = static_cast<std::size_t>(
          std::find(kClocks.begin(), kClocks.end(), granted.gpu_clock) - kClocks.begin());
      const auto [seconds, joules] = run(plan.batch, clock, spent);
      EpochRecord record{.epoch = epoch, .attempt = 1, .seconds = {seconds}};
      record.energy = Energy{Joules{joules}, "nvml"};
      record.granted = granted;
      record.profile.rates = {{"cpu-time", 0.9}, {"instructions", 1e9 * static_cast<double>(plan.batch)}};
      task.epochs.push_back(record);
      tuner.ended(task, hyper);
      chooser_->learn(EpochSlice{plan.batch, chooser_->job().limits[clock], 1, seconds, joules,
                                 kStep / std::sqrt(6) / seconds});
    }
    const auto ran = static_cast<std::int64_t>(task.epochs.size());
    chooser_->learn(AttemptEnded{plan.batch, static_cast<double>(std::max<std::int64_t>(ran, 1)),
                                 ran == enough ? Ending::reached : Ending::stopped});
    for (auto& known : tuner.learned()) known_.push_back(std::move(known));
    all.add(spent.joules, spent.seconds);
    return ran == enough;
  }

  const Workload& of_;
  Random random_;
  double late_ = 0;
  spec::TuneJob job_;
  NodeView node_;
  std::optional<Recurring> chooser_;
  std::vector<KnownWorkload> known_;
};

struct Compared {
  double joules, seconds, cost;  // of the default's, and of the best cell's
};
Compared ten_runs(const Workload& of) {
  const auto cost = [&](std::int64_t batch, std::size_t clock) {
    const auto [seconds, watts] = of.epoch.at(batch)[clock];
    return of.epochs.at(batch) * seconds * (watts + kPrice);
  };
  std::pair best{of.batches.front(), kClocks.size() - 1};
  for (const auto batch : of.batches)
    for (std::size_t clock = 0; clock < kClocks.size(); ++clock)
      if (cost(batch, clock) < cost(best.first, best.second)) best = {batch, clock};
  Spent usual, oracle, ours;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Recurrence recurrence(of, seed);
    for (int run = 0; run < 10; ++run) {
      const auto a = recurrence.fixed(of.batches.front(), kClocks.size() - 1),
                 b = recurrence.fixed(best.first, best.second), c = recurrence.ours();
      usual.add(a.joules, a.seconds), oracle.add(b.joules, b.seconds), ours.add(c.joules, c.seconds);
    }
  }
  return {ours.joules / usual.joules, ours.seconds / usual.seconds, ours.cost() / oracle.cost()};
}

void expect_floors(const Compared& seen) {
  EXPECT_LE(seen.joules, 0.85);
  EXPECT_LE(seen.seconds, 1.10);
  EXPECT_LE(seen.cost, 1.08) << "of the best cell's, probing included";
}

// A convolutional network: the larger batch uses the card better.
TEST(RecurringOnAGpu, ItIsComputing) {
  expect_floors(ten_runs({{256, 512},
                          {{256, {{1.00, 292}, {0.88, 341}, {0.84, 395}, {0.79, 457}, {0.775, 520}}},
                           {512, {{0.86, 317}, {0.74, 373}, {0.655, 465}, {0.60, 551}, {0.56, 657}}}},
                          {{256, 5}, {512, 5}},
                          0.12,
                          0.03}));
}

// The same with shorter epochs, of which one in fifty is disturbed.
TEST(RecurringOnAGpu, ItsEpochsAreShort) {
  expect_floors(ten_runs({{256, 512},
                          {{256, {{0.508, 306}, {0.439, 349}, {0.40, 420}, {0.395, 470}, {0.386, 555}}},
                           {512, {{0.435, 334}, {0.369, 383}, {0.328, 474}, {0.304, 562}, {0.287, 654}}}},
                          {{256, 10}, {512, 10.2}},
                          0.09,
                          0.03,
                          0.02}));
}

// The small batch leaves the card waiting, and does best at the lowest clock; the large one computes, and
// needs a high one: what is best for the neighbour is only where to begin. Within 5 % of what was measured,
// with the lowest clock a little quicker than it was, so that it is the small batch's best (as it looked to
// Tandem).
TEST(RecurringOnAGpu, TheBestClockOfTheOtherBatchIsFarAway) {
  const auto seen = ten_runs({{256, 512},
                              {{256, {{0.70, 278}, {0.70, 295}, {0.68, 345}, {0.65, 391}, {0.65, 442}}},
                               {512, {{0.605, 310}, {0.518, 353}, {0.457, 440}, {0.42, 506}, {0.41, 599}}}},
                              {{256, 8}, {512, 8.2}},
                              0.08,
                              0.03});
  expect_floors(seen);
  EXPECT_LE(seen.cost, 1.06);
}

// A small transformer, for which the card waits: a lower clock costs no time.
TEST(RecurringOnAGpu, ItIsWaiting) {
  expect_floors(ten_runs({{128, 64},
                          {{128, {{1.0, 237}, {0.96, 264}, {0.98, 285}, {0.97, 315}, {0.97, 360}}},
                           {64, {{2.0, 158}, {1.95, 176}, {2.0, 185}, {2.0, 202}, {2.0, 226}}}},
                          {{128, 6}, {64, 4}},
                          0.1,
                          0.06}));
}

}  // namespace
}  // namespace tandem::tune
