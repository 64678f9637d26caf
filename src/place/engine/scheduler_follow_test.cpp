// The live scheduler's index of the view, against one made anew after every event.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "place/engine/scheduler.h"

namespace tandem::place {
namespace {

// A cluster to which everything happens: nodes go and come back, jobs come, end, fail, are held, released,
// evicted and cancelled.
class Storm {
 public:
  Storm(const std::string& policy, std::uint64_t seed)
      : random_(seed, 77),
        policy_(parse_policy(policy)),
        scheduler_(policy_, 1),
        name_(policy + " seed " + std::to_string(seed)) {
    const int types = 1 + static_cast<int>(random_.below(3));
    for (int type = 0; type < types; ++type) {
      const int nodes = 1 + static_cast<int>(random_.below(4));
      NodeTraits traits;
      traits.speed_factor = 0.5 + 0.7 * type;
      if (random_.below(4) > 0) traits.idle = Watts{5.0 + 3 * type}, traits.busy = Watts{20.0 + 30.0 * type};
      if (type == 1) traits.labels = {"ssd"};
      Resources has{4 << type, Bytes{8} << 30, 1.0};
      if (type == 2) has.gpus = 2;
      for (int i = 0; i < nodes; ++i)
        happens(NodeJoined{static_cast<NodeId>(view_.nodes.size()), "n" + std::to_string(view_.nodes.size()),
                           has, "type" + std::to_string(type), traits});
    }
    for (const auto& node : view_.nodes.values()) happens(NodeObserved{node.id, {.cpu = 0.1}});
  }

  void run(int events) {
    for (int i = 0; i < events && !testing::Test::HasFailure(); ++i) {
      if (random_.below(3) > 0) now_ += random_.uniform(0, 8);
      something();
    }
  }
  int starts = 0, stops = 0, resizes = 0;

 private:
  TaskId pick(const std::function<bool(const TaskView&)>& good) {
    std::vector<TaskId> all;
    for (const auto& t : view_.tasks)
      if (good(t)) all.push_back(t.id);
    return all.empty() ? -1 : all[random_.below(all.size())];
  }
  const TaskView& at(TaskId id) { return view_.tasks[static_cast<std::size_t>(id)]; }

  void something() {
    const auto what = random_.below(20);
    if (what < 7) return submit();
    if (what < 11) {
      const auto id = pick([](const auto& t) { return t.state == TaskState::starting; });
      if (id >= 0) return happens(TaskStarted{id, at(id).attempt, start_of(id), 0, 0, {}});
    }
    if (what < 15 && !(policy_.malleable && random_.below(2) == 0)) {
      const auto id =
          pick([](const auto& t) { return t.state == TaskState::running || t.state == TaskState::stopping; });
      if (id >= 0) return ends(id);
    }
    if (what < 16) {
      const auto id = pick([](const auto& t) { return t.state == TaskState::running; });
      if (id >= 0) return reports(id);
    }
    if (what == 16) {
      const auto id = pick([](const auto& t) { return t.state == TaskState::held; });
      if (id >= 0) {
        after_ = [this, id] {
          if (random_.below(3) == 0)
            decide(Release{id, "enough"});
          else
            ask(id);
        };
        return happens(Woke{0});
      }
    }
    if (what == 17) {
      const auto& node = view_.nodes[random_.below(view_.nodes.size())];
      return happens(NodeJoined{node.id, node.name,
                                node.capacity.cores == 0 ? node.largest : Resources{0, 0, 1.0}, node.type,
                                node.traits});
    }
    if (what == 18 && !view_.jobs.empty()) {
      const auto job = static_cast<JobId>(random_.below(view_.jobs.size()));
      if (random_.below(4) == 0) return happens(JobCancelled{job, "enough"});
      const auto id = pick([](const auto& t) { return t.alive; });
      if (id >= 0 && random_.below(2) == 0) {
        after_ = [this, id] { ask(id); };
        return happens(TaskFailed{id, at(id).attempt, Failure::lost, "", "", {}});
      }
    }
    for (const auto& [id, decision] : view_.open)
      if (const auto* wake = std::get_if<Wake>(&decision.body)) {
        now_ = std::max(now_, wake->at.value);
        return happens(Woke{id});
      }
  }

  DecisionId start_of(TaskId id) {
    for (const auto& [number, decision] : view_.open)
      if (const auto* start = std::get_if<Start>(&decision.body); start && start->task == id) return number;
    return 0;
  }
  void submit() {
    spec::TrainJob job;
    job.program.plain = random_.below(2) == 0;
    job.epochs = job.program.plain ? 0 : 10;
    job.system.cores = 1 + static_cast<int>(random_.below(4));
    if (random_.below(3) == 0) job.system.memory = Bytes{1} << (28 + random_.below(5));
    if (random_.below(6) == 0) job.system.gpus = 1;
    if (random_.below(5) == 0) job.nodes = 2;
    job.place.priority = static_cast<int>(random_.below(3));
    if (random_.below(5) > 0) job.place.seconds = Seconds{5.0 * static_cast<double>(1 + random_.below(8))};
    if (random_.below(5) == 0) job.place.labels = {random_.below(2) == 0 ? "ssd" : "!ssd"};
    if (random_.below(4) == 0)
      job.place.family = "f", job.place.work = static_cast<double>(1 + random_.below(3));
    if (random_.below(6) == 0) job.place.deadline = Seconds{30};
    if (random_.below(4) == 0) job.place.energy_weight = 0.3;
    if (random_.below(3) == 0) job.place.loss = 0.2;
    const auto id = static_cast<JobId>(view_.jobs.size());
    const int tasks = random_.below(6) == 0 ? 3 : 1;
    after_ = [this, id, job, tasks] {
      for (int i = 0; i < tasks; ++i) {
        Request request{static_cast<TaskId>(view_.tasks.size()), id, job.system};
        request.nodes = job.nodes;
        leave_open(request);
        decide(request);
      }
    };
    happens(JobSubmitted{id, job});
  }
  void ask(TaskId id) {
    Request request{id, at(id).job, at(id).wanted};
    request.nodes = at(id).nodes_wanted;
    leave_open(request);
    decide(request);
  }
  void leave_open(Request& request) {
    if (!policy_.malleable || request.nodes > 1 || random_.below(5) == 0) return;
    const double serial = random_.uniform();
    for (int cores = 1; cores <= 8; cores *= 2) {
      Resources size = request.wanted;
      size.cores = cores;
      request.options.push_back({size, 3 * (serial + (1 - serial) / cores)});
    }
    request.epochs_left = static_cast<std::int64_t>(1 + random_.below(9));
  }
  void ends(TaskId id) {
    after_ = [this, id, again = at(id).evicted] {
      if (again)
        ask(id);
      else
        decide(FinishJob{at(id).job, JobState::finished, "done"});
    };
    happens(TaskEnded{id, at(id).attempt, {}});
  }
  void reports(TaskId id) {
    after_ = [this, id] {
      if (random_.below(2) == 0)
        decide(Hold{id, at(id).attempt});
      else
        ask(id);
    };
    happens(EpochEnded{id, at(id).attempt, at(id).reported() + 1, {}, Seconds{1}, {}, {}});
  }

  void decide(DecisionBody body) { view_.apply(Decision{view_.next_decision, std::move(body)}); }
  void happens(EventBody body) {
    const Event event{Seconds{now_}, std::move(body)};
    view_.apply(event);
    if (after_) std::exchange(after_, nullptr)();
    const auto anew = policy_.malleable ? decided_anew(event) : std::vector<DecisionBody>{};
    const auto now = scheduler_.step(view_, event);
    if (policy_.malleable && now != anew)
      ADD_FAILURE() << name_ << " event " << view_.events << " is decided otherwise";
    for (const auto& made : now) {
      starts += std::holds_alternative<Start>(made), stops += std::holds_alternative<Stop>(made);
      resizes += std::holds_alternative<Resize>(made);
      decide(made);
    }
    const auto differs = scheduler_.check(view_);
    if (!differs.empty()) ADD_FAILURE() << name_ << " event " << view_.events << ": " << differs;
  }

  // By one that knows no more than the view, and so looks at every node.
  std::vector<DecisionBody> decided_anew(const Event& event) const {
    Scheduler other(policy_, 1);
    other.restore(*scheduler_.save(view_));
    return other.step(view_, event);
  }

  Random random_;
  place::Policy policy_;
  Scheduler scheduler_;
  std::string name_;
  View view_;
  double now_ = 0;
  std::function<void()> after_;
};

// What the scheduler keeps from event to event is what it would make of the view anew.
TEST(SchedulerFollows, TheViewThroughEverythingThatCanHappen) {
  std::vector<std::string> names{"fifo:malleable",
                                 "priority:malleable",
                                 "spread:malleable",
                                 "kit:filter=threshold@0.8:nodes=least:malleable",
                                 "heats:H=0.5:x=10:cost=1",
                                 "heats:H=random:x=5",
                                 "kit:filter=threshold@0.8:weigh=free+time:nodes=most",
                                 "kit:weigh=full:order=fifo"};
  for (const auto& entry : policies()) names.push_back(entry.name);
  for (const auto& name : names) {
    int starts = 0, stops = 0, resizes = 0;
    for (std::uint64_t seed = 0; seed < 10 && !HasFailure(); ++seed) {
      Storm storm(name, seed);
      storm.run(250);
      starts += storm.starts, stops += storm.stops, resizes += storm.resizes;
    }
    EXPECT_GT(resizes, parse_policy(name).malleable ? 20 : -1) << name;
    EXPECT_GT(starts, 100) << name;
    EXPECT_GT(stops, 10) << name;
  }
}

}  // namespace
}  // namespace tandem::place
