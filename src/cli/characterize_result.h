// What an experiment came to: the tables a person reads (characterize_table.cpp) and the JSON a script reads,
// both from the view.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/characterize_findings.h"
#include "event/view.h"
#include "store/store.h"
#include "tune/experiment_plan.h"

namespace tandem::cli {

bool is_experiment(const View&);

nlohmann::json plan_json(const tune::Plan&);
std::string plan_table(const tune::Plan&);

nlohmann::json experiment_json(const store::RunInfo&, const View&);

struct TableStyle {
  bool details = false;  // a line for each run, and every coefficient
  bool colour = false;   // of the heat map, for a terminal
};
std::string experiment_table(const store::RunInfo&, const View&, const TableStyle&);

// For people, here and on the page.
std::string mean_text(const characterize::Mean&);  // "1.23 ± 0.04"
std::string p_text(const std::optional<double>&);  // "0.013", "< 0.001", "-"
std::string share_text(double);                    // "12.3 %"
std::string level_word(characterize::Strategy);    // "hyperparameters only"
std::string threefold_text(const Findings&);       // one sentence
std::string bytes_out_text(const Findings&);       // where they come from, or that they are not known
std::string left_out_text(const Findings&);        // what was not analysed; "": all was

}  // namespace tandem::cli
