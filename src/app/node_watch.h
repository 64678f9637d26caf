// Watches the nodes of this machine for the scheduler: what others than Tandem's own tasks use of them.
//
// It looks at the pace that keeps looking under 0.5 % of a core (place/infra/infra_period.h), first after 10
// s, all of its own work counted. A node's CPU is used by others as far as its CPUs were busy with anything
// but our tasks. Memory is the machine's: what others use counts for the nodes as far as it is more than what
// no node claims, for all alike. The network is shared by all and held by none: whoever uses it, it is not
// free. What cannot be told is not said. This machine is the master, so all of it is near.
//
// Only what says something new is reported: the first time, when a share becomes known or unknown, and when
// one is 5 points or more from what was reported last (or latency half a millisecond and a half of it). So
// what is reported of a node is off by less than 5 points, and a node whose load does not change is silent.
// One thread.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "control/ports.h"
#include "measure/node_monitor.h"
#include "measure/own_load.h"

namespace tandem::app {

struct WatchedNode {
  std::vector<int> cpus{};  // nodes may share some
  Bytes memory = 0;
};

// By node: what others use, of a look at the machine and what our own tasks used since the look before.
std::vector<NodeLoad> loads_of(const measure::Look&, const measure::OwnUse&, std::span<const WatchedNode>);
bool says_something_new(const NodeLoad& reported, const NodeLoad& now);

class NodeWatch {
 public:
  // Nodes by their id.
  explicit NodeWatch(std::vector<WatchedNode> nodes, measure::MonitorOptions = {},
                     measure::OwnLoad own = measure::OwnLoad());

  double bandwidth() const { return bandwidth_; }  // of the machine, bytes a second; 0: not known
  void saw(const Event&);                          // our tasks come and go
  Seconds until_next(Seconds now) const;
  // Looks, if it is time; what is new.
  std::vector<NodeObserved> look(Seconds now);

 private:
  std::vector<NodeLoad> loads(Seconds now);

  std::vector<WatchedNode> nodes_;
  measure::NodeMonitor monitor_;
  measure::OwnLoad own_;
  place::Period period_;
  Seconds next_;
  double bandwidth_ = 0;
  std::map<NodeId, NodeLoad> reported_;
};

// A world whose nodes are watched.
class WatchedWorld final : public control::World {
 public:
  WatchedWorld(std::unique_ptr<control::World> world, NodeWatch watch)
      : world_(std::move(world)), watch_(std::move(watch)) {}

  control::Capabilities capabilities() const override {
    auto out = world_->capabilities();
    out.load = true;
    return out;
  }
  Seconds now() override { return world_->now(); }
  std::vector<NodeJoined> nodes() override;
  void carry_out(const Decision& decision, const View& view) override { world_->carry_out(decision, view); }
  std::vector<Event> wait(Seconds at_most) override;
  std::vector<Event> reconcile(const View& view) override { return world_->reconcile(view); }
  void out_of_space() override { world_->out_of_space(); }

 private:
  std::unique_ptr<control::World> world_;
  NodeWatch watch_;
};

}  // namespace tandem::app
