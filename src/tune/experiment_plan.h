// The runs of an experiment: which points of a job's space are measured, in which order, and with what.
//
// A run is one point measured once: `jobs` tasks that start together, each on `nodes` nodes with all that is
// wanted. The plan is a function of the job alone, so that a resumed experiment goes on with the same one.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "event/view.h"
#include "spec/experiment.h"
#include "stats/design/design.h"

namespace tandem::tune {

struct PlannedRun {
  stats::DesignRun design;  // the point, which replication, and in one-at-a-time what was varied
  Values hyper;             // all that the program is given
  std::int64_t epochs = 1;
  Resources wanted;  // on each node
  int jobs = 1, nodes = 1;
};

struct Plan {
  std::vector<stats::DesignFactor> factors;  // those with one level too
  std::vector<PlannedRun> runs;              // in the order in which they are run
  std::string counted;                       // how their number came about
};

// Cores, memory and speed; the rest of a point is the program's, or how many run at once.
bool is_system_factor(const std::string& name);
// Jobs and nodes: what surrounds a program, which nobody tunes.
bool is_load_factor(const std::string& name);

// What varies, and what is usual of each: the model's default or a training spec's, where the domain has it.
std::vector<stats::DesignFactor> factors_of(const spec::Experiment&);
// UserError where the space and the design do not fit.
Plan plan_of(const spec::Experiment&);

// Why the run can never be started whole on these nodes, were they empty; "" where it can.
std::string why_never(const PlannedRun&, const IdTable<NodeView>&);

}  // namespace tandem::tune
