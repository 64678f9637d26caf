// What may be chosen for a job: every combination of its spec's domains that this machine can run.
//
// Choices are taken as they are. Of a range of whole numbers with more than kFewValues members the ends and
// the powers of two between them are taken, of a range of real numbers kSteps values (evenly, or evenly in
// their logarithm): advice compares settings, it does not search. Pure but for `load_advised`, which reads a
// file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "advise/history.h"
#include "base/catalogue.h"
#include "spec/experiment.h"

namespace tandem::app {

inline constexpr std::int64_t kFewValues = 16;
inline constexpr int kSteps = 5;
inline constexpr std::size_t kMostCandidates = 20'000;
inline constexpr std::size_t kMostValues = 1'000'000;  // hyperparameters of all candidates together

// What may be chosen, and what is fixed.
struct Choices {
  spec::TrainJob base;
  spec::Space hyper;
  spec::SystemSpace system;
  std::vector<std::int64_t> epochs;
};
Choices choices_of(const spec::TrainJob&);  // one: as it is
Choices choices_of(const spec::TuneJob&);
Choices choices_of(const spec::Experiment&);

// A spec of any of these kinds: train (with domains or without), tune (its epochs: 1 to search.max_epochs),
// or characterize (its concurrent jobs are not a choice, and left out).
struct AdvisedSpec {
  Choices choices;
  std::string metric;  // of the objective, where the spec has one of its own; "": what the runs report
  bool higher_is_better = true;
};
AdvisedSpec load_advised(const std::filesystem::path&, const Catalogue&);
AdvisedSpec read_advised(const std::string& text, const std::string& file_name, const Catalogue&);

// A job without domains: will it meet the SLO as it is?
AdvisedSpec as_advised(const spec::TrainJob&);

std::vector<Value> few_values(const spec::Domain&);

// UserError: none that this machine can run, or more than kMostCandidates or kMostValues.
std::vector<advise::Setting> candidates_of(const Choices&, const Resources& machine);

// A job with one of the candidates; all else as in its base.
spec::TrainJob chosen_job(const spec::TrainJob& base, const advise::Setting&);

}  // namespace tandem::app
