#include "event/consistency.h"

#include <cmath>
#include <set>
#include <string>

#include "base/error.h"

namespace tandem {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 53;  // of anything that is counted, and of bytes
constexpr int kMostUnits = 1 << 24;                    // cores or GPUs of a node

void require(bool holds, const std::string& what) {
  if (!holds) throw Contradiction(what);
}

bool is_number(double value) {
  return std::isfinite(value) && std::abs(value) < 1e18;
}

void check_resources(const Resources& r) {
  require(r.cores >= 0 && r.cores < kMostUnits && r.gpus >= 0 && r.gpus < kMostUnits && r.memory >= 0 &&
              r.memory < kMost && r.gpu_memory >= 0 && r.gpu_memory < kMost && is_number(r.speed) &&
              is_number(r.gpu_power.value) && is_number(r.gpu_clock),
          "it speaks of resources that no node has");
}

// What an entry says, word by word; the tasks it asks for are there for the words after it.
struct Checker {
  const View& view;
  std::int64_t next_task = static_cast<std::int64_t>(view.tasks.size());

  void job(JobId id) const {
    require(view.jobs.contains(id), "it speaks of job " + std::to_string(id) + ", which is not there");
  }
  void node(NodeId id) const {
    require(view.nodes.contains(id), "it speaks of node " + std::to_string(id) + ", which is not there");
  }
  void task(TaskId id) const {
    const bool asked_for_here = id >= static_cast<std::int64_t>(view.tasks.size()) && id < next_task;
    require(asked_for_here || view.tasks.contains(id),
            "it speaks of task " + std::to_string(id) + ", which is not there");
  }
  // Of an attempt speak only words after its Start.
  void started(TaskId id) const {
    task(id);
    require(view.tasks.contains(id) && task_at(view, id).attempt >= 1,
            "it speaks of task " + std::to_string(id) + ", which was not started");
  }

  template <class Word>
  void named(const Word& word) const {
    if constexpr (requires { word.task; }) task(word.task);
    if constexpr (requires { word.job; }) job(word.job);
    if constexpr (requires { word.node; }) node(word.node);
    if constexpr (requires { word.granted; }) check_resources(word.granted);
  }

  // ---- events ----

  void operator()(const JobSubmitted& e) const {
    require(e.job == static_cast<std::int64_t>(view.jobs.size()), "it submits a job that is there already");
  }
  void operator()(const NodeJoined& e) const {
    require(e.node >= 0 && e.node <= static_cast<std::int64_t>(view.nodes.size()),
            "it speaks of a node out of turn");
    check_resources(e.capacity);
  }
  void operator()(const EpochEnded& e) const {
    started(e.task);
    require(e.epoch >= 1 && e.epoch < kMost, "it speaks of an epoch that cannot be");
    require(is_number(e.seconds.value) && is_number(e.startup.value), "an epoch took no time that can be");
  }
  void operator()(const TaskStarted& e) const { started(e.task); }
  void operator()(const SliceEnded& e) const { started(e.task); }
  void operator()(const SystemChanged& e) const {
    started(e.task);
    check_resources(e.granted);
  }
  void operator()(const TaskEnded& e) const { started(e.task); }
  void operator()(const TaskFailed& e) const { started(e.task); }
  void operator()(const JobsArchived& e) const {
    std::set<JobId> seen;
    for (const JobId id : e.jobs) {
      job(id);
      const auto& archived = view.jobs[static_cast<std::size_t>(id)];
      require(seen.insert(id).second && archived.state != JobState::running && archived.at_work == 0,
              "it archives a job that has not ended");
    }
  }

  // ---- decisions ----

  void operator()(const Request& d) {
    job(d.job);
    if (d.task == next_task) ++next_task;
    task(d.task);
    require(!view.tasks.contains(d.task) || task_at(view, d.task).job == d.job,
            "it asks for a task of another job");
    require(d.nodes >= 1 && d.nodes < kMostUnits && d.epochs_left > -kMost && d.epochs_left < kMost,
            "it asks for what cannot be");
    check_resources(d.wanted);
    for (const auto& option : d.options) {
      check_resources(option.resources);
      require(is_number(option.seconds), "it asks for what takes no time that can be");
    }
    if (d.trial && d.trial->clone_from) task(*d.trial->clone_from);
  }
  void operator()(const Start& d) const {
    named(d);
    for (const NodeId other : d.more) node(other);
    if (d.reason)
      for (const auto& candidate : d.reason->best) node(candidate.node);
    require(d.attempt >= 1, "it starts an attempt that cannot be");
    require(is_number(d.drop), "it leaves out a share that cannot be");
  }
  void operator()(const Wake& d) const {
    require(is_number(d.at.value), "it is to wake somebody at a time that cannot be");
  }
  template <class Word>
  void operator()(const Word& word) const {
    named(word);
  }
};

}  // namespace

void check_consistent(const View& view, const Event& event) {
  require(is_number(event.at.value), "it happened at a time that cannot be");
  std::visit(Checker{view}, event.body);
}

void check_consistent(const View& view, std::span<const Decision> decisions) {
  Checker check{view};
  auto next = view.next_decision;
  for (const auto& decision : decisions) {
    require(decision.id >= next && decision.id < kMost, "its decisions are out of turn");
    next = decision.id + 1;
    std::visit(check, decision.body);
  }
}

void apply_checked(View& view, const Event& event, std::span<const Decision> decisions) {
  check_consistent(view, event);
  view.apply(event);
  check_consistent(view, decisions);
  for (const auto& decision : decisions) view.apply(decision);
}

}  // namespace tandem
