// The world that is not there: any number of nodes on a virtual clock, with programs that are made of answers
// (programs.h), power (power.h) and failures (failures.h).
//
// It does what the local world does (runtime/local/world.h), decision by decision: the same outcome events in
// the same situations, the same refusals; tests/contract runs over both. What differs: `wait` never sleeps,
// it moves the clock to the next event, as far as it may; a Stop always reaches its program; processes
// have no pid and no CPU numbers; joules come with the events, so no sensor is needed.
//
// A gang is one program on several nodes: it is asked for its answers once, and has its cores, memory and
// power on each of them. When one of its nodes fails, all of it is lost.
//
// A program that is resized in the middle of an epoch does the rest of it at its new pace. While it starts,
// saves a checkpoint or ends, one core is busy.
//
// A node that fails reports NodeJoined with nothing to give, then each of its tasks as lost (or as ended,
// where it was told to stop); repaired, it joins with its full capacity. Checkpoints are on storage that
// survives, so the next attempt goes on after the last reported epoch wherever it runs. News of nodes comes
// before all else of the same moment, in a batch of its own, so that no decision rests on a node that is
// gone. While nothing runs and nothing is to come, drawn failures pause: a simulation with nothing left to do
// comes to its end.
//
// What others do on a node may be stated (NodeGroup::background): it is observed at once when it changes, and
// again when the node comes back. It is news of nodes; programs run on as they would.
//
// Order is total: by time, then nodes, programs, wakes, arrivals, then by when it was determined. No
// event costs a look at all nodes or all tasks. Any number of worlds can run side by side; one thread
// uses each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "control/dispatch.h"
#include "control/ledger.h"
#include "sim/engine/heap.h"
#include "sim/world/failures.h"
#include "sim/world/power.h"
#include "sim/world/programs.h"
#include "sim/world/world_arrivals.h"
#include "sim/world/world_attempt.h"

namespace tandem::sim {

// What others use of a node from then on.
struct Background {
  Seconds after;  // the start of the world
  NodeLoad load{};
};

// Nodes that are alike.
struct NodeGroup {
  std::string name = "node";  // of one; several are name-N, by node id
  std::string type{};         // what was learned on one is good for others of its type; empty: the name
  Resources capacity{};       // speed is not used
  int count = 1;
  std::optional<PowerModel> power{};     // none: joules are what programs say, if they do
  NodeTraits traits{};                   // its power is told as `power` says
  std::vector<Background> background{};  // in the order of time; empty: nobody observes them
};

struct WorldOptions {
  std::vector<NodeGroup> nodes{};
  Failures failures{};
  Arrivals* arrivals = nullptr;  // used until the world is gone
  Seconds start{};               // what the clock shows at first
  Seconds grace{5};              // a program that is told to end takes no longer
  bool open_ended = false;       // jobs come from outside: waiting for nothing is no mistake
};

// Of any simulated world; GPUs, power and what others use are as its nodes are described.
inline constexpr control::Capabilities kSimulatedCapabilities{
    .energy = true, .load = true, .resizes_at_work = true, .gpus = true, .gang_gpus = true};

class World final : public control::Dispatching<Attempted> {
 public:
  // UserError when there are no nodes, or some that cannot be. `programs` must live as long.
  World(WorldOptions, Programs& programs);

  control::Capabilities capabilities() const override;
  Seconds now() override { return now_; }
  std::vector<NodeJoined> nodes() override;
  // Infinity: to the next event, however far. Empty then: nothing will happen any more. SystemError when
  // the loop keeps waiting although nothing will.
  std::vector<Event> wait(Seconds at_most) override;
  std::vector<Event> reconcile(const View&) override;

  bool all_arrived() const { return !options_.arrivals || !options_.arrivals->next(); }
  // Of all nodes whose power is known, so far: drawn in all, and while nobody was at work.
  Joules joules();
  Joules unclaimed();

 private:
  using Slot = std::uint32_t;
  struct Node {
    std::uint32_t group = 0;
    bool up = true;
    Outage outage{};  // the present or next one
    NodePower power{};
    std::vector<Slot> tasks{};
    std::size_t background = 0;  // of its group's: how many have begun
  };
  using Waking = std::pair<double, DecisionId>;

  Attempted* find(tandem::TaskId, Attempt) override;
  void start(DecisionId, const Start&, const View&) override;
  void resize(DecisionId, Attempted&, const Resize&, const View&) override;
  void go_on(Attempted&, const Continue&, const View&) override;
  void hold(Attempted&) override;
  void lend_cores(Attempted& a) override { hold(a); }
  void stop(Attempted&) override;
  Checkpoints checkpoints(Attempted& a) override { return {a.keeps_checkpoints, a.checkpoint_asked}; }
  void wake_at(Seconds at, DecisionId id) override { wakes_.emplace(at.value, id); }
  void refuse(DecisionId, const std::string& reason) override;

  void prepare_epoch(Attempted&, const View&);
  void begin(Attempted&, Doing, Seconds lasts);
  void plan(Attempted&, Seconds end);
  void draw_power(Attempted&);
  std::optional<Energy> energy_since_report(Attempted&);

  double next_time() const;
  void happen();
  void happens_to(Attempted&);
  void ready(Attempted&);
  void go_on(Attempted&);
  void epoch_over(Attempted&);
  void exited(Attempted&);
  void fail(Attempted&, Failure, const std::string& detail);
  void end(Attempted&);
  void release(Attempted&);
  void sit_down(Attempted&, NodeId);

  void plan_outage(NodeId);
  void happens_to_node(NodeId);
  void lose(NodeId);
  void plan_background(NodeId);
  void background_changes(NodeId);
  bool nothing_to_do() const { return alive_ == 0 && wakes_.empty() && all_arrived(); }

  Node& node_of(const Attempted::Part& part) { return nodes_[static_cast<std::size_t>(part.node)]; }
  const NodeGroup& group_of(NodeId) const;
  std::string name_of(NodeId) const;
  NodeJoined joined(NodeId, const Resources& capacity) const;
  std::string why_not(const std::vector<NodeId>&, const Resources&) const;
  ProgramRun run_of(const Attempted&, const View&) const;
  Attempted* attempt_of(tandem::TaskId);
  Attempted& take_slot(tandem::TaskId);
  Slot slot_of(const Attempted& a) const { return slot_of_task_[static_cast<std::size_t>(a.task)]; }
  void say(EventBody);

  WorldOptions options_;
  Programs& programs_;
  Seconds now_;
  std::vector<std::string> energy_sources_;  // by group
  std::vector<Node> nodes_;
  control::Ledger ledger_;           // one that is down keeps its room: nothing is started there
  std::vector<Attempted> attempts_;  // slots; used again
  std::vector<Slot> free_slots_;
  std::vector<Slot> slot_of_task_;
  std::size_t alive_ = 0, repairs_ = 0;  // attempts; nodes that are down and will come back
  Heap programs_next_, nodes_next_;      // by slot, by node
  Heap background_next_;                 // by node
  std::priority_queue<Waking, std::vector<Waking>, std::greater<>> wakes_;
  std::vector<Event> pending_;
  int in_vain_ = 0;  // waits in a row that nothing could have ended
};

// The nodes of a run, to be simulated.
std::vector<NodeGroup> nodes_of(const View&);

}  // namespace tandem::sim
