// What a trial is worth: the job's goals for an epoch, as people read them and as searchers do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "event/view.h"
#include "search/searcher.h"
#include "spec/tune_job.h"

namespace tandem::tune {

// What a second costs when energy and time are weighed: Zeus' MAXPOWER, the greatest draw there may be. What
// the nodes are known to draw (traits.busy, the greatest); where none says so, the greatest mean power of an
// epoch of the job so far, so that early costs are then told at a lower price than later ones.
struct TimePrice {
  Watts watts;        // 0: nothing is known yet
  bool seen = false;  // by this job only
};
TimePrice price_of_time(const View&, const JobView&);
// "0.5 energy + 0.5 time at 30 W (the machine's greatest draw)"; empty without weights.
std::string cost_text(const spec::Objective&, const TimePrice&);
Joules cost_of(const spec::CostWeights&, Joules, Seconds, Watts price);

// The goals' values after the epoch at this index: metrics of the epoch; train_time, energy and cost of the
// trial up to it (time and cost without start-up, which is the same whatever is chosen). Nothing when the
// program does not report one of them, or an epoch's energy is not wholly known; that one is then named in
// `missing`.
std::optional<std::vector<double>> goal_values(const spec::Objective&, const TaskView&, std::size_t index,
                                               const TimePrice&, std::string* missing = nullptr);
bool has_goal(const spec::Objective&, const std::string& metric);
const char* unit_of(const spec::Objective&,
                    const spec::Goal&);  // "s", "J" or, of the program's own metrics, ""

// Lower is better, one a goal. In joint mode one number: the main goal divided by the time it took
// (PipeTune's Tune V2: accuracy over duration), or for a goal to be minimised multiplied by it.
search::Losses losses(const spec::TuneJob&, const std::vector<double>& values, const TaskView&,
                      std::size_t index);
std::size_t loss_count(const spec::TuneJob&);
// What the first of them ranks by, in words: "accuracy", or in joint mode "accuracy / train_time".
std::string ranked_by(const spec::TuneJob&);

// Seconds of training up to and with the epoch at this index, start-up not counted.
Seconds trained_until(const TaskView&, std::size_t index);
// Likewise; of epochs whose energy is not wholly known, nothing.
Joules energy_trained_until(const TaskView&, std::size_t index);

}  // namespace tandem::tune
