#include "search/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace tandem::search {
namespace {

using spec::Domain;
using DomainKind = Domain::Kind;

constexpr int kMostTries = 10'000, kFewestTries = 100, kMostDrawsUnseen = 100;
constexpr double kWork = 5e5;  // parameters, conditions' values and constraints' terms looked at for one answer
constexpr double kBytesOfTerm = 4;
const double kLastPosition = std::nextafter(1.0, 0.0);

// Where the domain begins and ends on the scale on which it is uniform; whole numbers own half a step around.
struct Scale {
  double from, to;
};

Scale scale_of(const Domain& domain) {
  switch (domain.kind) {
    case DomainKind::log_real:
      assert(domain.low > 0);
      return {std::log(domain.low), std::log(domain.high)};
    case DomainKind::whole:
      return {domain.low - 0.5, domain.high + 0.5};
    case DomainKind::log_whole:
      assert(domain.low >= 1);
      return {std::log(domain.low - 0.5), std::log(domain.high + 0.5)};
    default:
      break;
  }
  return {domain.low, domain.high};
}

// Every value of it has a cell of the same width.
bool of_cells(const Domain& domain) {
  return domain.kind == DomainKind::choice || domain.step > 0;
}

Value whole(const Domain& domain, double near) {
  return static_cast<std::int64_t>(std::clamp(std::floor(near + 0.5), domain.low, domain.high));
}

double number(const Value& value) {
  const auto found = as_number(value);
  assert(found);
  return *found;
}

// With what is known, draws the rest until all constraints hold; nothing when the tries are used up before.
std::optional<Values> try_draw(const spec::Space& space, const Values& known, Random& random, int& tries) {
  while (tries-- > 0) {
    Values out;
    for (const auto& parameter : space.parameters) {
      if (!spec::exists(parameter, out)) continue;
      const auto given = known.find(parameter.name);
      out[parameter.name] = given != known.end() ? given->second : at(parameter.domain, random.uniform());
    }
    if (spec::allowed(space, out)) return out;
  }
  return std::nullopt;
}

// The first few of them.
std::string some_of(std::vector<std::string> texts) {
  constexpr std::size_t kShown = 5;
  const std::size_t more = texts.size() > kShown ? texts.size() - kShown : 0;
  texts.resize(texts.size() - more);
  return join(texts) + (more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

Value at(const Domain& domain, double u) {
  assert(u >= 0 && u < 1);
  if (of_cells(domain)) {
    const auto cells = *count(domain);
    return value_of(domain, std::min(static_cast<std::int64_t>(u * static_cast<double>(cells)), cells - 1));
  }
  const Scale scale = scale_of(domain);
  const double place = scale.from + (scale.to - scale.from) * u;
  switch (domain.kind) {
    case DomainKind::whole:
      return whole(domain, place);
    case DomainKind::log_whole:
      return whole(domain, std::exp(place));
    case DomainKind::real:
      return u == kLastPosition ? domain.high : std::clamp(place, domain.low, domain.high);
    default:
      break;
  }
  if (u == 0) return domain.low;  // exp(log(x)) need not be x
  return u == kLastPosition ? domain.high : std::clamp(std::exp(place), domain.low, domain.high);
}

double position(const Domain& domain, const Value& value) {
  if (of_cells(domain))
    return (static_cast<double>(index_of(domain, value)) + 0.5) / static_cast<double>(*count(domain));
  const Scale scale = scale_of(domain);
  const bool logarithmic = domain.kind == DomainKind::log_real || domain.kind == DomainKind::log_whole;
  const double place = logarithmic ? std::log(number(value)) : number(value);
  if (!(scale.to > scale.from)) return 0;
  return std::clamp((place - scale.from) / (scale.to - scale.from), 0.0, kLastPosition);
}

Values point_at(const spec::Space& space, const std::vector<double>& u) {
  assert(u.size() == space.parameters.size());
  Values out;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const auto& parameter = space.parameters[i];
    if (spec::exists(parameter, out)) out[parameter.name] = at(parameter.domain, u[i]);
  }
  return out;
}

int most_tries(const spec::Space& space) {
  double work = 1;
  for (const auto& parameter : space.parameters)
    work += 1 + (parameter.when ? static_cast<double>(parameter.when->values.size()) : 0);
  for (const auto& constraint : space.constraints)
    work += static_cast<double>(constraint.text().size()) / kBytesOfTerm;
  return std::clamp(static_cast<int>(kWork / work), kFewestTries, kMostTries);
}

Values draw(const spec::Space& space, Random& random) {
  return completed(space, {}, random);
}

Values completed(const spec::Space& space, const Values& known, Random& random) {
  int tries = most_tries(space);
  if (auto point = try_draw(space, known, random, tries)) return *std::move(point);
  if (!known.empty())
    throw UserError(
        fmt::format("start: no way to complete the point {} meets the constraints", to_json(known).dump()));
  throw_unsatisfiable(space);
}

Values draw_unseen(const spec::Space& space, const std::set<Values>& seen, Random& random) {
  int tries = most_tries(space);
  auto out = try_draw(space, {}, random, tries);
  if (!out) throw_unsatisfiable(space);
  for (int i = 1; i < kMostDrawsUnseen && seen.count(*out) > 0; ++i) {
    auto another = try_draw(space, {}, random, tries);
    if (!another) break;
    out = std::move(another);
  }
  return *std::move(out);
}

void throw_unsatisfiable(const spec::Space& space) {
  std::vector<bool> held(space.constraints.size(), false);
  Random random(1);
  const int tries = most_tries(space);
  for (int i = 0; i < tries; ++i) {
    std::vector<double> u(space.parameters.size());
    for (auto& each : u) each = random.uniform();
    const Values point = point_at(space, u);
    for (std::size_t c = 0; c < held.size(); ++c) held[c] = held[c] || space.constraints[c].holds(point);
  }
  std::vector<std::string> never, all;
  for (std::size_t c = 0; c < held.size(); ++c) {
    all.push_back(fmt::format("'{}'", space.constraints[c].text()));
    if (!held[c]) never.push_back(all.back());
  }
  if (!never.empty())
    throw UserError(
        fmt::format("no point of the search space meets {} {} ({} draws at random met none): "
                    "loosen {} or widen the domains",
                    never.size() == 1 ? "the constraint" : "the constraints", some_of(never), tries,
                    never.size() == 1 ? "it" : "them"));
  throw UserError(
      fmt::format("no point of the search space meets the constraints {} together ({} draws at random "
                  "met none): loosen one of them or widen the domains",
                  some_of(all), tries));
}

}  // namespace tandem::search
