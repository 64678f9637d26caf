// Models as JSON text, for those the zoo does not have:
//
//     {"name": "mine", "operations": [
//       {"name": "pixels", "kind": "input", "forward_flops": 0, "outputs": 784},
//       {"name": "layer", "kind": "dense", "inputs": ["pixels"], "forward_flops": 15680, "parameters": 7850,
//        "outputs": 10}]}
//
// All numbers are for one sample, as in operations.h. May be left out: inputs (none), parameters (0),
// backward_flops (twice the forward). Operations may be written in any order; in the model each comes after
// its inputs, and those that could come in either order stay as written.
//
// Strict: keys that are unknown or written twice, names used twice, unknown inputs and cycles are errors.
// Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "graph/operations.h"

namespace tandem::graph {

// A checked model. `where` names the text in messages: a file. Throws UserError.
Model read_model(std::string_view text, const std::string& where);

// What read_model() makes the same model of; the model must pass check().
nlohmann::ordered_json to_json(const Model&);

}  // namespace tandem::graph
