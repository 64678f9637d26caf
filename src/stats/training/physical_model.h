// Our own model of training time: a law of physics (stats/training/training_law.h) times what it leaves over,
// learnt (stats/regression/residual_process.h).
//
// The law makes it right about cores, batches, replicas and loads it has never seen; the residual makes it as
// exact as the rows allow where there are some. Columns it understands: batch, cores, jobs, replicas, nodes,
// largest (replicas on the fullest node; by default they are spread evenly), records, epochs, contention
// (threads on the fullest of its CPUs). All others, and these too, are columns of the residual. Targets are
// seconds, of a step or of a job: positive.
//
// It is the one law of step times: advice asks it, and so does what tells the simulator's world of a cluster
// from measured steps (bench/sim_validation). What it says is bounded by what was measured
// (stats/training/measured_bounds.h): inside the range of its rows it is off by at most 3 times, noise in
// these rows aside, and `bounded` says where a bound acted. Runs that waited for input are told apart
// (stats/training/input_stall.h). Pure; deterministic.
#pragma once

#include "stats/regression/regression.h"

namespace tandem::stats {

std::unique_ptr<Regression> make_physical(const std::vector<std::string>& columns);
std::vector<RegressionOption> physical_options();

}  // namespace tandem::stats
