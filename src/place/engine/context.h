// What placing a task rests on: the policy, what was learnt, the view and its cluster; and how machine types
// rank for a task. Shared by the live scheduler (live.h) and by who explains it (scheduler_explain.h).
//
// Refers to all of it, and keeps no state of its own but rankings made once. One owner; pure.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "place/engine/experience.h"
#include "place/infra/infra_live.h"
#include "place/policy/policies.h"

namespace tandem::place {

// What the scheduler learnt so far.
struct Learnt {
  const Experience& experience;
  const JobClasses& classes;
};

class PlacementContext {
 public:
  PlacementContext(const place::Policy&, std::uint64_t seed, const Learnt&, const View*, const Cluster&);
  virtual ~PlacementContext() = default;
  PlacementContext(const PlacementContext&) = delete;
  PlacementContext& operator=(const PlacementContext&) = delete;

 protected:
  const TaskView& task(TaskId id) const { return view_->tasks[static_cast<std::size_t>(id)]; }
  const JobView& job(TaskId id) const { return view_->jobs[static_cast<std::size_t>(task(id).job)]; }
  int priority(TaskId id) const { return job(id).base().place.priority; }
  // The cluster's types are others now.
  void forget_types();
  // HEATS' H for the task. Energy counts only where it can be told on every type: otherwise machines nobody
  // knows would look thrifty.
  double weight(TaskId) const;
  Ranking& ranking(TaskId id) { return ranking_for(weight(id)); }
  Ranking& ranking_for(double h);
  // Types in the order in which they are tried; those that would miss the job's deadline last.
  std::vector<std::uint32_t> ranked(TaskId, const TaskRequirements&);
  double seconds(TaskId id, std::uint32_t type) const {
    return experience_.expect(*view_, task(id), cluster_, type).seconds;
  }
  // By which the queue is ordered, and among equals.
  double order_key(TaskId, std::span<const std::uint32_t> types) const;
  double second_key(TaskId) const;
  // What it asks of its machines. Where the policy is malleable, one of its options is enough.
  Resources asked_of(TaskId) const;
  TaskRequirements needs_of(TaskId id) const { return requirements_of(*view_, task(id), asked_of(id)); }
  // Seconds until it ends, as expected.
  double left(TaskId) const;
  // What infrastructure-aware placement says of each node; the catalogue is made once.
  std::vector<Judgement> judged(TaskId);
  NodeId node_called(const std::string& host) const { return hosts_.at(host); }
  void forget_observed() { catalogue_.reset(); }

  const place::Policy& policy_;
  std::uint64_t seed_;
  const Experience& experience_;
  const JobClasses& classes_;
  const View* view_;
  const Cluster& cluster_;
  std::unique_ptr<LivePredictor> predictor_;
  std::vector<std::uint32_t> all_types_;
  std::optional<Catalogue> catalogue_;

 private:
  std::map<double, std::unique_ptr<Ranking>> rankings_;  // by H
  std::map<std::string, NodeId> hosts_;
};

}  // namespace tandem::place
