// What a simulated node draws, and which task pays for it.
//
// Power is the idle power plus what busy cores add, linear in their number; slower clocks add less, by the
// steps the model lists. It changes only when a load comes or goes, so its integral is a sum of rectangles:
// exact, but for rounding.
//
// A task pays for what its own cores add, and shares the idle power with the others at work on the node, by
// busy cores: those who keep it awake pay, as where energy is metered (measure/attribution.h). What a node
// draws while nobody is at work on it is claimed by nobody:
//
//     joules of all tasks + unclaimed joules of all nodes = integral of power
//
// Every change costs the same however many tasks share the node. One owner; times never go back.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"

namespace tandem::sim {

struct PowerModel {
  Watts idle{}, busy{};  // of the whole node: nothing at work; every core at work at full speed
  struct Step {
    double speed = 1;  // share of the full clock, in (0, 1)
    Watts busy{};      // every core at work at this speed
  };
  // Slower clocks, rising; between them it is linear. None: what busy cores add grows with their speed.
  std::vector<Step> steps{};

  // What `cores` busy ones of a node that has `all` of them add to its idle power.
  Watts added(double cores, int all, double speed) const;
  std::string source() const;  // "simulated (idle 60 W, busy 150 W)"
};

// UserError when no machine can be like that; `where` is for the message.
void check(const PowerModel&, const std::string& where);

// The account of one node.
class NodePower {
 public:
  struct Load {
    double cores = 0;  // busy
    Watts added{};
  };

  NodePower() = default;  // draws nothing
  NodePower(Watts idle, Seconds now) : idle_(idle), at_(now) {}

  void add(const Load&, Seconds now);
  void remove(const Load&, Seconds now);  // one that was added
  void turn(bool on, Seconds now);        // off: nothing is drawn; it must have no load

  Joules joules(Seconds now);     // the integral of power
  Joules unclaimed(Seconds now);  // of it, what was drawn while nobody was at work
  // What a core that was busy all the time would have paid of the idle power.
  Joules idle_a_core(Seconds now);

 private:
  void advance(Seconds now);

  Watts idle_{}, added_{};
  double cores_ = 0;  // busy
  int loads_ = 0;
  bool on_ = true;
  Seconds at_{};
  Joules joules_{}, unclaimed_{}, idle_a_core_{};
};

// One task's part of its node's energy.
class Claim {
 public:
  // It is at work like this from now on, whatever it did before.
  void work(NodePower&, const NodePower::Load&, Seconds now);
  void rest(NodePower&, Seconds now);
  // What it has to pay since the last time it was asked.
  Joules take(NodePower&, Seconds now);

 private:
  void settle(NodePower&, Seconds now);

  NodePower::Load load_{};
  bool works_ = false;
  Seconds since_{};
  Joules idle_since_{}, joules_{};
};

}  // namespace tandem::sim
