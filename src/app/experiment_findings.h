// All that is said of an experiment, computed once for the tables, the JSON and the page. Pure.
//
// What is analysed by default: the quality of the model, the time it trained, how fast it infers, its energy,
// CPU, memory and wait for I/O, and what it cost, as far as they were measured. Only runs whose tasks all ran
// to their end count; how many did not is said.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "characterize/analysis.h"
#include "characterize/boxes.h"
#include "characterize/cost.h"
#include "characterize/impact.h"
#include "characterize/levels.h"
#include "event/view.h"
#include "store/store.h"
#include "tune/experiment_runs.h"

namespace tandem::app {

// How an experiment is looked at; kept with its run, and not a part of what is run.
struct AnalysisOptions {
  characterize::Prices prices{};
  std::optional<double> good_enough{};   // of the model's quality; none: the chapter's 80 %, of an accuracy
  std::vector<std::string> responses{};  // to analyse; none: the usual ones
};
nlohmann::json json_of(const AnalysisOptions&);
AnalysisOptions analysis_options_of(const store::RunInfo&);

inline constexpr double kGoodAccuracy = 0.8;  // chapter 5.3.4

struct Findings {
  std::vector<tune::MeasuredTask> tasks;
  std::size_t runs = 0, whole_runs = 0, repeated = 0;  // repeated: a task needed more than one attempt
  std::size_t tasks_with_bytes_out = 0;                // of the study's runs; of the others none are charged
  characterize::Study study;                     // every response that was measured; the usual ones first
  std::vector<std::string> analysed;             // responses
  std::vector<std::string> main;                 // of these, what somebody would tune for
  std::vector<characterize::Analysis> analyses;  // of those that vary
  std::vector<characterize::Impact> impacts;     // of the factors on them
  std::vector<characterize::Comparison> levels;  // at the usual load
  std::vector<characterize::PhaseBox> boxes;
  std::optional<characterize::Threefold> asked;
  std::optional<characterize::ThreefoldAnswer> threefold;
  std::string quality;             // the response that is the model's; "": none was reported
  std::string usual_load;          // "jobs 1": where levels and the threefold objective were looked at; ""
  std::vector<std::string> notes;  // what could not be said, and why
};
Findings findings_of(const View&, JobId, const AnalysisOptions&);

}  // namespace tandem::app
