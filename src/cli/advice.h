// The advice itself, for whoever asks: `tandem advise`, `tandem train --slo`, `tandem submit` with a
// deadline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/advisor.h"
#include "cli/advise_candidates.h"
#include "cli/advise_models.h"
#include "cli/command.h"
#include "cli/running_jobs.h"

namespace tandem::cli {

// What --slo and its companions say, as people write them.
struct AdviceOptions {
  std::string slo, max_joules, running = "auto", probability = "95%", model;

  void add_to(CLI::App&);
};

struct Advised {
  Learnt learnt;
  advise::Question question;
  advise::Advice advice;
  RunningNow running;
  bool probed = false;  // no run was known
  double answer_seconds = 0;
};

// UserError for options that make no sense; whatever is wrong with the SLO itself, the advisor says.
Advised ask_for_advice(store::Store&, const AdvisedSpec&, const AdviceOptions&);
// The same for an SLO from elsewhere.
Advised ask_for_advice(store::Store&, const AdvisedSpec&, const AdviceOptions&, Seconds slo);

// The table a person reads, and the JSON a script reads.
std::string advice_text(const Advised&);
nlohmann::json advice_json(const Advised&);

}  // namespace tandem::cli
