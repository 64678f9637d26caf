// The trace level and the live scheduler host one engine: fed the same jobs, they decide the same. Held where
// durations are known, stops take no time and the parts of a gang are on nodes of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "base/random.h"
#include "place/engine/scheduler.h"
#include "sim/trace/replay.h"

namespace tandem::sim {
namespace {

constexpr std::int64_t kEpochs = std::int64_t{1} << 40;  // so many that a report says how far a job is

struct LiveCase {
  ReplayInput input{};
  std::vector<double> speed_factor{};     // by pool
  std::vector<double> seconds{};  // by job, at speed_factor 1
};

LiveCase drawn_case(std::uint64_t seed) {
  Random random(seed, 19);
  LiveCase out;
  auto& in = out.input;
  in.seed = seed, in.keep_steps = true;
  const std::size_t pools = 1 + random.below(3);
  for (std::size_t i = 0; i < pools; ++i) {
    const auto cores = static_cast<std::int64_t>(2 + random.below(7));
    out.speed_factor.push_back(random.uniform(0.5, 2));
    in.pools.push_back({fmt::format("type{}", i),
                        "",
                        {1000 * cores, 8 * kGiB, 0, 0},
                        1 + random.below(4),
                        NodeDraw{random.uniform(5, 50), random.uniform(10, 200), 0}});
  }
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < pools; ++i) all.push_back(i);
  const std::size_t shapes = 1 + random.below(6);
  for (std::size_t i = 0; i < shapes; ++i) {
    ReplayShape shape{{static_cast<std::int64_t>(1000 * (1 + random.below(4))),
                       random.below(3) == 0 ? static_cast<Bytes>(1 + random.below(4)) * kGiB : 0, 0, 0},
                      random.below(4) == 0 ? 2 : 1,
                      all};
    shape.apart = shape.parts > 1;
    const auto fits = [&](const ReplayPool& pool) {  // nine tenths: some policies keep the rest free
      const place::Amount most{pool.node.milli_cores * 9 / 10, pool.node.memory * 9 / 10, 0, 0};
      return place::Pool::could_ever(most, pool.count, shape.part, shape.parts, shape.apart);
    };
    if (std::none_of(in.pools.begin(), in.pools.end(), fits)) shape = {{1000, 0, 0, 0}, 1, all};
    in.shapes.push_back(shape);
  }
  double at = 0;
  for (int i = 0; i < 40; ++i) {
    out.seconds.push_back(random.uniform(2, 60));
    in.jobs.push_back({at, out.seconds.back(), static_cast<std::uint32_t>(random.below(shapes)),
                       static_cast<int>(random.below(3))});
    for (const double speed_factor : out.speed_factor) in.by_pool.push_back(out.seconds.back() / speed_factor);
    at += random.uniform(0, 6);
  }
  return out;
}

// The control loop in small: a world in which everything happens at once.
class LivePlay {
 public:
  LivePlay(const LiveCase& what, const std::string& policy)
      : case_(what), scheduler_(place::parse_policy(policy), what.input.seed) {
    const auto parsed = place::parse_policy(policy);
    keeps_ = parsed.preemption != place::Preemption::restart;
    cost_ = parsed.heats ? parsed.heats->cost : 0;
    left_.assign(what.input.jobs.size(), 1.0);
    run_.resize(what.input.jobs.size());
  }

  std::vector<ReplayStep> run() {
    const auto& pools = case_.input.pools;
    for (std::uint32_t pool = 0; pool < pools.size(); ++pool)
      for (std::uint32_t i = 0; i < pools[pool].count; ++i) {
        NodeTraits traits;
        traits.speed_factor = case_.speed_factor[pool];
        traits.idle = Watts{pools[pool].draw->idle};
        traits.busy = Watts{pools[pool].draw->idle + pools[pool].draw->cores};
        const auto id = static_cast<NodeId>(where_.size());
        where_.push_back({pool, i});
        step(NodeJoined{id,
                        fmt::format("n{}", id),
                        {static_cast<int>(pools[pool].node.milli_cores / 1000), pools[pool].node.memory, 1.0},
                        pools[pool].name,
                        traits});
      }
    for (std::uint32_t job = 0; job < case_.input.jobs.size(); ++job)
      next(case_.input.jobs[job].submitted, [this, job] { submit(job); });
    std::size_t done = 0;
    while (!queue_.empty() && ++done < 100'000) {
      const auto first = queue_.begin();
      now_ = first->first.first;
      const auto what = std::move(first->second);
      queue_.erase(first);
      what();
    }
    EXPECT_LT(done, 100'000u) << "it does not end";
    return std::move(steps_);
  }

 private:
  struct Run {
    double since = 0, seconds = 0, standing = 0;
    std::uint64_t number = 0;  // of the attempt
    bool runs = false, moves = false;
  };

  void next(double at, std::function<void()> what) {
    queue_.emplace(std::pair{at, ++events_}, std::move(what));
  }
  void decide(DecisionBody body) { view_.apply(Decision{view_.next_decision, std::move(body)}); }

  void submit(std::uint32_t number) {
    const auto& job = case_.input.jobs[number];
    const auto& shape = case_.input.shapes[job.shape];
    spec::TrainJob spec;
    spec.epochs = kEpochs;
    spec.system = {static_cast<int>(shape.part.milli_cores / 1000), shape.part.memory, 1.0};
    spec.nodes = static_cast<int>(shape.parts);
    spec.place.seconds = Seconds{case_.seconds[number]};
    spec.place.priority = job.priority;
    const auto id = static_cast<JobId>(number);
    step(JobSubmitted{id, spec}, [this, id, spec] { ask(static_cast<TaskId>(id), spec); });
  }
  void ask(TaskId task, const spec::TrainJob& spec) {
    Request request{task, static_cast<JobId>(task), spec.system};
    request.nodes = spec.nodes;
    decide(request);
  }

  double left(std::size_t job) const {
    const Run& run = run_[job];
    const double works = run.seconds - run.standing;
    return left_[job] * (1 - std::clamp((now_ - run.since - run.standing) / works, 0.0, 1.0));
  }

  void ends(TaskId task, bool stopped) {
    const auto job = static_cast<std::size_t>(task);
    run_[job].runs = false;
    if (stopped) left_[job] = keeps_ ? left(job) : 1;
    step(TaskEnded{task, view_.tasks[job].attempt, {}}, [this, task, stopped] {
      if (stopped)
        ask(task, view_.jobs[static_cast<std::size_t>(task)].base());
      else
        decide(FinishJob{static_cast<JobId>(task), JobState::finished, ""});
    });
  }

  void step(EventBody body, const std::function<void()>& controllers = {}) {
    const Event event{Seconds{now_}, std::move(body)};
    view_.apply(event);
    if (controllers) controllers();
    for (auto& decision : scheduler_.step(view_, event)) {
      const DecisionId id = view_.next_decision;
      decide(decision);
      if (const auto* start = std::get_if<Start>(&decision)) carry_out(*start, id);
      if (const auto* stop = std::get_if<Stop>(&decision)) carry_out(*stop);
      if (const auto* wake = std::get_if<Wake>(&decision)) next(wake->at.value, [this, id] { wakes(id); });
    }
  }

  void carry_out(const Start& start, DecisionId id) {
    const auto job = static_cast<std::size_t>(start.task);
    ReplayStep said{now_, true, static_cast<std::uint32_t>(job), 0, {}};
    view_.tasks[job].each_node([&](NodeId node) {
      said.pool = where_[static_cast<std::size_t>(node)].first;
      said.nodes.push_back(where_[static_cast<std::size_t>(node)].second);
    });
    Run& run = run_[job];
    const double standing = run.moves ? cost_ : 0;
    run = {now_,     standing + left_[job] * case_.input.by_pool[job * case_.speed_factor.size() + said.pool],
           standing, run.number + 1,
           true,     false};
    steps_.push_back(std::move(said));
    next(now_, [this, task = start.task, id] {
      step(TaskStarted{task, view_.tasks[static_cast<std::size_t>(task)].attempt, id, 1, 1, {}});
    });
    next(now_ + run.seconds, [this, task = start.task, number = run.number] {
      const Run& then = run_[static_cast<std::size_t>(task)];
      if (then.runs && then.number == number) ends(task, false);
    });
  }
  void carry_out(const Stop& stop) {
    const auto job = static_cast<std::size_t>(stop.task);
    steps_.push_back({now_, false, static_cast<std::uint32_t>(job), 0, {}});
    run_[job].moves = stop.reason.starts_with("moves");
    next(now_, [this, task = stop.task] { ends(task, true); });
  }

  // Everybody who runs says how far it is, then the scheduler looks who should move.
  void wakes(DecisionId id) {
    for (std::size_t job = 0; job < run_.size(); ++job) {
      if (!run_[job].runs) continue;
      const auto epoch = std::llround((1 - left(job)) * static_cast<double>(kEpochs));
      if (epoch > view_.tasks[job].reported())
        step(EpochEnded{static_cast<TaskId>(job), view_.tasks[job].attempt, epoch, {}, Seconds{1}, {}, {}});
    }
    step(Woke{id});
  }

  const LiveCase& case_;
  place::Scheduler scheduler_;
  View view_;
  bool keeps_ = true;
  double cost_ = 0, now_ = 0;
  std::vector<double> left_;
  std::vector<Run> run_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> where_;  // by node: pool and place in it
  std::map<std::pair<double, std::uint64_t>, std::function<void()>> queue_;
  std::uint64_t events_ = 0;
  std::vector<ReplayStep> steps_;
};

std::string step_text(const ReplayStep& step) {
  if (!step.starts) return fmt::format("{:.6f} stop {}", step.at, step.job);
  std::string nodes;
  for (const auto node : step.nodes) nodes += fmt::format(" {}", node);
  return fmt::format("{:.6f} start {} in {} on{}", step.at, step.job, step.pool, nodes);
}

// The first that differs; "": none.
std::string first_that_differs(const std::vector<ReplayStep>& trace, const std::vector<ReplayStep>& live) {
  for (std::size_t i = 0; i < std::max(trace.size(), live.size()); ++i) {
    const std::string a = i < trace.size() ? step_text(trace[i]) : "nothing",
                      b = i < live.size() ? step_text(live[i]) : "nothing";
    const bool close = i < trace.size() && i < live.size() && std::abs(trace[i].at - live[i].at) < 1e-5;
    if (!close || a.substr(a.find(' ')) != b.substr(b.find(' ')))
      return fmt::format("step {}: trace {}, live {}", i, a, b);
  }
  return "";
}

TEST(TraceAndLive, DecideTheSameUnderEveryPolicyThatBothHost) {
  std::vector<std::string> names{
      "heats:H=0.5:x=8:move=stateful:cost=1",          "heats:H=random:x=5:move=stateful:cost=0.5",
      "heats:H=0:x=3:move=stateful:cost=0:idle=share", "heats:H=1:move=none",
      "kit:weigh=time+energy@0.5:nodes=least",         "kit:weigh=free:nodes=most:order=fifo",
      "kit:filter=threshold@0.9:order=least-work"};
  for (const auto& entry : place::policies())
    if (const auto policy = place::parse_policy(entry.name);
        !policy.dropping && !policy.infra && !policy.heats && entry.name != "kit")
      names.push_back(entry.name);
  std::map<std::string, std::size_t> stops;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto& name = names[seed % names.size()];
    const auto what = drawn_case(seed);
    const auto trace = replay(what.input, place::parse_policy(name));
    const auto live = LivePlay(what, name).run();
    ASSERT_EQ(first_that_differs(trace.steps, live), "") << name << ", seed " << seed;
    for (const auto& step : live) stops[name] += !step.starts;
  }
  EXPECT_GT(stops["preempt-restart"], 50u);
  EXPECT_GT(stops["preempt-resume"], 50u);
  EXPECT_GT(stops["heats:H=0.5:x=8:move=stateful:cost=1"], 10u);
}

}  // namespace
}  // namespace tandem::sim
