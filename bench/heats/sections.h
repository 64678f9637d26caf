// The parts of bench/heats, each a section of its report.
#pragma once

#include <string>
#include <vector>

#include "bench/sim_validation/report.h"

namespace tandem::bench {

// A line that is judged: what was asked, what was measured.
struct Judged {
  std::string what, asked, measured;
  bool ok = false;
};
using Judgement = std::vector<Judged>;

Section assumptions_section(Judgement&);
Section migration_section(Judgement&);    // figure 3.1
Section prediction_section(Judgement&);   // figure 3.3, and what the models make of it
Section weights_section(Judgement&);      // figure 3.6
Section load_section(Judgement&);         // figure 3.5
Section period_section(Judgement&);       // sensitivity to x
Section maintenance_section(Judgement&);  // a machine changes; the model follows

}  // namespace tandem::bench
