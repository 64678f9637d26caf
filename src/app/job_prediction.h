// What values should a job have that leaves some open, and will it meet its deadline? Said by what past runs
// in this store tell (those of `whose`); what was predicted is kept with the server's run, where `tandem advise --history`
// compares it with what came of it.
#pragma once

#include <optional>
#include <string>

#include "app/advice.h"
#include "app/predictions.h"
#include "store/store.h"

namespace tandem::app {

// A spec that can be queued: itself, or where it leaves values open and has a place.deadline, with those that
// advice chooses in their places.
struct Settled {
  std::string spec;
  std::string words{};  // what was chosen
  std::string unmet{};  // nothing is likely enough to meet the deadline: the best that was found
};
// May take seconds. UserError: values are open, and there is no deadline, or no past run, to choose them by.
Settled settle_choices(store::Store&, const std::string& spec, const std::string& file,
                       const store::Owners& whose = {});

// Whether the two that follow have to ask for advice; they are quick otherwise.
bool needs_advice(const std::string& spec, const std::string& file);

struct JobPrediction {
  std::string words;
  std::optional<PredictedRun> predicted{};  // none: nothing is known of the program
};
// nullopt for jobs without place.deadline, and for searches. The deadline counts from submission, and the
// wait for a place is not foreseen: the words say so.
std::optional<JobPrediction> predict_job(store::Store&, const std::string& spec, const std::string& file,
                                         const store::Owners& whose = {});

}  // namespace tandem::app
