// The live host of the placement engine: it follows the view, and turns what the engine says into decisions.
//
// What it keeps (the cluster and what is free on it, who waits in which line, who holds what) follows the
// view by what changed (View::touched), so an event costs what it concerns. Where it has lost track (it did
// not see all changes, or a node became another), and only there, everything is made anew from the view; both
// ways give the same (`check`). Refers to the view only during a call. One owner; pure.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "place/engine/context.h"
#include "place/engine/engine.h"

namespace tandem::place {

class Live final : public PlacementContext, public EngineHost {
 public:
  Live(const place::Policy&, std::uint64_t seed, const Learnt&);

  // After the view took an event, and what others decided on it. `learnt`: of this family of jobs, something.
  void follow(const View&, const std::string* learnt);
  std::vector<DecisionBody> decide(const Event&);
  // What differs from the state that would be made anew of the view it followed last; "": nothing.
  std::string check();
  // It did not see what happened, or something else was learnt: all is made anew when it follows again.
  void lose_track() { exact_ = false; }
  // Nodes that rounds of a malleable policy looked at so far. For tests.
  std::uint64_t nodes_looked_at() const { return nodes_looked_at_; }
  // For so many tasks it keeps memory, whether it knows anything of them or not. For tests.
  std::size_t room_for_tasks() const { return std::max(engine_.room_for_tasks(), line_of_task_.room()); }

 private:
  // Tasks alike in all that placing them rests on.
  struct Line {
    TaskRequirements needs{};
    std::uint32_t number = 0;            // the engine's
    std::uint64_t version = 0;           // of what was learnt, when what follows was found
    std::vector<std::uint32_t> order{};  // types, best first, where the room they have does not matter
    std::vector<Expected> expected{};    // by type
    std::vector<HeatsScore> scores{};    // under HEATS, of the same order
    double h = 0;
  };
  using LineKey = std::tuple<int, Bytes, double, int, double, double, int, int, std::string, std::string,
                             std::vector<std::string>, int, double, std::string, double, double, double>;

  const std::vector<std::uint32_t>& ranked(std::uint32_t task) override;
  Where where(std::uint32_t task, std::uint32_t type) override;
  Lasts lasts(std::uint32_t task, std::uint32_t type, std::span<const Share>) override;
  bool chooses_nodes() const override { return policy_.infra.has_value(); }
  std::optional<std::vector<Placed>> choose(std::uint32_t task) override;
  void start(std::uint32_t task, std::span<const Placed>) override;
  void stop(std::uint32_t task, const StopCause&) override;

  // Following (live_follow.cpp)
  void make_anew();
  void follow_node(NodeId);
  void follow_task(TaskId);
  void forget_task(TaskId);  // its job was archived
  void follow_family(const std::string&);
  void note_family(TaskId, bool matters);
  void forget_lines();
  Line& find_line(TaskId);
  Line& line_of(TaskId id) { return lines_[line_of_task_[static_cast<std::uint32_t>(id)]]; }
  Line& line_known(TaskId);  // with what is expected of its tasks
  bool order_is_fixed() const;

  // Deciding
  void go_on();  // those that reported and are asked for again
  Resources goes_on_with(const TaskView&) const;
  Start start_of(TaskId, std::span<const Placed>, const Resources& granted);
  // Where the policy is malleable (live_malleable.cpp): a round of its own in place of the engine's.
  class MalleableRound;
  void resize_and_serve();
  bool resizes(const TaskView& t) const { return policy_.malleable && t.nodes_wanted == 1; }
  bool is_one_machine() const { return view_->nodes.size() == 1; }
  double drop_of(TaskId) const;
  // Why it starts there (live_reason.cpp).
  PlacementReason reason(TaskId, const Placed&);
  PlacementCandidate candidate(TaskId, std::uint32_t type);
  void reschedule();
  void consider_move(TaskId);
  void wake_again();
  bool reschedules() const;

  Cluster own_;  // what `cluster_` refers to
  Engine engine_;
  std::uint64_t seen_ = 0, version_ = 1;
  bool exact_ = false;  // every task has all it holds; otherwise the next one to go may make room for it
  static constexpr std::size_t kMostLines = 10'000;  // beside those that are in use: then it is made anew
  std::deque<Line> lines_;
  std::map<LineKey, std::uint32_t> by_key_;
  std::map<LineKey, std::uint32_t> shapes_;  // the engine's
  ByTask<std::uint32_t> line_of_task_;
  // Whom it concerns when something is learnt of a family: lines, and tasks that wait or hold something,
  // where their place in the queue or their expected end rests on it.
  struct Family {
    std::vector<std::uint32_t> lines{};
    std::set<TaskId> tasks{};
  };
  std::map<std::string, Family> families_;
  std::set<TaskId> unwanted_, answering_;   // have a process: to be stopped; wait for their answer
  std::set<TaskId> refused_;                // their jobs can never run here
  std::optional<Engine::NodeKey> awaited_;  // by the first that found no room, where the policy is malleable
  std::uint64_t nodes_looked_at_ = 0;
  std::vector<std::uint32_t> ranked_;
  // Of a policy that chooses nodes: the best few of those that the task asked last could be put on.
  std::vector<std::pair<NodeId, Judgement>> chosen_from_;
  std::int32_t could_choose_ = 0;  // how many there were
  std::vector<DecisionBody> out_;
};

}  // namespace tandem::place
