// What tests of the scheduler share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "place/engine/scheduler.h"

namespace tandem::place {

// A cluster, jobs and a scheduler without a world: what it decides is applied, and what happens is said here.
class SchedulerTest : public testing::Test {
 protected:
  void policy(const std::string& text) { scheduler_.emplace(parse_policy(text), 1); }

  NodeId node(const std::string& type, int cores, double speed_factor = 1, double idle = 10,
              double busy = 20) {
    NodeTraits traits;
    traits.speed_factor = speed_factor;
    if (busy > 0) traits.idle = Watts{idle}, traits.busy = Watts{busy};
    const auto id = static_cast<NodeId>(view_.nodes.size());
    happens(NodeJoined{id, type + std::to_string(id), {cores, Bytes{1} << 33, 1.0}, type, traits});
    return id;
  }
  TaskId job(int cores, double seconds, spec::PlaceSpec place = {}, int nodes = 1) {
    spec::TrainJob spec;
    spec.program.command = {"work"};
    spec.program.plain = true;
    spec.epochs = 0;
    spec.system.cores = cores;
    spec.nodes = nodes;
    spec.place = std::move(place);
    if (seconds > 0) spec.place.seconds = Seconds{seconds};
    const auto id = static_cast<JobId>(view_.jobs.size());
    view_.apply(Event{view_.now, JobSubmitted{id, spec}});
    Request request{static_cast<TaskId>(view_.tasks.size()), id, spec.system};
    request.priority = spec.place.priority;
    request.nodes = nodes;
    decide(request);
    step(JobSubmitted{id, spec});
    return request.task;
  }
  void happens(EventBody body) {
    view_.apply(Event{view_.now, body});
    step(std::move(body));
  }
  void observed(NodeId node, NodeLoad load) { happens(NodeObserved{node, load}); }
  void after(double seconds) { view_.now = view_.now + Seconds{seconds}; }
  void starts(TaskId task) { happens(TaskStarted{task, at(task).attempt, 0, 0, 0, {}}); }
  void ends(TaskId task) {
    const bool again = at(task).evicted;
    view_.apply(Event{view_.now, TaskEnded{task, at(task).attempt, {}}});
    if (again) {
      Request request{task, at(task).job, at(task).wanted};
      request.nodes = at(task).nodes_wanted;
      decide(request);
    } else {
      decide(FinishJob{at(task).job, JobState::finished, ""});
    }
    step(TaskEnded{task, at(task).attempt, {}});
  }
  void wakes() {
    for (const auto& [id, decision] : view_.open)
      if (std::holds_alternative<Wake>(decision.body)) {
        view_.now = std::max(view_.now, std::get<Wake>(decision.body).at);
        return happens(Woke{id});
      }
    ADD_FAILURE() << "nobody asked to be woken";
  }

  const TaskView& at(TaskId task) const { return view_.tasks[static_cast<std::size_t>(task)]; }
  bool runs(TaskId task) const {
    return at(task).state == TaskState::starting || at(task).state == TaskState::running;
  }
  std::vector<NodeId> nodes_of(TaskId task) const {
    std::vector<NodeId> out;
    at(task).each_node([&](NodeId one) { out.push_back(one); });
    return out;
  }
  std::string type_of(TaskId task) const { return view_.nodes[static_cast<std::size_t>(at(task).node)].type; }
  const JobView& job_of(TaskId task) const { return view_.jobs[static_cast<std::size_t>(at(task).job)]; }

  std::optional<Scheduler> scheduler_;
  View view_;

 private:
  void decide(DecisionBody body) { view_.apply(Decision{view_.next_decision, std::move(body)}); }
  void step(EventBody body) {
    if (!scheduler_) return;
    for (auto& decision : scheduler_->step(view_, Event{view_.now, std::move(body)}))
      decide(std::move(decision));
  }
};

}  // namespace tandem::place
