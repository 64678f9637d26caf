// What an experiment says, as the tables a person reads, and its numbers as text for tables and pages. Pure.
#pragma once

#include "app/experiment_results.h"

namespace tandem::report {

struct TableStyle {
  bool details = false;  // a line for each run, and every coefficient
  bool colour = false;   // of the heat map, for a terminal
};

std::string plan_table(const tune::Plan&);
std::string experiment_table(const store::RunInfo&, const View&, const TableStyle&);
// For people, here and on the page.
std::string mean_text(const characterize::Mean&);  // "1.23 ± 0.04"
std::string p_text(const std::optional<double>&);  // "0.013", "< 0.001", "-"
std::string share_text(double);                    // "12.3 %"
std::string level_word(characterize::Strategy);    // "hyperparameters only"
std::string threefold_text(const app::Findings&);  // one sentence
std::string bytes_out_text(const app::Findings&);  // where they come from, or that they are not known

}  // namespace tandem::report
