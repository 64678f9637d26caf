// `tandem sim --replay RUN`: how well the simulator predicts a run that was really made.
//
// Two questions. Epochs: each one is predicted from the others of the run, as if it had not been measured.
// The whole: the same job, nodes and policies in the simulated world, whose programs answer with what was
// measured; how long does it take there, and how long did it really? A run that was resumed or cancelled is
// played as if nobody had interrupted it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/catalogue.h"
#include "app/installation.h"
#include "event/view.h"
#include "sim/world/programs_recorded.h"
#include "store/store.h"

namespace tandem::app {

struct Replayed {
  std::vector<sim::PredictedEpoch> epochs{};
  std::vector<sim::TaskError> tasks{};
  std::optional<double> median{};  // of all epochs' errors; none: no epoch could be predicted
  Seconds measured{}, played{};    // Tandem at work on the job
  std::int64_t epochs_measured = 0, epochs_played = 0;
  bool finished = false;    // the run came to its own end
  bool played_out = false;  // so did the play
  sim::Guesses guesses{};

  double error() const { return measured.value > 0 ? played / measured - 1 : 0; }  // of the whole
};

// UserError when no epoch of it was measured.
Replayed replay_of(const View& run);

nlohmann::json replay_json(const store::RunInfo&, const View& run, const Replayed&);

}  // namespace tandem::app
