// Placement decisions a second, by the time of one core. First the live scheduler, events and view included,
// while 100 000 tasks wait on 10 000 full nodes (live.h). Then the ranking alone (no events, no view): tasks
// with accelerator constraints on 10 000 nodes of 20 machine types. A decision there is a prediction for
// every type the task may use, the ranking, and the node taken; when the cluster is full the oldest task
// leaves. Other policies, and other numbers of nodes, beside it. `decisions_bench [TASKS]`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <numeric>
#include <span>

#include "base/random.h"
#include "bench/decisions/live.h"
#include "place/policy/policies.h"

namespace {
using namespace tandem;
using namespace tandem::place;

constexpr std::uint32_t kTypes = 20, kManyTypes = 200;
constexpr const char* kAccelerators[] = {"", "T4", "P100", "V100", "A100"};
constexpr double kAsked = 20'000;

std::vector<MachineType> machine_types(std::size_t nodes, std::uint32_t types) {
  std::vector<MachineType> out;
  for (std::uint32_t i = 0; i < types; ++i) {
    MachineType type;
    type.name = fmt::format("type {}", i);
    type.accelerator = kAccelerators[i % 5];
    type.node = {1000 * (16 + 16 * (i % 4)), (64 + 64 * (i % 4)) * kGiB, type.accelerator.empty() ? 0 : 4, 0};
    type.count = nodes / types;
    out.push_back(type);
  }
  return out;
}

struct Task {
  TaskRequirements needs{};
  TaskFeatures features{};
  std::vector<std::uint32_t> allowed{};
};

// A third ask for GPUs, half of those for a type or two of them, some for a share of one.
std::vector<Task> tasks_for(const Ranking& ranking, std::uint32_t types, std::size_t count) {
  std::vector<std::uint32_t> all(types);
  std::iota(all.begin(), all.end(), 0);
  Random random(3);
  std::vector<Task> out(count);
  for (auto& task : out) {
    const auto cores = static_cast<std::int64_t>(1 + random.below(8));
    task.needs.part = {1000 * cores, cores * 2 * kGiB, 0, 0};
    if (random.below(3) == 0) {
      if (random.below(3) == 0)
        task.needs.part.gpu_share = static_cast<std::int32_t>(100 * (1 + random.below(9)));
      else
        task.needs.part.gpus = static_cast<std::int32_t>(1 + random.below(2));
      const char* const needs[] = {"", "", "T4", "V100|A100", "P100"};
      task.needs.accelerator = needs[random.below(5)];
    }
    task.features = {static_cast<std::uint32_t>(random.below(2)), random.uniform(200, 1250),
                     static_cast<double>(cores), static_cast<double>(cores) * 2, 2.5};
    task.allowed = ranking.allowed(task.needs, all);
  }
  return out;
}

HeatsModel model_of(std::size_t types) {
  class Synthetic final : public Prober {
    Prediction run(std::uint32_t type, const TaskFeatures& task, std::uint64_t) override {
      const double seconds = task.work * (0.01 + 0.001 * type) / task.cores * 2.5 / task.clock;
      return {seconds, seconds * task.cores * (3 + type * 7 % 11)};
    }
  } prober;
  HeatsModelOptions options;
  options.families = probe_tasks().size();
  HeatsModel model(types, options);
  ProbePlan plan;
  plan.clocks.assign(types, {1.2, 2.5});
  plan.cores = {1, 2, 4, 8};
  probe(model, prober, plan);
  return model;
}

class Learned final : public Predictor {
 public:
  Learned(const HeatsModel& model, const std::vector<Task>& tasks) : model_(model), tasks_(tasks) {}
  Prediction predict(std::uint32_t task, std::uint32_t type) override {
    return model_.predict(type, tasks_[task].features);
  }

 private:
  const HeatsModel& model_;
  const std::vector<Task>& tasks_;
};

struct Placed {
  std::uint32_t task = 0, type = 0;
  std::vector<Share> shares{};
};

struct Rate {
  double seconds = 0;  // a decision
  std::size_t decisions = 0;
};

Rate measure(const std::string& name, std::size_t nodes, std::size_t count, std::uint32_t kinds = kTypes) {
  const auto types = machine_types(nodes, kinds);
  const auto model = model_of(types.size());
  std::vector<Task> tasks;
  Learned learned(model, tasks);
  Ranking ranking(parse_policy(name), types, &learned, 1);
  tasks = tasks_for(ranking, kinds, count);
  std::vector<Pool> pools;
  for (const auto& type : types) pools.emplace_back(type.node, type.count);
  std::deque<Placed> running;
  std::vector<Share> taken;
  Rate out;
  const std::clock_t begin = std::clock();  // of this process: others may share the core
  for (std::uint32_t i = 0; i < count;) {
    const Task& task = tasks[i];
    if (task.allowed.empty()) std::abort();
    ++out.decisions;
    bool placed = false;
    for (const auto type : ranking.rank(i, 0, task.needs, task.allowed, pools)) {
      if (!pools[type].take(task.needs.part, 1, taken, ranking.where(type))) continue;
      running.push_back({i, type, taken});
      placed = true;
      break;
    }
    if (placed) {
      ++i;
      continue;
    }
    // No room: a hundredth of those that run end, and it is decided again.
    for (std::size_t k = std::max<std::size_t>(1, running.size() / 100); k > 0 && !running.empty(); --k) {
      const Placed& first = running.front();
      for (const auto& share : first.shares) pools[first.type].give_back(tasks[first.task].needs.part, share);
      running.pop_front();
    }
  }
  const double all = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  out.seconds = all / static_cast<double>(out.decisions);
  return out;
}

// Interleaved and repeated, the best of each counts: machines are noisy.
std::vector<double> best_seconds(const std::string& policy, std::span<const std::size_t> sizes,
                                 std::size_t count) {
  std::vector<double> best(sizes.size(), 1e9);
  for (int round = 0; round < 3; ++round)
    for (std::size_t i = 0; i < sizes.size(); ++i)
      best[i] = std::min(best[i], measure(policy, sizes[i], count).seconds);
  return best;
}

bool judge(const std::string& what, const std::string& asked, const std::string& measured, bool ok) {
  fmt::print("  {}: asked {}, measured {}: {}\n", what, asked, measured, ok ? "HELD" : "MISSED");
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  const std::size_t sizes[] = {100, 1000, 10'000};
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  bool held = bench::judge_live(count);
  fmt::print("\nthe ranking alone: decisions a second, {} tasks, by nodes:\n{:<12}", count, "");
  for (const auto size : sizes) fmt::print(" {:>9}", size);
  fmt::print("  cost at 100 times the nodes\n");
  for (const std::string policy : {"heats:H=1", "heats:H=0.5", "spread", "binpack", "random"}) {
    const auto best = best_seconds(policy, sizes, count);
    fmt::print("{:<12}", policy);
    for (const double seconds : best) fmt::print(" {:9.0f}", 1 / seconds);
    const double growth = best.back() / best.front();
    fmt::print("  x {:.2f}\n", growth);
    if (!policy.starts_with("heats")) continue;
    held &= judge(policy + ", 10000 nodes", fmt::format("at least {:.0f} a second", kAsked),
                  fmt::format("{:.0f}", 1 / best.back()), 1 / best.back() >= kAsked);
    held &= judge(policy + ", cost at 100 times the nodes", "below 100 times",
                  fmt::format("{:.2f} times", growth), growth < 100);
  }
  fmt::print("heats:H=1 on 10000 nodes of {} types: {:.0f} a second (every type a task may use is scored)\n",
             kManyTypes, 1 / measure("heats:H=1", 10'000, count / 10, kManyTypes).seconds);
  return held ? 0 : 1;
}
