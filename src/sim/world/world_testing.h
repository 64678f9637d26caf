// Drives a simulated world by hand, as the contract test does: decisions go to a view and to the world,
// events to the view and into a list.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "sim/world/programs_testing.h"
#include "sim/world/world.h"

namespace tandem::sim {

inline constexpr Seconds kHoweverLong{std::numeric_limits<double>::infinity()};

inline NodeGroup nodes_like(int count, int cores = 4, Bytes memory = 16 * kGiB) {
  return {.name = "n", .type = "simulated machine", .capacity = {cores, memory, 1.0}, .count = count};
}

class ByHand : public testing::Test {
 protected:
  void open(WorldOptions options) {
    world_ = std::make_unique<World>(std::move(options), *programs_);
    for (const auto& node : world_->nodes()) view_.apply(Event{world_->now(), node});
  }
  void submit(std::vector<std::string> command, std::int64_t epochs = 3, Seconds stall = Seconds{600}) {
    spec::TrainJob job;
    job.program.command = std::move(command);
    job.epochs = epochs;
    job.limits.stall = stall;
    view_.apply(Event{world_->now(), JobSubmitted{static_cast<JobId>(view_.jobs.size()), job}});
  }
  DecisionId decide(DecisionBody body) {
    const Decision decision{view_.next_decision, std::move(body)};
    view_.apply(decision);
    world_->carry_out(decision, view_);
    return decision.id;
  }
  DecisionId start(TaskId task, Attempt attempt = 1, Resources granted = {}, NodeId node = 0) {
    Request request;
    request.task = task;
    request.wanted = granted;
    decide(request);
    return decide(Start{task, attempt, node, granted});
  }
  DecisionId start_gang(TaskId task, NodeId node, std::vector<NodeId> more, Resources granted = {}) {
    Request request;
    request.task = task;
    request.wanted = granted;
    request.nodes = static_cast<std::int32_t>(1 + more.size());
    decide(request);
    return decide(Start{task, 1, node, granted, 0, std::move(more)});
  }
  void wait(Seconds at_most = kHoweverLong) {
    for (auto& event : world_->wait(at_most)) {
      view_.apply(event);
      seen_.push_back(std::move(event));
    }
  }
  // The next event of this kind; what comes with or before it is seen too.
  template <class Kind>
  Kind until() {
    for (int rounds = 0; rounds < 1000; ++rounds) {
      for (; looked_at_ < seen_.size(); ++looked_at_)
        if (const auto* found = std::get_if<Kind>(&seen_[looked_at_].body)) {
          ++looked_at_;
          return *found;
        }
      wait();
    }
    ADD_FAILURE() << "that never happens";
    return {};
  }
  // Every report is answered until the task is over.
  void run_to_its_end(TaskId task) {
    while (view_.tasks[static_cast<std::size_t>(task)].alive) {
      const std::size_t before = seen_.size();
      wait();
      ASSERT_GT(seen_.size(), before) << "nothing happens any more";
      for (std::size_t i = before; i < seen_.size(); ++i)
        if (const auto* report = std::get_if<EpochEnded>(&seen_[i].body))
          decide(Continue{report->task, report->attempt, report->epoch});
    }
  }
  template <class Kind>
  int count() const {
    int n = 0;
    for (const auto& event : seen_) n += std::holds_alternative<Kind>(event.body);
    return n;
  }
  const TaskView& task(TaskId id = 0) const { return view_.tasks.at(static_cast<std::size_t>(id)); }

  Speaker speaker_;
  Programs* programs_ = &speaker_;
  std::unique_ptr<World> world_;
  View view_;
  std::vector<Event> seen_;
  std::size_t looked_at_ = 0;
};

}  // namespace tandem::sim
