// What was predicted of runs before they ran, and what came of it.
//
// A prediction is kept with its run when the run is made, so that it outlives whatever happens to the run;
// the outcome is added when the run has ended. `tandem advise --history` shows them, and drift is seen in
// them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "advise/advisor.h"
#include "advise/drift.h"
#include "app/catalogue.h"
#include "app/installation.h"
#include "event/view.h"
#include "store/store.h"

namespace tandem::app {

struct Outcome {
  Seconds seconds;
  std::optional<double> metric;
  std::optional<Joules> joules;
};

struct PredictedRun {
  std::string run, program, metric, model;
  std::int64_t job = 0;     // of a server's run
  std::int64_t owner = -1;  // of that job
  advise::Setting setting;
  Seconds slo, seconds, low, high;  // predicted, with the interval
  double p_meet = 0;
  advise::Load load;  // of the machine while it runs, itself included, as far as it was known
  std::optional<double> metric_value;
  std::optional<Joules> joules;
  std::optional<Outcome> outcome;  // none: it has not ended, or not well

  bool met() const { return outcome && outcome->seconds <= slo; }
};

nlohmann::json to_json(const PredictedRun&);
PredictedRun predicted_run_from_json(const nlohmann::json&);  // SystemError on nonsense

PredictedRun predicted(const advise::Assessment&, const advise::Models&, const advise::Question&);

void keep_prediction(store::Store&, const std::string& run, const PredictedRun&);
// Once the job is over; nothing where none was kept or the job did not finish.
std::optional<PredictedRun> keep_outcome(store::Store&, const store::RunInfo&, const View&, JobId = 0);

// "predicted 12.1 s (10.2 to 14.4 s), took 12.9 s: SLO of 20 s met"
std::string comparison(const PredictedRun&);

// Of the program, oldest first, without the first `skip`.
std::vector<advise::FinishedPrediction> finished_predictions(store::Store&, const std::string& program,
                                                             std::size_t skip, const store::Owners& = {});

// How far the time was off, as a share; of one that has an outcome.
double error_of(const PredictedRun&);
// All that were kept, newest first, with their outcomes as far as they are known now.
std::vector<PredictedRun> all_predictions(store::Store&);
nlohmann::json predictions_json(const std::vector<PredictedRun>&);

}  // namespace tandem::app
