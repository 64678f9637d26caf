// One look of the scheduler at the cluster: what is free, who waits, and what follows (scheduler.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "place/placement_reason.h"
#include "place/scheduler.h"

namespace tandem::place {

// What the scheduler learnt so far.
struct Learnt {
  const Experience& experience;
  const JobClasses& classes;
};

// "1 GPU asked for, 0 of 2 free": what stands in the way; "" where nothing does.
std::string what_is_short(const Amount& asked, const Amount& free, const Amount& all);

class Round {
 public:
  Round(const place::Policy&, std::uint64_t seed, const Learnt&, const View&);

  void go_on();       // those that reported and are asked for again
  void serve();       // those that wait
  void reschedule();  // HEATS: those that run
  void wake_again();  // for the next rescheduling

  // Of those that wait without a process: in the order they are tried.
  std::vector<TaskId> in_order() const;
  Explanation explain(TaskId);
  std::vector<DecisionBody> take() { return std::move(out_); }

 private:
  // Where a task would run: a share for each of its nodes.
  struct Spot {
    std::uint32_t type = 0;
    std::vector<Share> shares{};
  };

  const TaskView& task(TaskId id) const { return view_.tasks[static_cast<std::size_t>(id)]; }
  const JobView& job(TaskId id) const { return view_.jobs[static_cast<std::size_t>(task(id).job)]; }
  int priority(TaskId id) const { return job(id).spec.place.priority; }
  double weight(TaskId) const;  // HEATS' H for the task
  Ranking& ranking(TaskId);
  std::vector<std::uint32_t> ranked(TaskId, const TaskWish&);
  std::vector<std::uint32_t> all_ranked(TaskId, const TaskWish&);
  double seconds(TaskId id, std::uint32_t type) const;

  bool take_parts(TaskId, const TaskWish&, std::uint32_t type, std::vector<Pool>& pools,
                  std::vector<Share>& taken);
  bool place(TaskId);
  bool place_by_type(TaskId, const TaskWish&);
  bool alike(TaskId, TaskId) const;  // they ask for the same
  void start(TaskId, const Spot&);
  PlacementReason reason(TaskId, const Spot&);
  double drop_of(TaskId) const;
  Resources goes_on_with(const TaskView&) const;
  std::vector<Consideration> consider_types(TaskId, const TaskWish&);
  std::string shortage(const TaskWish&, std::uint32_t type) const;
  void conclude(TaskId, Explanation&);
  // Infrastructure-aware placement (scheduler_infra.cpp)
  bool place_by_infra(TaskId, const TaskWish&);
  std::vector<Consideration> consider_nodes(TaskId, const TaskWish&);
  std::vector<Judgement> judged(TaskId);
  PlacementReason infra_reason(const PlacedBy&, TaskId, const TaskWish&, NodeId chosen);
  NodeId node_called(const std::string& host) const { return hosts_.at(host); }
  // Preemption (scheduler_moves.cpp)
  bool make_room(TaskId);  // false: there is none to be made
  bool takes_room_made_for_others(const TaskWish&, const Spot&);
  bool evict_on(TaskId, std::uint32_t type, std::vector<Pool>& soon);
  bool held(TaskId) const;  // it reported, was told to wait, and is not ending
  std::vector<TaskId> may_go_for(TaskId, std::uint32_t type) const;
  // Backfill
  void reserve(TaskId);
  bool may_pass(TaskId, const Spot&);
  double left(TaskId) const;  // seconds until it ends, as predicted
  std::optional<Seconds> expected_start(TaskId);
  static constexpr int kMostTries = 500;  // beyond, an answer would take long and say little
  bool looked_too_far_ = false;
  void consider_move(TaskId);

  const place::Policy& policy_;
  std::uint64_t seed_;
  const Experience& experience_;
  const JobClasses& classes_;
  const View& view_;
  Cluster cluster_;
  LivePredictor predictor_;
  std::vector<std::uint32_t> all_types_;
  std::map<double, std::unique_ptr<Ranking>> rankings_;  // by H
  std::vector<DecisionBody> out_;
  // Once those that are being stopped are gone and those they make room for are there.
  std::optional<std::vector<Pool>> soon_;
  struct Reserved {
    double in = 0;             // seconds from now
    std::vector<Pool> then{};  // what is left beside it
  };
  std::optional<Reserved> reserved_;
  std::vector<TaskId> in_vain_;  // found no room in this round; of each kind the first
  std::vector<TaskId> stuck_;    // nor could any be made
  std::vector<TaskId> evicted_;
  std::optional<Catalogue> catalogue_;  // of infrastructure-aware placement; made when it is asked for
  std::map<std::string, NodeId> hosts_;
};

}  // namespace tandem::place
