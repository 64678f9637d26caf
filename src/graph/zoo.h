// The models the simulator knows by name, each built from the shapes of its layers (layers.h).
//
// An entry also says what others have published of the model. Nothing is computed from those numbers: they
// tell people what they are looking at, and the tests hold the models against them.
//
// Models are as trained, for one sample: with dropout where the original has it (not on attention weights),
// with softmax and cross-entropy as the last operation, without auxiliary heads. Pure; the table is made once
// and never changes, so any thread may read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/operations.h"

namespace tandem::graph {

class Layers;

struct Published {
  double parameters = 0;                  // that are trained
  double rounding = 0;                    // how far off they may be; 0: an exact count
  std::optional<double> multiply_adds{};  // forward, a sample; papers often call these FLOPs
  std::string source{};
};

struct ZooEntry {
  std::string name, description;
  Published published;
  void (*build)(Layers&) = nullptr;
};

const std::vector<ZooEntry>& zoo();

// A checked model; its name is the entry's. Throws UserError for a name that is not in the table.
Model make(const std::string& name);

// What papers count: half the forward FLOPs of convolutions, dense and recurrent layers and attention.
double multiply_adds(const Model&);

}  // namespace tandem::graph
