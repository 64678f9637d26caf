#include "stats/design/design_factor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace tandem::stats {
namespace {

constexpr double kLargestWhole = 9007199254740992;  // 2^53

// Of a range: where `share` (0 to 1) of the way is.
Value at_share(const DesignFactor& factor, double share) {
  double value = factor.logarithmic ? factor.low * std::pow(factor.high / factor.low, share)
                                    : factor.low + (factor.high - factor.low) * share;
  value = std::clamp(value, factor.low, factor.high);  // rounding only: the ends are the ends
  return factor.whole ? Value(static_cast<std::int64_t>(std::llround(value))) : Value(value);
}

}  // namespace

bool same_level(const Value& a, const Value& b) {
  return a == b || (as_number(a) && as_number(b) && *as_number(a) == *as_number(b));
}

void refuse(const DesignFactor& factor, const std::string& what) {
  throw UserError(fmt::format("factor '{}' of the design {}", printable(factor.name, 60), what));
}

void check(const DesignFactor& factor) {
  if (factor.name.empty()) throw UserError("a factor of the design has no name");
  for (std::size_t i = 0; i < factor.levels.size(); ++i) {
    const auto number = as_number(factor.levels[i]);
    if (number && !std::isfinite(*number)) refuse(factor, "has a level that is not finite");
    for (std::size_t j = 0; j < i; ++j)
      if (same_level(factor.levels[i], factor.levels[j]))
        refuse(factor, fmt::format("has the level {} twice: write it once", text(factor.levels[i])));
  }
  if (!factor.levels.empty()) return;
  const auto range = fmt::format("the range from {} to {}", factor.low, factor.high);
  if (!std::isfinite(factor.low) || !std::isfinite(factor.high) || factor.low > factor.high)
    refuse(factor, fmt::format("has neither levels nor a range: {} is none", range));
  if (factor.logarithmic && factor.low <= 0)
    refuse(factor, fmt::format("spreads {} by its logarithm: it must begin above 0", range));
  const auto whole = [](double end) { return std::trunc(end) == end && std::abs(end) <= kLargestWhole; };
  if (factor.whole && (!whole(factor.low) || !whole(factor.high)))
    refuse(factor, fmt::format("takes whole numbers, but {} has ends that are none", range));
  if (factor.levels_of_range < 2 && factor.low < factor.high)
    refuse(factor, fmt::format("cuts {} into fewer than two levels", range));
}

std::vector<Value> levels_of(const DesignFactor& factor) {
  check(factor);
  if (!factor.levels.empty()) return factor.levels;
  if (factor.low == factor.high) return {at_share(factor, 0)};
  std::vector<Value> out;
  for (std::size_t i = 0; i < factor.levels_of_range; ++i) {
    const auto share = static_cast<double>(i) / static_cast<double>(factor.levels_of_range - 1);
    if (const auto level = at_share(factor, share); out.empty() || !same_level(out.back(), level))
      out.push_back(level);
  }
  return out;
}

Value usual_of(const DesignFactor& factor) {
  if (factor.usual) return *factor.usual;
  const auto levels = levels_of(factor);
  return levels[(levels.size() - 1) / 2];
}

std::size_t steps_of(const DesignFactor& factor) {
  if (!factor.levels.empty()) return factor.levels.size();
  if (factor.low == factor.high) return 1;
  if (factor.whole && !factor.logarithmic) return static_cast<std::size_t>(factor.high - factor.low) + 1;
  return 0;
}

Value at_coordinate(const DesignFactor& factor, double coordinate) {
  const std::size_t steps = steps_of(factor);
  if (steps == 0) return at_share(factor, coordinate);
  const auto step = std::min(steps - 1, static_cast<std::size_t>(coordinate * static_cast<double>(steps)));
  if (!factor.levels.empty()) return factor.levels[step];
  if (steps == 1) return at_share(factor, 0);
  return Value(static_cast<std::int64_t>(factor.low) + static_cast<std::int64_t>(step));
}

}  // namespace tandem::stats
