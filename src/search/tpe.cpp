#include "search/tpe.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "search/points.h"

namespace tandem::search {
namespace {

// Rounds of proposals: fewer of many parameters, where one alone takes long.
constexpr int kRounds = 8;
constexpr std::size_t kParametersOfRounds = 800;

// BOHB's: a model of d parameters needs d + 2 trials to be more than a guess.
std::int64_t enough(const SamplerOptions& options, const spec::Space& space) {
  return std::max(options.startup, static_cast<std::int64_t>(space.parameters.size()) + 2);
}

bool is_finite(const spec::Space& space) {
  return std::all_of(space.parameters.begin(), space.parameters.end(),
                     [](const spec::Parameter& each) { return count(each.domain).has_value(); });
}

}  // namespace

Tpe::Tpe(const spec::Space& space, const SamplerOptions& options, bool multivariate)
    : space_(space),
      options_(options),
      finite_(is_finite(space)),
      first_points_(space, options.seed),
      split_(options.goals, enough(options, space)) {
  std::vector<bool> taken(space_.parameters.size(), false);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i]) continue;
    std::vector<std::size_t> together;
    std::vector<Axis> axes;
    for (std::size_t j = i; j < taken.size(); ++j)
      if (space_.parameters[j].when == space_.parameters[i].when) {
        taken[j] = true;
        together.push_back(j);
        axes.emplace_back(space_.parameters[j].domain);
      }
    groups_.push_back({together, Parzen(std::move(axes), multivariate), {}});
  }
}

std::optional<Values> Tpe::sample(TrialId trial, Random& random) {
  if (split_.reported() < std::max<std::int64_t>(1, options_.startup)) {
    Values point = first_points_.point(trial);
    return seen_.count(point) == 0 ? point : draw_unseen(space_, seen_, random);
  }
  std::optional<Values> seen_before;
  const auto parameters = std::max<std::size_t>(1, space_.parameters.size());
  const int rounds = std::clamp(static_cast<int>(kParametersOfRounds / parameters), 1, kRounds);
  for (int round = 0; round < rounds; ++round)
    for (auto& point : proposals(random)) {
      if (!spec::allowed(space_, point)) continue;
      if (seen_.count(point) == 0) return point;
      if (!seen_before) seen_before = std::move(point);
    }
  Values point = draw_unseen(space_, seen_, random);
  return seen_before && seen_.count(point) > 0 ? *seen_before : point;  // all tried: a good one again
}

// Points to choose from, best first. With one group all candidates are; with several, choosing one group's
// candidate decides which other groups exist, so each round gives one point.
std::vector<Values> Tpe::proposals(Random& random) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(1, options_.candidates));
  std::vector<Values> out;
  if (groups_.size() == 1) {
    for (const auto& each : groups_[0].density.candidates(good_in(groups_[0]), count, random))
      put(groups_[0], each, out.emplace_back());
    return out;
  }
  Values& point = out.emplace_back();
  for (const auto& group : groups_)
    if (spec::exists(space_.parameters[group.parameters.front()], point))
      put(group, group.density.candidates(good_in(group), count, random).front(), point);
  return out;
}

// The better, the heavier: by the logarithm of the rank among all good ones.
std::vector<Parzen::Good> Tpe::good_in(const Group& group) {
  const auto& good = split_.good();
  const double n = static_cast<double>(good.size());
  double all = 0;
  for (std::size_t i = 0; i < good.size(); ++i) all += std::log((n + 1) / (static_cast<double>(i) + 1));
  std::vector<Parzen::Good> out;
  for (std::size_t i = 0; i < good.size(); ++i) {
    const auto row = group.row_of[static_cast<std::size_t>(good[i])];
    const double weight = std::log((n + 1) / (static_cast<double>(i) + 1)) * n / all;
    if (row >= 0) out.push_back({static_cast<std::size_t>(row), weight});
  }
  return out;
}

void Tpe::put(const Group& group, const std::vector<double>& coordinates, Values& point) const {
  for (std::size_t i = 0; i < group.parameters.size(); ++i)
    point[space_.parameters[group.parameters[i]].name] = group.density.axes()[i].value(coordinates[i]);
}

void Tpe::began(TrialId trial, const Values& point) {
  for (auto& group : groups_) {
    assert(static_cast<std::size_t>(trial) == group.row_of.size());
    group.row_of.push_back(-1);
    std::vector<double> coordinates;
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const auto found = point.find(space_.parameters[group.parameters[i]].name);
      if (found != point.end()) coordinates.push_back(group.density.axes()[i].coordinate(found->second));
    }
    if (coordinates.size() < group.parameters.size()) continue;
    group.row_of.back() = static_cast<std::int64_t>(group.density.size());
    group.density.add(coordinates);
  }
  if (finite_) seen_.insert(point);
}

void Tpe::observe(TrialId trial, std::int64_t epoch, const Losses& losses) {
  split_.observe(trial, epoch, losses);
}

void Tpe::failed(TrialId trial) {
  split_.failed(trial);
}

}  // namespace tandem::search
