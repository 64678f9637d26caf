// The row of the table for one hyperparameter, shared by hyper.cpp and hyper_space.cpp. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/field.h"

namespace tandem::spec {

// The model's rule, or for a command (null) anything under a plain name. Reports what the model does not
// have.
std::optional<Field> hyper_row(const ModelEntry* model, const Entry&, const std::string& path, Domains,
                               Issues&);

// A catalogue may say 1 for a real number; a job always holds it as one.
Value fallback(const HyperRule&);

}  // namespace tandem::spec
