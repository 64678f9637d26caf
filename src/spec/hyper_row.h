// The row of the table for one hyperparameter, shared by hyper.cpp and hyper_space.cpp. Pure functions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "spec/field.h"

namespace tandem::spec {

// The model's rule, or for a command (null) anything under a plain name. Reports what the model does not
// have.
std::optional<Field> hyper_row(const ModelEntry* model, const std::string& name, const Place& at,
                               const std::string& path, Domains, Issues&);

// optimizer: {name: ..., momentum: ...}: a map of a command's hyperparameters, and no domain or (where
// domains may stand) a mistyped one.
bool is_group(const ModelEntry* model, const Node&, Domains);
// Calls `found` for every hyperparameter under its full name, those of groups too; the groups come back.
std::vector<std::string> each_hyper(const ModelEntry* model, const Node& hyper, Domains, Issues&,
                                    const std::function<void(const std::string& name, const Entry&)>& found);

// A catalogue may say 1 for a real number; a job always holds it as one.
Value fallback(const HyperRule&);

}  // namespace tandem::spec
