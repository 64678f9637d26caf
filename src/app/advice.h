// The advice itself, for whoever asks: `tandem advise`, `tandem train --slo`, `tandem submit` with a
// deadline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/advisor.h"
#include "app/advice_models.h"
#include "app/candidates.h"
#include "app/catalogue.h"
#include "app/installation.h"
#include "app/running_jobs.h"

namespace tandem::app {

// What --slo and its companions say, as people write them.
struct AdviceOptions {
  std::string slo, max_joules, running = "auto", probability = "95%", model;
  store::Owners whose{};  // from whose runs it is learnt
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

// What a person must know to read it.
std::vector<std::string> notes_of(const Advised&);
nlohmann::json advice_json(const Advised&);

}  // namespace tandem::app
