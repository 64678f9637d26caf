// Strategies of training on several devices: each turns a step into a plan (step_plan.h).
//
//   default                 one device
//   parameter-server        servers hold the variables. A step pulls them: an operation waits for all that
//   its
//                           server sends to its worker, as parameters come in no particular order. Gradients
//                           are pushed, first in, first out, behind the backward pass; a server adds them up
//                           and updates.
//   distributed-replicated  the same, but a node pulls and pushes one copy for all its workers: its processor
//                           adds up their gradients and hands the parameters on while they arrive
//   replicated              gradients are summed on one worker each, in turn, and copied to all others
//   all-reduce              a ring of workers, layer by layer behind the backward pass: each link carries
//                           2 (n-1) / n of the bytes in 2 (n-1) messages
//   hierarchical            reduce-scatter within nodes, rings across them, gather within; the three stages
//                           of different gradients overlap
//   model                   each worker has a part of the model (step_partition.h)
//   pipeline                the same, with micro-batches in GPipe's order: all forward, then all backward,
//                           last first
//
// In a synchronous step all workers start together. Variables go to servers as TensorFlow's do: in their
// order, whole, each to the server with the fewest bytes so far. A worker without samples computes nothing;
// it takes part in collectives. Plain values; pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/step/devices_placement.h"
#include "sim/step/step_graph.h"
#include "sim/step/step_plan.h"

namespace tandem::sim {

struct StrategyOptions {
  double interference = 0.3;  // of collectives with computing (step_run.h)
  double bucket = 25e6;       // bytes of gradients a collective takes at least; 0: each operation's alone
  double copy_bucket = 1e6;   // the same for pushes and other copies
  double launch = 0;          // s a step and worker after the first, to start collectives
  int micro_batches = 0;      // of a pipeline; 0: four a worker, as far as there are samples
  std::string scheduler = "depth-first";  // step_graph.h
  double clock_share = 1;                 // of the full clock
  // Passes with nothing to wait for in between are one task: faster to simulate, and the same, but that a sum
  // on a busy GPU waits for the whole task.
  bool fuse = true;
  bool servers_apart = false;       // servers on nodes without workers, if there are any
  std::vector<DeviceId> devices{};  // that compute, in this order, of any types; empty: the first of one type
};

struct StrategyEntry;

// A workload that is placed, and what is the same in all its steps. The references must stay.
struct Setting {
  const StrategyEntry& strategy;
  const Placement& placement;
  const spec::Workload& workload;
  const graph::Model& model;
  const StrategyOptions& options;
  TrainingGraph training{};
  std::vector<std::uint32_t> order{};  // of passes, where a worker has all of them
  std::vector<std::uint32_t> ranks{};  // of passes, where workers have parts
  std::vector<std::uint32_t> part{};   // of each operation: the worker that has it; empty: all have all
};

struct Step {
  std::vector<std::int64_t> samples{};  // of each worker; of a model in parts: all are the first worker's
  std::vector<std::int64_t> next{};     // to be read meanwhile, of each worker; empty: none
  std::vector<double> slowness{};       // factor on each worker's computing; empty: 1
};

struct StrategyEntry {
  std::string name, description;
  bool divides = true;  // the samples of a step among the workers
  bool servers = false;
  Plan (*plan)(const Setting&, const Step&) = nullptr;
};

const std::vector<StrategyEntry>& strategies();
const StrategyEntry& find_strategy(const std::string& name);  // throws UserError

// Throws UserError: a workload that the strategy cannot run, or that does not fit the devices' memory.
// `most`: the largest step.
Setting make_setting(const Placement&, const spec::Workload&, const graph::Model&, const StrategyOptions&,
                     const Step& most);

Plan plan_step(const Setting&, const Step&);
// A parameter server without barriers: every worker goes through its steps on its own; it pulls again when
// its own gradients have been applied. Reads ahead by itself: Step::next is not looked at.
Plan plan_asynchronous(const Setting&, const std::vector<Step>&);
// Only reads what the step will need.
Plan plan_reading(const Setting&, const Step&);

}  // namespace tandem::sim
