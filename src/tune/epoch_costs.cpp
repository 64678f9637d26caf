#include "tune/epoch_costs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/numeric/least_squares.h"

namespace tandem::tune {
namespace {

constexpr double kQuirks = 0.1;  // a limit that the bounds put this much above the best is still tried
constexpr double kEpochsRemembered = 5;  // epochs; a cell is the mean of about as many
constexpr double kOtherMachine = 0.2;    // relative change that is more than noise
constexpr double kSure = 3;              // epochs that are no accident
constexpr double kOffTheCurve = 0.03;    // how far a draw may truly lie from a parabola
constexpr double kSameCost = 0.03;       // no more than this is given away to bad measurements
constexpr double kJitter = 0.05;         // of a short epoch's time

}  // namespace

double EpochCosts::cost(const Cell& cell) const {
  const double price = job_.price > 0 ? job_.price : job_.limits.back();
  return job_.energy_weight * cell.joules + (1 - job_.energy_weight) * price * cell.seconds;
}

const EpochCosts::Cell* EpochCosts::find(std::int64_t batch, double limit) const {
  const auto of_batch = cells_.find(batch);
  if (of_batch == cells_.end()) return nullptr;
  const auto cell = of_batch->second.find(limit);
  return cell == of_batch->second.end() ? nullptr : &cell->second;
}

void EpochCosts::take_in(Cell& cell, const EpochSlice& slice) {
  const double seconds = slice.seconds / slice.epochs, joules = slice.joules / slice.epochs;
  const double kept = std::min(cell.weight, kEpochsRemembered), share = slice.epochs / (kept + slice.epochs);
  cell = {cell.seconds + share * (seconds - cell.seconds), cell.joules + share * (joules - cell.joules),
          kept + slice.epochs,
          (1 - share) * (1 - share) * cell.variance + share * share * slice.error * slice.error};
}

bool EpochCosts::odd(const Cell& cell, const EpochSlice& slice) {
  return slice.epochs >= 1 && cell.weight > 0 &&
         std::abs(std::log(slice.seconds / slice.epochs / cell.seconds)) > kOtherMachine;
}

void EpochCosts::add(const EpochSlice& slice) {
  auto& cell = cells_[slice.batch][slice.limit];
  auto& unlike = odd_[{slice.batch, slice.limit}];
  if (!odd(cell, slice)) {
    unlike = {};
    return take_in(cell, slice);
  }
  if (odd(unlike, slice)) unlike = {};  // unlike each other, too
  take_in(unlike, slice);
  if (cell.weight < kSure && unlike.weight >= cell.weight) {
    // Of two that disagree the quicker one is believed: nothing is quick by accident.
    if (unlike.weight > cell.weight || unlike.seconds < cell.seconds) cell = std::exchange(unlike, {});
  } else if (unlike.weight >= kSure) {
    scale_all(unlike.seconds / cell.seconds, unlike.joules / cell.joules);
    cell = std::exchange(unlike, {});
  }
}

void EpochCosts::scale_all(double seconds, double joules) {
  for (auto& [batch, limits] : cells_)
    for (auto& [limit, cell] : limits) cell.seconds *= seconds, cell.joules *= joules;
}

std::optional<EpochCosts::Best> EpochCosts::best(std::int64_t batch) const {
  const auto of_batch = cells_.find(batch);
  if (of_batch == cells_.end()) return std::nullopt;
  const auto cells = smooth(of_batch->second);
  double least = INFINITY;
  for (const auto& [limit, cell] : cells) least = std::min(least, cost(cell));
  // Of those that cannot be told apart, the one that gives away least of both: energy times time.
  std::optional<Best> out;
  double product = INFINITY;
  for (const auto& [limit, cell] : cells) {
    if (cost(cell) - std::min(error(cell), kSameCost * least) > least ||
        cell.joules * cell.seconds >= product)
      continue;
    out = Best{limit, cost(cell)}, product = cell.joules * cell.seconds;
  }
  return out;
}

double EpochCosts::error(const Cell& cell) const {
  const double of_time = cell.variance > 0 ? kJitter / std::sqrt(cell.weight) : 0;
  const double price = cost({1, 0}), joules = job_.energy_weight * cell.joules;
  return std::hypot(joules * std::sqrt(cell.variance), (price * cell.seconds + joules) * of_time);
}

// The logarithm of the draw as a parabola in that of the limit (a line through three), each weighed by how
// well it was measured; a cell is then the mean of what was measured and the curve, weighed alike.
std::map<double, EpochCosts::Cell> EpochCosts::smooth(const std::map<double, Cell>& cells) const {
  const bool exact =
      std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.second.variance == 0; });
  if (exact || cells.size() < 3) return cells;
  std::vector<std::vector<double>> columns(cells.size() > 3 ? 3 : 2);
  std::vector<double> draws;
  for (const auto& [limit, cell] : cells) {
    const double trust = 1 / std::sqrt(cell.variance + kOffTheCurve * kOffTheCurve), x = std::log(limit);
    double power = trust;
    for (auto& column : columns) column.push_back(power), power *= x;
    draws.push_back(trust * std::log(cell.joules / cell.seconds));
  }
  std::vector<const std::vector<double>*> given;
  for (const auto& column : columns) given.push_back(&column);
  const auto fit = stats::least_squares(given, draws);
  auto out = cells;
  for (auto& [limit, cell] : out) {
    double curve = 0, power = 1;
    for (const double coefficient : fit.coefficients) curve += coefficient * power, power *= std::log(limit);
    const double measured = std::log(cell.joules / cell.seconds);
    const double to_curve = cell.variance / (cell.variance + kOffTheCurve * kOffTheCurve);
    cell.joules = cell.seconds * std::exp(measured + to_curve * (curve - measured));
  }
  return out;
}

double EpochCosts::first_limit(std::int64_t batch) const {
  double nearest = INFINITY, out = job_.limits.back();
  for (const auto& [other, limits] : cells_) {
    const double away = std::abs(std::log(static_cast<double>(batch) / static_cast<double>(other)));
    if (away < nearest) nearest = away, out = best(other)->limit;
  }
  return out;
}

// The least that an epoch can cost under a limit that was not measured, given those that were.
double EpochCosts::at_best(const std::map<double, Cell>& known, double limit) const {
  const auto above = known.upper_bound(limit);
  Cell out{0, 0, 0};
  double watts = 0;
  const auto slope = [](const auto& low, const auto& high) {  // seconds that a watt more saves
    return std::max(0.0, (low->second.seconds - high->second.seconds) / (high->first - low->first));
  };
  if (above != known.end()) {
    const auto further = std::next(above);
    const double steep = further == known.end() ? 0 : slope(above, further);
    out.seconds = above->second.seconds + steep * (above->first - limit);
    watts = std::min(limit, above->second.joules / above->second.seconds);
  }
  if (above != known.begin()) {
    const auto below = std::prev(above);
    watts = std::max(watts, below->second.joules / below->second.seconds);
    if (below != known.begin()) {
      const double steep = slope(std::prev(below), below);
      out.seconds = std::max(out.seconds, below->second.seconds - steep * (limit - below->first));
    }
  }
  out.joules = watts * out.seconds;
  return cost(out);
}

std::optional<double> EpochCosts::worth_probing(std::int64_t batch) const {
  const auto of_batch = cells_.find(batch);
  if (of_batch == cells_.end()) return first_limit(batch);
  const auto cheapest = *best(batch);
  std::optional<double> out;
  for (const double limit : job_.limits) {
    if (find(batch, limit) || at_best(of_batch->second, limit) > (1 + kQuirks) * cheapest.cost) continue;
    if (!out || std::abs(limit - cheapest.limit) < std::abs(*out - cheapest.limit)) out = limit;
  }
  return out;
}

}  // namespace tandem::tune
