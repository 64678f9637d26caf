#include "search/grid.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "search/points.h"

namespace tandem::search {
namespace {

using GridPlace = std::vector<std::int64_t>;
__extension__ using Wide = __int128;  // of two int64

constexpr std::int64_t kMostEnumerated = 50'000, kDefaultLevels = 10;
constexpr int kPatience = 200;
constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

std::int64_t product(const std::vector<std::int64_t>& levels) {
  std::int64_t out = 1;
  for (const auto level : levels)
    if (__builtin_mul_overflow(out, level, &out)) return kEndless;
  return out;
}

// All levels of choices and whole numbers; for real parameters as many as `trials` allow, two at least.
std::vector<std::int64_t> levels_of(const spec::Space& space, std::optional<std::int64_t> trials) {
  std::vector<std::int64_t> levels;
  std::vector<std::size_t> real;
  for (std::size_t i = 0; i < space.parameters.size(); ++i) {
    const auto values = count(space.parameters[i].domain);
    if (!values) real.push_back(i);
    levels.push_back(values.value_or(trials ? 2 : kDefaultLevels));
  }
  for (bool grew = trials.has_value() && !real.empty(); grew;) {
    grew = false;
    for (const auto i : real) {
      ++levels[i];
      if (product(levels) <= *trials)
        grew = true;
      else
        --levels[i];
    }
  }
  return levels;
}

// Can they all be looked at for one answer? Five times as many as points drawn: they need no numbers drawn.
bool enumerable(const spec::Space& space, const std::vector<std::int64_t>& levels) {
  return product(levels) <= std::min<std::int64_t>(kMostEnumerated, 5 * most_tries(space));
}

// Of a full turn through `size` combinations, the step from one to the next: far apart, and none is met twice.
std::int64_t stride_of(std::int64_t size) {
  auto out = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(size) * 0.6180339887498949));
  while (std::gcd(out, size) != 1) ++out;
  return out;
}

Value level_value(const spec::Domain& domain, std::int64_t level, std::int64_t levels) {
  if (count(domain)) return value_of(domain, level);
  if (levels == 1) return at(domain, 0.5);
  const double u = static_cast<double>(level) / static_cast<double>(levels - 1);
  return at(domain, std::min(u, std::nextafter(1.0, 0.0)));
}

Values grid_point(const spec::Space& space, const std::vector<std::int64_t>& levels, const GridPlace& place) {
  Values out;
  for (std::size_t i = 0; i < place.size(); ++i)
    if (place[i] >= 0)
      out[space.parameters[i].name] = level_value(space.parameters[i].domain, place[i], levels[i]);
  return out;
}

// Calls `found` for every place of the grid that is allowed, in order of level.
void enumerate(const spec::Space& space, const std::vector<std::int64_t>& levels,
               const std::function<void(const GridPlace&)>& found) {
  GridPlace place(levels.size(), -1);
  Values point;
  const std::function<void(std::size_t)> go = [&](std::size_t i) {
    if (i == levels.size()) {
      if (spec::allowed(space, point)) found(place);
      return;
    }
    const auto& parameter = space.parameters[i];
    if (!spec::exists(parameter, point)) return go(i + 1);
    for (place[i] = 0; place[i] < levels[i]; ++place[i]) {
      point[parameter.name] = level_value(parameter.domain, place[i], levels[i]);
      go(i + 1);
    }
    point.erase(parameter.name);
    place[i] = -1;
  };
  go(0);
}

}  // namespace

Grid::Grid(const spec::Space& space, const SamplerOptions& options)
    : space_(space),
      seed_(options.seed),
      levels_(levels_of(space, options.trials)),
      sequence_(space.parameters.size(), options.seed) {}

std::optional<Values> Grid::sample(TrialId trial, Random&) {
  const auto wanted = static_cast<std::size_t>(trial);
  while (order_.size() <= wanted && !complete_) go_on();
  if (order_.empty()) throw_unsatisfiable(space_);
  if (order_.size() <= wanted) return std::nullopt;
  return grid_point(space_, levels_, order_[wanted]);
}

// The next new place, or all that are left.
void Grid::go_on() {
  if (walking_ && walk_on()) return;
  walking_ = false;
  if (!enumerable(space_, levels_) && scan_on()) return;
  complete_ = true;
  if (enumerable(space_, levels_)) add_the_rest();
}

bool Grid::walk_on() {
  for (int missed = 0; missed < kPatience; ++missed) {
    const auto u = sequence_.point(index_++);
    GridPlace place(levels_.size(), -1);
    Values point;
    for (std::size_t i = 0; i < place.size(); ++i) {
      const auto& parameter = space_.parameters[i];
      if (!spec::exists(parameter, point)) continue;
      const auto level = static_cast<std::int64_t>(u[i] * static_cast<double>(levels_[i]));
      place[i] = std::min(level, levels_[i] - 1);
      point[parameter.name] = level_value(parameter.domain, place[i], levels_[i]);
    }
    if (spec::allowed(space_, point) && visit(place)) return true;
  }
  return false;
}

// Goes through all combinations by their number, each once, far from the one before.
bool Grid::scan_on() {
  const std::int64_t size = product(levels_), stride = stride_of(size);
  const auto first = static_cast<std::int64_t>(Random(seed_, hash_name("grid")).below(static_cast<std::uint64_t>(size)));
  for (int missed = most_tries(space_); missed > 0 && scanned_ < size; --missed) {
    const auto number = (static_cast<Wide>(scanned_++) * stride + first) % size;
    GridPlace place(levels_.size(), -1);
    Values point;
    bool same_as_another = false;  // one that differs in a parameter that does not exist
    auto rest = static_cast<std::int64_t>(number);
    for (std::size_t i = 0; i < place.size(); ++i) {
      const auto level = rest % levels_[i];
      rest /= levels_[i];
      const auto& parameter = space_.parameters[i];
      if (!spec::exists(parameter, point)) {
        same_as_another |= level > 0;
        continue;
      }
      place[i] = level;
      point[parameter.name] = level_value(parameter.domain, level, levels_[i]);
    }
    if (!same_as_another && spec::allowed(space_, point) && visit(place)) return true;
  }
  return false;
}

void Grid::add_the_rest() {
  const std::size_t walked = order_.size();
  enumerate(space_, levels_, [&](const GridPlace& place) { visit(place); });
  Random random(seed_, hash_name("grid"));
  for (std::size_t i = order_.size(); i > walked + 1; --i)
    std::swap(order_[i - 1], order_[walked + random.below(i - walked)]);
}

bool Grid::visit(const GridPlace& place) {
  if (!visited_.insert(place).second) return false;
  order_.push_back(place);
  return true;
}

std::optional<std::int64_t> grid_size(const spec::Space& space, std::optional<std::int64_t> trials) {
  const bool endless = std::any_of(space.parameters.begin(), space.parameters.end(),
                                   [](const spec::Parameter& each) { return !count(each.domain); });
  if (endless && !trials) return std::nullopt;
  const auto levels = levels_of(space, trials);
  if (!enumerable(space, levels)) return product(levels);
  std::int64_t size = 0;
  enumerate(space, levels, [&](const GridPlace&) { ++size; });
  if (size == 0) throw_unsatisfiable(space);
  return size;
}

}  // namespace tandem::search
