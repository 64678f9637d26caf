#include "search/nsga2.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "search/pareto.h"
#include "search/points.h"

namespace tandem::search {
namespace {

constexpr int kMostNsgaAttempts = 50;
constexpr double kCrossed = 0.9;  // of children; the others are mutated copies of one parent
constexpr double kCrossoverIndex = 10, kMutationIndex = 15;  // the higher, the nearer to the parents

double inside(double u) {
  return std::clamp(u, 0.0, std::nextafter(1.0, 0.0));
}

// Simulated binary crossover of one number: as far apart as the parents, give or take.
double crossed(double a, double b, Random& random) {
  const double u = random.uniform(), power = 1 / (kCrossoverIndex + 1);
  const double spread = u < 0.5 ? std::pow(2 * u, power) : std::pow(1 / (2 * (1 - u)), power);
  const double sign = random.below(2) == 0 ? 1 : -1;
  return inside(0.5 * ((a + b) + sign * spread * (a - b)));
}

double mutated(double u, Random& random) {
  const double drawn = random.uniform(), power = 1 / (kMutationIndex + 1);
  const double step = drawn < 0.5 ? std::pow(2 * drawn, power) - 1 : 1 - std::pow(2 * (1 - drawn), power);
  return inside(u + step);
}

Value mutated(const spec::Domain& domain, const Value& value, Random& random) {
  const auto values = count(domain);
  if (values == 1) return value;
  if (domain.kind == spec::Domain::Kind::choice) {
    const auto other = static_cast<std::size_t>(random.below(static_cast<std::uint64_t>(*values - 1)));
    return spec::same(domain.choices[other], value) ? domain.choices.back() : domain.choices[other];
  }
  const Value out = at(domain, mutated(position(domain, value), random));
  if (!values || !spec::same(out, value)) return out;
  const std::int64_t here = index_of(domain, value), step = random.below(2) == 0 ? 1 : -1;
  return value_of(domain, here + step < 0 || here + step >= *values ? here - step : here + step);
}

Value inherited(const spec::Domain& domain, const Value& a, const Value& b, Random& random) {
  const bool swap = random.below(2) == 0;
  if (domain.kind == spec::Domain::Kind::choice || random.below(2) == 0) return swap ? b : a;
  return at(domain, crossed(position(domain, a), position(domain, b), random));
}

}  // namespace

Nsga2::Nsga2(const spec::Space& space, const SamplerOptions& options)
    : space_(space),
      size_(static_cast<std::size_t>(std::max<std::int64_t>(2, options.population))),
      first_points_(space, options.seed) {}

std::optional<Values> Nsga2::sample(TrialId trial, Random& random) {
  if (reported_.size() < size_ || members_.size() < 2) {
    Values out = first_points_.point(trial);
    return seen_.count(out) == 0 ? out : draw_unseen(space_, seen_, random);
  }
  for (int attempt = 0; attempt < kMostNsgaAttempts; ++attempt) {
    const Values& mother = tournament(random);
    const Values& father = tournament(random);
    Values out = child(mother, random.uniform() < kCrossed ? father : mother, random);
    if (spec::allowed(space_, out) && seen_.count(out) == 0) return out;
  }
  return draw_unseen(space_, seen_, random);
}

const Values& Nsga2::tournament(Random& random) const {
  const auto one = random.below(members_.size()), other = random.below(members_.size());
  return points_[static_cast<std::size_t>(members_[std::min(one, other)])];
}

Values Nsga2::child(const Values& mother, const Values& father, Random& random) const {
  const double rate = 1 / static_cast<double>(space_.parameters.size());
  Values out;
  for (const auto& parameter : space_.parameters) {
    if (!spec::exists(parameter, out)) continue;
    const auto a = mother.find(parameter.name), b = father.find(parameter.name);
    Value& value = out[parameter.name];
    if (a == mother.end() && b == father.end())
      value = at(parameter.domain, random.uniform());
    else if (a == mother.end() || b == father.end())
      value = a == mother.end() ? b->second : a->second;
    else
      value = inherited(parameter.domain, a->second, b->second, random);
    if (random.uniform() < rate) value = mutated(parameter.domain, value, random);
  }
  return out;
}

void Nsga2::began(TrialId trial, const Values& point) {
  const auto index = static_cast<std::size_t>(trial);
  if (points_.size() <= index) points_.resize(index + 1);
  points_[index] = point;
  seen_.insert(point);
}

void Nsga2::observe(TrialId trial, std::int64_t, const Losses& losses) {
  reported_.insert(trial);
  const auto known = std::find(members_.begin(), members_.end(), trial);
  if (known != members_.end()) {
    losses_[static_cast<std::size_t>(known - members_.begin())] = losses;
  } else {
    members_.push_back(trial);
    losses_.push_back(losses);
  }
  std::vector<TrialId> members;
  std::vector<Losses> kept;
  for (const auto i : best_first(losses_)) {
    if (members.size() == size_) break;
    members.push_back(members_[i]);
    kept.push_back(losses_[i]);
  }
  members_ = std::move(members);
  losses_ = std::move(kept);
}

void Nsga2::failed(TrialId trial) {
  const auto known = std::find(members_.begin(), members_.end(), trial);
  if (known == members_.end()) return;
  losses_.erase(losses_.begin() + (known - members_.begin()));
  members_.erase(known);
}

}  // namespace tandem::search
