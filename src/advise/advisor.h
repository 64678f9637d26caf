// The setting to run with: the highest expected metric among those that meet the SLO as probably as wanted.
//
// Ranking rules, in this order:
// 1. A candidate is *fit* where the probability that its time is at most the SLO, and its joules at most the
//    limit, is at least `probability`. With both, p = p(time) + p(joules) - 1, which never promises too much.
// 2. Of the fit ones the best expected metric wins; metrics within kTie of each other tie.
// 3. Ties go to less energy, then to less time, then to the order of the candidates.
// 4. Where none is fit, the one with the highest p is the nearest miss, and `met` is false.
// Where no run told the metric, rule 2 is skipped, and the advice says so. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advise/load.h"
#include "advise/models.h"

namespace tandem::advise {

inline constexpr double kTie = 0.001;  // of the metric's value

struct RunningJob {
  std::string id;
  Setting setting;
  double left = 1;                  // share of its work
  std::optional<Seconds> deadline;  // from now
  const Models* models = nullptr;   // of its program; null: `seconds` is all that is known
  Seconds seconds;                  // of the whole job, where there are no models
};

struct Question {
  Seconds slo;
  std::optional<Joules> max_joules;
  double probability = 0.95;
  double interval = 0.9;         // level of the intervals that are shown
  bool higher_is_better = true;  // the metric
  std::vector<Setting> candidates;
  std::vector<RunningJob> running;
  std::optional<Watts> most_power;  // the machine's, as the source of its joules says: none is above that
  // More jobs, of which nothing else is known, and cores that somebody keeps busy: taken to go on all along.
  // To a job on c cores, c busy ones are one more job like itself.
  double others = 0, busy_cores = 0;
};

struct Assessment {
  Setting setting;
  Forecast seconds;
  std::optional<Forecast> metric, joules;
  double p_time = 0, p_joules = 1, p_meet = 0;
  Load load;  // on average while it runs, itself included
  std::vector<Threatened> threatened;
};

struct Advice {
  bool met = false;
  Assessment choice;                   // the nearest miss where not `met`
  std::size_t fit = 0;                 // how many candidates meet it as probably as wanted
  std::vector<Assessment> runner_ups;  // at most three, best first
  std::vector<std::string> reasons;    // why this one, in sentences with numbers and units
  std::vector<std::string> notes;      // what makes the answer less sure
};

// As JSON and in other words: advise/advice_text.h. UserError: no candidates, an SLO, limit or probability
// that cannot be.
Advice advise(const Models&, const Question&);

}  // namespace tandem::advise
