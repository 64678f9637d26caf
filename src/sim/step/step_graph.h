// A training step of a model as a graph of passes, and in which order a device runs those that are ready.
//
// Every operation has a forward pass; those with parameters, or with an input that needs a gradient, also a
// backward one, which follows the backward passes of all that read it, or its own forward pass where nobody
// does. Passes are listed so that what a pass waits for comes before it. Plain values; pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/catalogue.h"
#include "graph/operations.h"

namespace tandem::sim {

struct Pass {
  std::uint32_t operation = 0;
  bool backward = false;
  std::vector<std::uint32_t> inputs{}, outputs{};  // passes it waits for, and that wait for it; each once
};

struct TrainingGraph {
  std::vector<Pass> passes{};
};

TrainingGraph training_graph(const graph::Model&);

// Local schedulers of a graph executor, by name:
//   depth-first  what became ready last runs first, as TensorFlow's executor does
//   path-time    highest path computation time: the longest computing left on a way to the end
//   successors   maximum successor rank: the most passes that wait for it directly; those on other devices
//                count twice, because a device may be idle for them
const std::vector<ChoiceEntry>& schedulers();

// Of each pass: the higher goes first; no two are equal, ties go to what comes first depth-first. `seconds`
// and `device` of each pass. Throws UserError for a name that is not in the table.
std::vector<std::uint32_t> ranks(const TrainingGraph&, const std::string& scheduler,
                                 const std::vector<double>& seconds,
                                 const std::vector<std::uint32_t>& device);

// The order in which one device alone runs all passes.
std::vector<std::uint32_t> order_on_one(const TrainingGraph&, const std::vector<std::uint32_t>& ranks);

}  // namespace tandem::sim
