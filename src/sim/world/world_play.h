// Plays a simulation to its end: the control loop without a journal, for worlds in which nothing can be lost.
//
//     JobList jobs(...);
//     FixedPrograms programs(jobs.durations());
//     World world({.nodes = ..., .arrivals = &jobs}, programs);
//     control::Decider decider(policies);
//     const Played played = play(world, decider);
//
// Like control::Loop: all events of a batch are decided, then their decisions are carried out. Unlike it, the
// clock moves from event to event however far they are apart, and jobs that are yet to come keep it
// going.
#pragma once

#include <cstdint>

#include "control/loop.h"
#include "sim/world/world.h"

namespace tandem::sim {

struct Played {
  std::int64_t events = 0, decisions = 0;
  // Submitted and never finished, although nothing more would have happened: nothing they ask for can be
  // given, or no policy gave it. They are the jobs of the view that are still running.
  std::int64_t stuck = 0;
};

// Lets the nodes join and goes on until every job is over, or nothing will happen any more.
Played play(World&, control::Decider&);

}  // namespace tandem::sim
