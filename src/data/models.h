// The models the built-in trainer knows, with their hyperparameters: one table that validates specs, feeds
// --help and tells the trainer what it may be asked for. No libtorch in here; trainer/ builds what is named.
#pragma once

#include <string>
#include <vector>

#include "base/catalogue.h"

namespace tandem::data {

const std::vector<ModelEntry>& models();

// Throws UserError for an unknown name, with the nearest one.
const ModelEntry& model(const std::string& name);

// `given` with the model's defaults for what it leaves out. Throws UserError that names every value that is
// unknown, of the wrong kind or out of range; whole numbers are taken where reals are wanted, never the other
// way round unless they are whole.
Values with_defaults(const ModelEntry&, const Values& given);

}  // namespace tandem::data
