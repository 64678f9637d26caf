// A made-up tuning run for tests of pages: many trials on few cores, halved rung by rung.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "event/view.h"
#include "store/store.h"

namespace tandem::report::sample {

struct MadeRun {
  int trials = 12;
  int cores = 2;
  std::int64_t epochs = 9;
  std::vector<int> failing = {};  // trials that fail in their first epoch
  std::vector<spec::Goal> goals = {{"accuracy", true}};
  std::string name = "tune-lenet-digits";
  std::string energy = "model (idle 8 W, busy 30 W)";  // empty: none
};

inline spec::TuneJob made_job(const MadeRun& run) {
  using Kind = spec::Domain::Kind;
  spec::TuneJob job;
  job.base.name = run.name;
  job.base.program = {"lenet5", "digits", {}};
  job.hyper.parameters = {
      {"batch_size", {Kind::choice, {std::int64_t{32}, std::int64_t{64}, std::int64_t{128}}}, {}},
      {"dropout", {Kind::real, {}, 0, 0.5}, {}},
      {"learning_rate", {Kind::log_real, {}, 1e-4, 0.1}, {}},
      {"momentum", {Kind::real, {}, 0, 0.99}, spec::Condition{"optimizer", {std::string("sgd")}}},
      {"optimizer", {Kind::choice, {std::string("sgd"), std::string("adam")}}, {}}};
  for (int cores = 1; cores <= run.cores; cores *= 2) job.system.cores.push_back(cores);
  job.search.max_epochs = run.epochs;
  job.objective.goals = run.goals;
  job.objective.target = 0.98;
  return job;
}

inline Metrics made_profile(double batch, Random& random) {
  const double share = random.uniform(0.85, 1);
  Metrics rates{{"context-switches", 45 * share},
                {"involuntary-switches", 30 * share * std::exp(0.4 * random.normal())},
                {"minor-faults", 3000 * share * std::exp(0.8 * random.normal())},
                {"read-calls", 0},
                {"resident-bytes", 2.3e8 + 4e5 * batch},
                {"system-time", 0.02 * share},
                {"task-clock", 1e9 * share},
                {"threads", 2},
                {"user-time", 0.97 * share},
                {"voluntary-switches", 12 * share * std::exp(0.2 * random.normal())},
                {"write-calls", 300 / batch * share},
                {"written-chars", 4e7 / batch * share * std::exp(0.03 * random.normal())}};
  return rates;
}

// One trial after another in each rung, each taking the cores that are free first.
class Maker {
 public:
  explicit Maker(const MadeRun& run) : run_(run), free_(static_cast<std::size_t>(run.cores), 0.0) {
    auto& node = view_.nodes.emplace_back();
    node.name = "small", node.type = "AMD EPYC 7B13, 2 cores";
    node.capacity = node.largest = {run.cores, 4 * kGiB, 1};
    node.free_cores = run.cores;
    JobView job;
    job.spec = made_job(run);
    job.submitted_at = Seconds{kBegin};
    view_.jobs.push_back(job);
  }

  View made() {
    std::vector<int> going;
    for (int i = 0; i < run_.trials; ++i) add_trial(i), going.push_back(i);
    std::int64_t done = 0, rung = 0;
    for (std::int64_t until = 1; !going.empty() && done < run_.epochs; until *= 3, ++rung) {
      until = std::min(until, run_.epochs);
      for (const int trial : going) run_trial(trial, done, until, rung);
      done = until;
      std::erase_if(going,
                    [&](int trial) { return view_.tasks[static_cast<std::size_t>(trial)].epochs.empty(); });
      std::stable_sort(going.begin(), going.end(), [&](int a, int b) { return score(a) > score(b); });
      const auto keep = std::max<std::size_t>(1, going.size() / 3);
      for (std::size_t i = keep; i < going.size(); ++i) {
        auto& task = view_.tasks[static_cast<std::size_t>(going[i])];
        task.released = true;
        task.release_reason = "not among the best of its rung";
      }
      if (!going.empty()) going.resize(keep);
    }
    auto& job = view_.jobs.front();
    job.state = JobState::finished;
    double end = 0;
    for (const double at : free_) end = std::max(end, at);
    job.finished_at = Seconds{kBegin + end};
    job.active = Seconds{end};
    return std::move(view_);
  }

 private:
  static constexpr double kBegin = 1.79e9;

  double score(int trial) const {
    const auto& epochs = view_.tasks[static_cast<std::size_t>(trial)].epochs;
    return epochs.back().metrics.at("accuracy");
  }

  void add_trial(int number) {
    TaskView task;
    task.id = number;
    Random random(7, static_cast<std::uint64_t>(number));
    TrialPart part;
    part.epochs = run_.epochs;
    part.point["batch_size"] = std::int64_t{32} << random.below(3);
    part.point["dropout"] = random.uniform(0, 0.5);
    part.point["learning_rate"] = std::pow(10, random.uniform(-4, -1));
    const bool sgd = random.below(2) == 0;
    part.point["optimizer"] = std::string(sgd ? "sgd" : "adam");
    if (sgd) part.point["momentum"] = random.uniform(0, 0.99);
    part.hyper = part.point;
    task.trial = part;
    task.state = TaskState::ended;
    task.attempt = 1;
    if (std::find(run_.failing.begin(), run_.failing.end(), number) != run_.failing.end()) {
      task.state = TaskState::failed;
      task.last_failure = TaskFailed{number,
                                     1,
                                     Failure::out_of_memory,
                                     "killed at its memory limit of 2 GiB",
                                     "loading\nRuntimeError: <b>out of memory</b>\n",
                                     std::nullopt};
    }
    view_.tasks.push_back(task);
  }

  void run_trial(int number, std::int64_t done, std::int64_t until, std::int64_t rung) {
    TaskView& task = view_.tasks[static_cast<std::size_t>(number)];
    if (task.state == TaskState::failed) return;
    task.trial->rung = rung;
    Random random(11, static_cast<std::uint64_t>(number * 100 + rung));
    const double batch = *as_number(task.trial->point.at("batch_size"));
    task.workload = batch == 32 ? 0 : batch == 64 ? 1 : 2;
    const int cores = rung == 0 ? 1 : std::min(run_.cores, 2);
    std::sort(free_.begin(), free_.end());
    double now = free_[static_cast<std::size_t>(cores) - 1];
    for (std::int64_t epoch = done + 1; epoch <= until; ++epoch) {
      EpochRecord record;
      record.epoch = epoch;
      record.attempt = 1;
      record.granted = {cores, 0, 1};
      record.startup = Seconds{epoch == done + 1 ? 0.5 : 0.0};
      const double work = 2 + 60 / batch;
      record.seconds = record.startup + Seconds{work * (0.25 + 0.75 / cores) * random.uniform(0.97, 1.05)};
      now += record.seconds.value;
      record.at = Seconds{kBegin + now};
      const double rate = std::log10(*as_number(task.trial->point.at("learning_rate")));
      const double height = 0.985 - 0.09 * std::pow(rate + 2, 2);
      const double reached = height * (1 - 0.35 * std::exp(-0.6 * static_cast<double>(epoch)));
      record.metrics = {{"accuracy", std::clamp(reached + 0.004 * random.normal(), 0.05, 0.999)},
                        {"loss", 1 - reached}};
      record.profile.rates = made_profile(batch, random);
      record.phase = rung == 0   ? (number < 3 ? Phase::profiling : Phase::probing)
                     : rung == 1 ? Phase::probing
                                 : Phase::settled;
      record.workload = task.workload;
      if (!run_.energy.empty()) {
        record.energy = Energy{Joules{record.seconds.value * (5 + 9 * cores)}, run_.energy};
        task.energy_source = run_.energy;
      }
      task.granted = record.granted;
      task.epochs.push_back(record);
    }
    for (int i = 0; i < cores; ++i) free_[static_cast<std::size_t>(i)] = now;
  }

  MadeRun run_;
  std::vector<double> free_;
  View view_;
};

inline View made_view(const MadeRun& run = {}) {
  return Maker(run).made();
}

inline store::RunInfo made_info(const std::string& name = "tune-lenet-digits") {
  return {"20261115-043000-7f3a", "tune", name, "{}", "finished", "", Seconds{1.79e9}, Seconds{1.79e9}};
}

}  // namespace tandem::report::sample
