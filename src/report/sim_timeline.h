// The first steps of simulated workloads as a trace that Perfetto and chrome://tracing open
// (docs.google.com "Trace Event Format": complete events, "ph": "X", times in microseconds).
//
// A process is a node of a row, so that rows can be compared: each begins at 0. A thread is what can do one
// thing at a time: a device that computes, or a lane of its transfers; those that overlap get lanes of their
// own. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/sim_grid.h"

namespace tandem::report {

// Rows without a beginning are left out.
std::string timeline_json(const spec::SimJob&, const std::vector<app::SimRow>&);

// Of each interval the lane it is put into, the lowest that is free; no two of a lane overlap.
struct Interval {
  double from = 0, to = 0;
};
std::vector<std::size_t> lanes_of(const std::vector<Interval>&);

}  // namespace tandem::report
