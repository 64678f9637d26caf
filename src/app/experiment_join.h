// `tandem characterize --join RUN,...`: experiments on several workloads looked at together (chapter 5.2.6,
// figures 5.4 to 5.7). Does the method or the data make the difference, and do the same parameters matter
// everywhere? Computed once for the table, the JSON and the page. Pure.
//
// A workload is a method and a dataset: the model and the dataset of a built-in program; of other programs
// what the person says (RUN=METHOD/DATASET). Experiments need not have the same factors or levels: each
// workload counts by the median over its own runs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/experiment_findings.h"

namespace tandem::app {

// "RUN" or "RUN=METHOD/DATASET", as written. UserError for anything else.
struct JoinOptions {
  std::string run;
  std::string method{}, dataset{};  // "": the program's own
};
JoinOptions parse_join(const std::string& written);

struct Workload {
  std::string run, method, dataset;
  Findings found;
};
// The workload of a run. UserError: nobody says what its method and dataset are, or it has no whole run.
Workload workload_of(const store::RunInfo&, const View&, const JoinOptions&);

struct Joined {
  std::vector<Workload> workloads;
  std::vector<characterize::Variability> variability;
  std::vector<std::string> notes;  // what could not be said, and why
};
// `responses`: none are the usual ones. UserError: fewer than two workloads, a run twice, or a response that
// was asked for and that none has.
Joined join_workloads(std::vector<Workload>, const std::vector<std::string>& responses = {});

// "s", "J"; "": it has none.
std::string unit_of(const Joined&, const std::string& response);
nlohmann::json joined_json(const Joined&);

}  // namespace tandem::app
