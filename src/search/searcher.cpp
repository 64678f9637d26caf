#include "search/searcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "search/asha.h"
#include "search/composed.h"
#include "search/halving.h"
#include "search/hyperband.h"
#include "search/points.h"
#include "search/population.h"
#include "search/straight.h"

namespace tandem::search {
namespace {

using Schedules = std::unique_ptr<Schedule> (*)(const spec::SearchSpec&, const spec::Space&);

struct Algorithm {
  AlgorithmEntry entry;
  const char* sampler;
  Schedules schedule;
  bool prunable = false;       // has no rungs of its own
  double random_fraction = 0;  // of points, whatever the sampler
};

constexpr std::int64_t kTrials = 20, kPopulation = 8;
// Ranking by three goals or more takes the square of the trials.
constexpr std::int64_t kMostValues = 1'000'000, kMostTrialsOfManyGoals = 1000;

SamplerOptions options_for(const spec::SearchSpec& spec, const spec::Space& space, std::size_t goals) {
  SamplerOptions out;
  out.goals = goals;
  out.trials = spec.trials;
  out.seed = static_cast<std::uint64_t>(spec.seed);
  // A population as large as the number of trials would never have children.
  out.population = std::clamp<std::int64_t>(spec.trials.value_or(kTrials) / 4, 4, out.population);
  // The paper's N_min + 2 with N_min one more than parameters: rungs are small, waiting for more is waste.
  if (spec.algorithm == "bohb") out.startup = static_cast<std::int64_t>(space.parameters.size()) + 3;
  return out;
}

std::unique_ptr<Schedule> straight(std::int64_t trials, const spec::SearchSpec& spec) {
  return std::make_unique<Straight>(trials, spec.max_epochs,
                                    make_pruner(spec.pruning, spec.max_epochs, spec.reduction));
}

std::unique_ptr<Schedule> some_trials(const spec::SearchSpec& spec, const spec::Space&) {
  return straight(spec.trials.value_or(kTrials), spec);
}

std::unique_ptr<Schedule> all_points(const spec::SearchSpec& spec, const spec::Space& space) {
  if (const auto size = grid_size(space, spec.trials))
    return straight(std::min(*size, spec.trials.value_or(*size)), spec);
  std::vector<std::string> continuous;
  for (const auto& each : space.parameters)
    if (!count(each.domain)) continuous.push_back(each.name);
  throw UserError(
      fmt::format("search.algorithm: a grid has no end over the continuous {}: write {{choice: [...]}}, give "
                  "search.trials, or take another algorithm (quasirandom covers the same space)",
                  join(continuous)));
}

std::unique_ptr<Schedule> successive_halving(const spec::SearchSpec& spec, const spec::Space&) {
  return std::make_unique<Halving>(
      std::vector<BracketPlan>{halving_plan(spec.max_epochs, spec.reduction, spec.trials)});
}

std::unique_ptr<Schedule> hyperband(const spec::SearchSpec& spec, const spec::Space&) {
  return std::make_unique<Halving>(hyperband_plan(spec.max_epochs, spec.reduction, spec.trials));
}

std::unique_ptr<Schedule> asha(const spec::SearchSpec& spec, const spec::Space&) {
  const auto trials = spec.trials.value_or(hyperband_trials(spec.max_epochs, spec.reduction));
  return std::make_unique<Asha>(trials, rung_epochs(spec.max_epochs, spec.reduction), spec.reduction);
}

std::unique_ptr<Schedule> population(const spec::SearchSpec& spec, const spec::Space&) {
  return std::make_unique<Population>(spec.trials.value_or(kPopulation), spec.max_epochs);
}

const std::vector<Algorithm>& table() {
  static const std::vector<Algorithm> out{
      {{"hyperband", "brackets of successive halving, from many short trials to few long ones"},
       "random",
       hyperband},
      {{"bohb", "hyperband with points from a model of what was good (multivariate TPE)"},
       "tpe-multivariate",
       hyperband,
       false,
       1.0 / 3},
      {{"asha", "successive halving that never waits: a trial goes on as soon as it is among the best"},
       "random",
       asha},
      {{"successive-halving", "one bracket: all trials start at one epoch, the best go on"},
       "random",
       successive_halving},
      {{"pbt", "population-based training: the worst become changed copies of the best as they train"},
       "random",
       population},
      {{"random", "points drawn at random, each trained to the end"}, "random", some_trials, true},
      {{"quasirandom", "points spread evenly over the space, each trained to the end"},
       "quasirandom",
       some_trials,
       true},
      {{"grid", "every combination, each trained to the end"}, "grid", all_points, true},
      {{"tpe", "tree-structured Parzen estimator, one parameter at a time"}, "tpe", some_trials, true},
      {{"tpe-multivariate", "tree-structured Parzen estimator over all parameters together"},
       "tpe-multivariate",
       some_trials,
       true},
      {{"nsga2", "evolution towards a Pareto front, for several goals"}, "nsga2", some_trials, true},
  };
  return out;
}

const Algorithm& find(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& each : table()) {
    if (each.entry.name == name) return each;
    known.push_back(each.entry.name);
  }
  throw UserError(fmt::format("search.algorithm: there is no '{}'{}; known are {}", printable(name),
                              did_you_mean(name, known), join(known)));
}

void check(const spec::SearchSpec& spec, const Algorithm& algorithm) {
  const auto at_least = [](const char* key, std::int64_t value, std::int64_t least) {
    if (value < least) throw UserError(fmt::format("search.{}: {} is below {}", key, value, least));
  };
  at_least("max_epochs", spec.max_epochs, 1);
  at_least("reduction", spec.reduction, 2);
  at_least("trials", spec.trials.value_or(1), 1);
  make_pruner(spec.pruning, spec.max_epochs, spec.reduction);
  if (spec.pruning == "none" || algorithm.prunable) return;
  std::vector<std::string> prunable;
  for (const auto& each : table())
    if (each.prunable) prunable.push_back(each.entry.name);
  throw UserError(fmt::format("search.pruning: {} decides by itself which trials go on; pruning is for {}",
                              spec.algorithm, join(prunable)));
}

}  // namespace

const std::vector<AlgorithmEntry>& algorithms() {
  static const std::vector<AlgorithmEntry> out = [] {
    std::vector<AlgorithmEntry> entries;
    for (const auto& each : table()) entries.push_back(each.entry);
    return entries;
  }();
  return out;
}

void require_bounded(const spec::SearchSpec& spec, const spec::Space& space, std::size_t goals) {
  const auto parameters = static_cast<std::int64_t>(std::max<std::size_t>(1, space.parameters.size()));
  std::int64_t most = std::min(spec::kMostTrials, kMostValues / parameters);
  std::string of = parameters > 1 ? fmt::format(" of {} parameters", parameters) : "";
  if (goals > 2 && most > kMostTrialsOfManyGoals) most = kMostTrialsOfManyGoals, of = fmt::format(" with {} goals", goals);
  const auto refuse = [&](std::int64_t trials) {
    throw UserError(fmt::format("search.trials: {} would start {} trials; a search{} has at most {}: give "
                                "search.trials, or fewer",
                                spec.algorithm, trials, of, most));
  };
  if (spec.trials && *spec.trials > most) refuse(*spec.trials);
  const auto searcher = make_searcher(spec, space, goals);
  if (searcher->expected_trials() > most) refuse(searcher->expected_trials());
  searcher->ask();
}

std::unique_ptr<Searcher> make_searcher(const spec::SearchSpec& spec, const spec::Space& space,
                                        std::size_t goals) {
  const Algorithm& algorithm = find(spec.algorithm);
  check(spec, algorithm);
  auto schedule = algorithm.schedule(spec, space);
  auto sampler = make_sampler(algorithm.sampler, space, options_for(spec, space, goals));
  if (algorithm.random_fraction > 0)
    sampler = sometimes_random(std::move(sampler), space, algorithm.random_fraction);
  sampler = begin_at(std::move(sampler), space, spec.start);
  return compose(std::move(schedule), std::move(sampler), space, goals,
                 static_cast<std::uint64_t>(spec.seed));
}

}  // namespace tandem::search
