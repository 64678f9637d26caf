// From what people write to a job: YAML in, either a complete job or all that is wrong with it out.
// Simulations are read in spec/parse_sim.h.
//
// Models, datasets, hyperparameters and algorithms are checked against the catalogue, and hyperparameters
// that are left out get the model's defaults. Pure functions, except `load_*`, which read a file.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalogue.h"
#include "spec/any_job.h"
#include "spec/issue.h"

namespace tandem::spec {

// Either a job, or at least one issue; issues come in the order of the file.
struct TrainResult {
  std::optional<TrainJob> job;
  std::vector<Issue> issues;
};
struct TuneResult {
  std::optional<TuneJob> job;
  std::vector<Issue> issues;
};
struct ExperimentResult {
  std::optional<Experiment> job;
  std::vector<Issue> issues;
};
TrainResult parse_train(std::string_view text, const std::string& file_name, const Catalogue&);
TuneResult parse_tune(std::string_view text, const std::string& file_name, const Catalogue&);
// An experiment: kind: characterize, or a training spec with domains in it.
ExperimentResult parse_characterize(std::string_view text, const std::string& file_name, const Catalogue&);

// The job, or one UserError that lists all issues, one a line.
TrainJob require_train(std::string_view text, const std::string& file_name, const Catalogue&);
TuneJob require_tune(std::string_view text, const std::string& file_name, const Catalogue&);
Experiment require_characterize(std::string_view text, const std::string& file_name, const Catalogue&);

// The same from a file; UserError when it cannot be read.
TrainJob load_train(const std::filesystem::path&, const Catalogue&);
TuneJob load_tune(const std::filesystem::path&, const Catalogue&);
Experiment load_characterize(const std::filesystem::path&, const Catalogue&);

// A number that an option such as --trials gives instead of a spec's key (kind: tune, `search.trials`): UserError
// where it is not in that key's range.
std::int64_t given_for(const std::string& kind, const std::string& key, const std::string& option,
                       std::int64_t value);

// What a document says it is, as far as that can be read: "train", "tune"; "" where it does not say.
std::string kind_of(std::string_view text);
template <class Kind>
bool says_it_is(std::string_view text) {
  return kind_of(text) == kind_of(Job(Kind{}));
}

// JSON Schema (draft 2020-12) of specs of every kind, of the one that `kind` names; for editors.
nlohmann::json schema(const Catalogue&);

// Each key with its type, default and description, for --help.
std::string describe_train();
std::string describe_tune();
std::string describe_characterize();
std::string describe_sim();
// A small complete spec, for --help.
std::string example_train();
std::string example_tune();
std::string example_characterize();
std::string example_sim();

}  // namespace tandem::spec
