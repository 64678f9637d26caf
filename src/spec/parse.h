// From what people write to a TrainJob: YAML in, either a complete job or all that is wrong with it out.
//
// Models, datasets and hyperparameters are checked against the catalogue, and hyperparameters that are left
// out get the model's defaults. Pure functions, except `load_train`, which reads a file.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalogue.h"
#include "spec/issue.h"
#include "spec/job.h"

namespace tandem::spec {

// Either a job, or at least one issue; issues come in the order of the file.
struct TrainResult {
  std::optional<TrainJob> job;
  std::vector<Issue> issues;
};
TrainResult parse_train(std::string_view text, const std::string& file_name, const Catalogue&);

// The job, or one UserError that lists all issues, one a line.
TrainJob require_train(std::string_view text, const std::string& file_name, const Catalogue&);

// The same from a file; UserError when it cannot be read.
TrainJob load_train(const std::filesystem::path&, const Catalogue&);

// JSON Schema (draft 2020-12) of a training spec, for editors.
nlohmann::json schema(const Catalogue&);

// Each key with its type, default and description, for --help.
std::string describe_train();
// A small complete spec, for --help.
std::string example_train();

}  // namespace tandem::spec
