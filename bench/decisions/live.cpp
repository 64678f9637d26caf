#include "bench/decisions/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <utility>
#include <vector>

#include "base/random.h"
#include "place/engine/scheduler.h"

namespace tandem::bench {
namespace {

constexpr int kTypes = 20, kShapes = 200;
constexpr const char* kAccelerators[] = {"", "T4", "P100", "V100", "A100"};
constexpr double kDecisions = 20'000, kGrowth = 3;

std::vector<spec::TrainJob> shapes() {
  Random random(5);
  std::vector<spec::TrainJob> out(kShapes);
  for (auto& job : out) {
    job.program.plain = true, job.program.command = {"work"};
    job.epochs = 0;
    job.system.cores = static_cast<int>(1 + random.below(8));
    job.system.memory = job.system.cores * 2 * kGiB;
    job.place.seconds = Seconds{random.uniform(60, 3600)};
    if (random.below(3) > 0) continue;
    job.system.gpus = static_cast<int>(1 + random.below(2));
    const char* const needs[] = {"", "", "T4", "V100|A100", "P100"};
    job.place.accelerator = needs[random.below(5)];
  }
  return out;
}

class FullCluster {
 public:
  FullCluster(const std::string& policy, int nodes) : scheduler_(place::parse_policy(policy), 1) {
    for (int i = 0; i < nodes; ++i) {
      const int type = i % kTypes;
      NodeTraits traits;
      traits.speed_factor = 1 + 0.1 * type, traits.idle = Watts{50.0 + type},
      traits.busy = Watts{200.0 + 7 * type};
      traits.accelerator = kAccelerators[type % 5];
      Resources has{8 + 4 * (type % 4), (32 + 16 * (type % 4)) * kGiB, 1.0};
      has.gpus = traits.accelerator.empty() ? 0 : 4;
      step(NodeJoined{i, fmt::format("n{}", i), has, fmt::format("type {}", type), traits});
    }
  }

  LiveRate measure(std::size_t waiting, std::size_t decisions) {
    while (view_.waiting.size() < waiting) submit();
    started_ = events_ = 0;
    const std::clock_t begin = std::clock();  // of this process: others may share the core
    while (started_ < decisions) {
      now_ += 0.1;
      if (!view_.open_wakes.empty() && *view_.open_wakes.begin() <= now_) wake();
      end_one();
      while (view_.waiting.size() < waiting) submit();
    }
    const double all = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return {all / static_cast<double>(started_), all / static_cast<double>(events_), view_.holding.size(),
            view_.waiting.size()};
  }

 private:
  void decide(DecisionBody body) { view_.apply(Decision{view_.next_decision, std::move(body)}); }

  template <class Then>
  void step(EventBody body, Then controllers) {
    const Event event{Seconds{now_}, std::move(body)};
    ++events_;
    view_.apply(event);
    controllers();
    for (auto& decision : scheduler_.step(view_, event)) {
      const auto* start = std::get_if<Start>(&decision);
      if (start) starting_.emplace_back(start->task, view_.next_decision);
      decide(std::move(decision));
    }
  }
  void step(EventBody body) {
    step(std::move(body), [] {});
  }
  void submit() {
    const auto& job = shapes_[random_.below(kShapes)];
    const auto id = static_cast<JobId>(view_.jobs.size());
    step(JobSubmitted{id, job}, [&] {
      decide(Request{static_cast<TaskId>(view_.tasks.size()), id, job.system});
    });
    step_starts();
  }
  // Any of those that run, as they come.
  void end_one() {
    if (running_.empty()) return;
    std::swap(running_[random_.below(running_.size())], running_.front());
    const TaskId task = running_.front();
    running_.pop_front();
    step(TaskEnded{task, 1, {}}, [&] {
      decide(FinishJob{view_.tasks[static_cast<std::size_t>(task)].job, JobState::finished, ""});
    });
    step_starts();
  }
  void wake() {
    for (const auto& [id, decision] : view_.open)
      if (std::holds_alternative<Wake>(decision.body)) {
        step(Woke{id});
        return step_starts();
      }
  }
  void step_starts() {
    while (!starting_.empty()) {
      const auto [task, decision] = starting_.front();
      starting_.pop_front();
      ++started_;
      running_.push_back(task);
      step(TaskStarted{task, 1, decision, 1, 1, {}});
    }
  }

  place::Scheduler scheduler_;
  View view_;
  std::vector<spec::TrainJob> shapes_ = shapes();
  Random random_{7};
  std::deque<std::pair<TaskId, DecisionId>> starting_;
  std::deque<TaskId> running_;
  double now_ = 1;
  std::size_t started_ = 0, events_ = 0;
};

}  // namespace

LiveRate live_rate(const std::string& policy, int nodes, std::size_t waiting, std::size_t decisions) {
  return FullCluster(policy, nodes).measure(waiting, decisions);
}

bool judge_live(std::size_t waiting) {
  fmt::print("the live scheduler, its events and the view; {} shapes of tasks, {} machine types:\n", kShapes,
             kTypes);
  bool held = true;
  for (const std::string policy : {"fifo", "backfill", "heats:H=0.5"}) {
    // Interleaved, the better of two: machines are noisy.
    LiveRate small, large;
    for (int round = 0; round < 2; ++round) {
      const auto one = live_rate(policy, 100, std::max<std::size_t>(1, waiting / 100), 10'000);
      // So many that it is not all about the one time when the view's vectors double.
      const auto many = live_rate(policy, 10'000, waiting, 50'000);
      if (round == 0 || one.seconds_an_event < small.seconds_an_event) small = one;
      if (round == 0 || many.seconds_an_event < large.seconds_an_event) large = many;
    }
    const double rate = 1 / large.seconds_a_decision,
                 growth = large.seconds_an_event / small.seconds_an_event;
    const bool fast = rate >= kDecisions, flat = growth <= kGrowth;
    fmt::print(
        "{:<12} 100 nodes: {:.0f} decisions a second, {:.2f} us an event; 10000 nodes ({} run, {} wait): "
        "{:.0f}, {:.2f} us\n",
        policy, 1 / small.seconds_a_decision, 1e6 * small.seconds_an_event, large.running, large.waiting,
        rate, 1e6 * large.seconds_an_event);
    fmt::print("  asked at least {:.0f} a second, measured {:.0f}: {}\n", kDecisions, rate,
               fast ? "HELD" : "MISSED");
    fmt::print("  asked at most {:.0f} times the cost of an event at 100 nodes, measured {:.2f}: {}\n",
               kGrowth, growth, flat ? "HELD" : "MISSED");
    held = held && fast && flat;
  }
  return held;
}

}  // namespace tandem::bench
