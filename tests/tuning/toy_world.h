// A world made of arithmetic: trials whose epochs take as long as a formula says. For tests of policies.
//
// It keeps its own account of cores and memory, from the decisions alone, and throws when one is handed out
// twice: that is the property no policy may break. Virtual clock; deterministic.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/random.h"
#include "control/ports.h"

namespace tandem::toy {

struct Behaviour {
  std::function<double(const Values&, const Resources&)> seconds;  // an epoch
  std::function<Metrics(const Values&, std::int64_t epoch)> metrics;
  std::function<Metrics(const Values&, const Resources&)> rates = [](const auto&, const auto&) {
    return Metrics{};
  };
  // Fails in this epoch of this attempt with this.
  std::function<std::optional<Failure>(TaskId, Attempt, std::int64_t epoch)> fails =
      [](TaskId, Attempt, std::int64_t) { return std::nullopt; };
  double startup = 0.5;
  double first = 1;  // how much longer a process's first epoch takes
  bool checkpoints = true;
  bool metered = true;          // somebody can tell its energy
  std::int64_t ends_after = 0;  // so many epochs the program ends by itself; 0: it goes on as long as it may
};

class World final : public control::World {
 public:
  World(Resources capacity, Behaviour behaviour) : capacity_(capacity), does_(std::move(behaviour)) {}

  control::Capabilities capabilities() const override { return {.resizes_at_work = true}; }
  Seconds now() override { return Seconds{clock_}; }
  std::vector<NodeJoined> nodes() override { return {NodeJoined{0, "toy", capacity_, "toy machine"}}; }

  void carry_out(const Decision& decision, const View& view) override {
    std::visit([&](const auto& d) { carry(decision.id, d, view); }, decision.body);
    check();
  }

  std::vector<Event> wait(Seconds at_most) override {
    if (!now_.empty()) return std::exchange(now_, {});
    if (later_.empty()) {
      if (++idle_ > 1000) throw std::logic_error("nothing happens any more");
      clock_ += at_most.value;
      return {};
    }
    idle_ = 0;
    auto next = later_.begin();
    if (next->first.first > clock_ + at_most.value && at_most.value < 0.05) return {};  // gathering company
    clock_ = std::max(clock_, next->first.first);
    auto happens = std::move(next->second);
    later_.erase(next);
    happens();
    return std::exchange(now_, {});
  }

  std::vector<Event> reconcile(const View& view) override {
    for (TaskId id : view.holding)
      say(TaskFailed{id, view.tasks[static_cast<std::size_t>(id)].attempt, Failure::lost, "gone", "", {}});
    return std::exchange(now_, {});
  }

  int most_cores_used = 0, most_alive = 0;
  double busy_core_seconds = 0;

 private:
  struct Running {
    Attempt attempt;
    Resources granted;
    int cores = 0;  // its own now
    std::int64_t epoch = 0, durable = 0;
    Values hyper;
    bool waits = false;
  };

  void at(double when, std::function<void()> what) {
    later_.emplace(std::pair(when, ++sequence_), std::move(what));
  }
  void say(EventBody body) { now_.push_back({Seconds{clock_}, std::move(body)}); }

  void check() {
    int cores = 0;
    Bytes memory = 0;
    for (const auto& [id, task] : alive_) cores += task.cores, memory += task.granted.memory;
    if (cores > capacity_.cores) throw std::logic_error("more cores are handed out than there are");
    if (memory > capacity_.memory) throw std::logic_error("more memory is handed out than there is");
    most_cores_used = std::max(most_cores_used, cores);
    most_alive = std::max(most_alive, static_cast<int>(alive_.size()));
  }

  Running* find(TaskId task, Attempt attempt) {
    auto found = alive_.find(task);
    return found != alive_.end() && found->second.attempt == attempt ? &found->second : nullptr;
  }

  void run_epoch(TaskId id) {
    auto& task = alive_.at(id);
    const auto attempt = task.attempt;
    const std::int64_t epoch = task.epoch + 1;
    if (does_.ends_after > 0 && task.epoch >= does_.ends_after) {
      alive_.erase(id);
      say(TaskEnded{id, attempt, Energy{Joules{0}, "toy"}});
      return;
    }
    const double seconds = does_.seconds(task.hyper, task.granted) * (task.waits ? 1 : does_.first);
    busy_core_seconds += seconds * task.cores;
    const double startup = task.waits ? 0 : does_.startup;
    task.waits = false;
    at(clock_ + startup + seconds, [=, this] {
      auto* t = find(id, attempt);
      if (!t) return;
      if (const auto failure = does_.fails(id, attempt, epoch)) {
        alive_.erase(id);
        say(TaskFailed{id, attempt, *failure, "as asked", "last words", Energy{Joules{1}, "toy"}});
        return;
      }
      t->epoch = epoch;
      t->waits = true;
      if (does_.checkpoints) durable_[id] = epoch;
      say(EpochEnded{id, attempt, epoch, does_.metrics(t->hyper, epoch), Seconds{startup + seconds},
                     does_.metered ? std::optional(Energy{Joules{seconds * t->granted.cores * 10}, "toy"})
                                   : std::nullopt,
                     Profile{does_.rates(t->hyper, t->granted)}, Seconds{startup}});
    });
  }

  void carry(DecisionId id, const Start& d, const View& view) {
    const auto& task = view.tasks[static_cast<std::size_t>(d.task)];
    if (alive_.contains(d.task)) throw std::logic_error("a task is started twice");
    if (task.trial->clone_from) durable_.emplace(d.task, task.trial->clone_epoch);
    Running running{d.attempt,        d.granted,        d.granted.cores,
                    durable_[d.task], durable_[d.task], task.trial->hyper};
    alive_[d.task] = running;
    say(TaskStarted{d.task, d.attempt, id, 1, 1, {}});
    run_epoch(d.task);
  }
  void carry(DecisionId, const Continue& d, const View&) {
    auto* task = find(d.task, d.attempt);
    if (!task) return;  // it went a moment ago; that is being reported
    if (!task->waits || task->cores == 0)
      throw std::logic_error("continued what cannot go on: task " + std::to_string(d.task) + " attempt " +
                             std::to_string(d.attempt) + (task->waits ? " without cores" : " at work"));
    run_epoch(d.task);
  }
  void carry(DecisionId, const Hold& d, const View&) {
    if (auto* task = find(d.task, d.attempt)) {
      if (!task->waits) throw std::logic_error("held while it is at work");
      task->cores = 0;
    }
  }
  void carry(DecisionId id, const Resize& d, const View&) {
    auto* task = find(d.task, d.attempt);
    if (!task) return;
    if (!task->waits) throw std::logic_error("resized while it is at work");
    task->granted = d.granted;
    task->cores = d.granted.cores;
    say(SystemChanged{d.task, d.attempt, id, d.granted});
  }
  void carry(DecisionId, const Stop& d, const View&) {
    const auto* task = find(d.task, d.attempt);
    if (!task) return;
    at(clock_ + 0.01, [=, this] {
      if (!find(d.task, d.attempt)) return;
      alive_.erase(d.task);
      say(TaskEnded{d.task, d.attempt, Energy{Joules{0}, "toy"}});
    });
  }
  void carry(DecisionId id, const Wake& d, const View&) {
    at(d.at.value, [=, this] { say(Woke{id}); });
  }
  template <class Other>
  void carry(DecisionId, const Other&, const View&) {}

  Resources capacity_;
  Behaviour does_;
  double clock_ = 1000;
  std::int64_t sequence_ = 0;
  int idle_ = 0;
  std::map<TaskId, Running> alive_;
  std::map<TaskId, std::int64_t> durable_;
  std::map<std::pair<double, std::int64_t>, std::function<void()>> later_;
  std::vector<Event> now_;
};

}  // namespace tandem::toy
