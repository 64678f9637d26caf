#include "stats/design/design.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "stats/design/latin_hypercube.h"

namespace tandem::stats {
namespace {

constexpr double kUncountable = 1e18;
// For a point that is new and allowed: how many are drawn, and how many distances are looked at.
constexpr double kDraws = 1000, kFewestDraws = 50, kLooks = 1e5;

void check_factors(std::span<const DesignFactor> factors, const DesignOptions& options) {
  if (factors.empty()) throw UserError("a design needs at least one factor that may vary");
  std::set<std::string> names;
  for (const auto& factor : factors) {
    check(factor);
    if (!names.insert(factor.name).second) refuse(factor, "is there twice: name each once");
  }
  if (options.replications == 0) throw UserError("a design needs at least one replication");
}

std::vector<Value> lowest_and_highest(const DesignFactor& factor) {
  auto levels = levels_of(factor);
  if (levels.size() < 2) return levels;
  const bool numbers =
      std::all_of(levels.begin(), levels.end(), [](const Value& v) { return as_number(v).has_value(); });
  if (numbers)
    std::sort(levels.begin(), levels.end(),
              [](const Value& a, const Value& b) { return *as_number(a) < *as_number(b); });
  return {levels.front(), levels.back()};
}

struct Points {
  std::vector<DesignRun> list;  // one replication
  std::string said;             // "4 x 3 = 12"
};

void refuse_many(double points, const std::string& said, const DesignOptions& options) {
  const double runs = points * static_cast<double>(options.replications);
  if (runs <= static_cast<double>(options.most)) return;
  throw UserError(fmt::format(
      "the {} design has {} points and {} replication{}: {:.6g} runs, and {} is the most; take fewer levels, "
      "or a space-filling design of so many points",
      options.kind, said, options.replications, options.replications == 1 ? "" : "s", runs, options.most));
}

Points combinations(std::span<const DesignFactor> factors, const DesignOptions& options, bool two_level) {
  std::vector<std::vector<Value>> levels;
  std::vector<std::string> sizes;
  double count = 1;
  for (const auto& factor : factors) {
    levels.push_back(two_level ? lowest_and_highest(factor) : levels_of(factor));
    sizes.push_back(std::to_string(levels.back().size()));
    count = std::min(kUncountable, count * static_cast<double>(levels.back().size()));
  }
  Points out;
  out.said = factors.size() == 1 ? sizes[0] : fmt::format("{} = {:.6g}", fmt::join(sizes, " x "), count);
  refuse_many(count, out.said, options);
  std::vector<std::size_t> index(factors.size(), 0);
  for (std::size_t point = 0; point < static_cast<std::size_t>(count); ++point) {
    DesignRun run;
    for (std::size_t f = 0; f < factors.size(); ++f) run.at[factors[f].name] = levels[f][index[f]];
    out.list.push_back(std::move(run));
    for (std::size_t f = factors.size(); f-- > 0;) {  // the last factor turns fastest
      if (++index[f] < levels[f].size()) break;
      index[f] = 0;
    }
  }
  return out;
}

Points one_at_a_time(std::span<const DesignFactor> factors, const DesignOptions& options) {
  Points out;
  DesignRun usual;
  for (const auto& factor : factors) usual.at[factor.name] = usual_of(factor);
  out.list.push_back(usual);
  std::vector<std::string> sizes{"1"};
  for (const auto& factor : factors) {
    std::size_t others = 0;
    for (const auto& level : levels_of(factor)) {
      if (same_level(level, usual.at[factor.name])) continue;
      DesignRun run{usual.at, 0, 0, factor.name};
      run.at[factor.name] = level;
      out.list.push_back(std::move(run));
      ++others;
    }
    sizes.push_back(std::to_string(others));
  }
  out.said = fmt::format("{} = {}", fmt::join(sizes, " + "), out.list.size());
  refuse_many(static_cast<double>(out.list.size()), out.said, options);
  return out;
}

// Spreads points, then replaces those that fall together or are not allowed by new ones far from the rest.
class Filling {
 public:
  Filling(std::span<const DesignFactor> factors, const DesignOptions& options)
      : factors_(factors), options_(options), random_(options.seed, hash_name("space-filling")) {
    for (const auto& factor : factors) steps_.push_back(steps_of(factor));
  }

  Points make() {
    if (options_.points == 0)
      throw UserError("a space-filling design needs the number of its points (points: N)");
    refuse_many(static_cast<double>(options_.points), std::to_string(options_.points), options_);
    const double all = everything();
    if (all > 0 && static_cast<double>(options_.points) > all)
      throw UserError(
          fmt::format("a space-filling design of {} points was asked for, but there are only {:.6g}: "
                      "take the full design, or fewer points",
                      options_.points, all));
    for (const auto& at : latin_hypercube(options_.points, steps_, options_.seed)) take(at);
    while (taken_.size() < options_.points) take_far_one();
    Points out{{}, std::to_string(taken_.size())};
    for (const auto& at : taken_) out.list.push_back(DesignRun{values(at)});
    return out;
  }

 private:
  // How many points there are; 0: a continuum.
  double everything() const {
    double all = 1;
    for (const auto steps : steps_) all = std::min(kUncountable, all * static_cast<double>(steps));
    return all;
  }

  Values values(const std::vector<double>& at) const {
    Values out;
    for (std::size_t f = 0; f < factors_.size(); ++f)
      out[factors_[f].name] = at_coordinate(factors_[f], at[f]);
    return out;
  }

  bool free_and_allowed(const std::vector<double>& at) const {
    const auto point = values(at);
    return !used_.contains(point) && (!options_.allowed || options_.allowed(point));
  }

  bool take(const std::vector<double>& at) {
    if (!free_and_allowed(at)) return false;
    used_.insert(values(at));
    taken_.push_back(at);
    return true;
  }

  double room_around(const std::vector<double>& at) const {
    double nearest = HUGE_VAL;
    for (const auto& other : taken_) nearest = std::min(nearest, distance(at, other, steps_));
    return nearest;
  }

  void take_far_one() {
    std::vector<double> best;
    double room = -1;
    for (const auto& at : candidates()) {
      if (!free_and_allowed(at)) continue;
      if (const double around = room_around(at); around > room) room = around, best = at;
    }
    if (best.empty() || !take(best))
      throw UserError(
          fmt::format("a space-filling design of {} points was asked for, but only {} different ones that "
                      "the constraints allow were found: take fewer points, or loosen the constraints",
                      options_.points, taken_.size()));
  }

  // All points where they are few, else random ones.
  std::vector<std::vector<double>> candidates() {
    const double all = everything();
    std::vector<std::vector<double>> out;
    if (all == 0 || all > kDraws) {
      const double draws =
          std::clamp(kLooks / (1 + static_cast<double>(taken_.size())), kFewestDraws, kDraws);
      for (int i = 0; i < draws; ++i) {
        auto& at = out.emplace_back(steps_.size());
        for (auto& coordinate : at) coordinate = random_.uniform();
      }
      return out;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(all); ++i) {
      auto& at = out.emplace_back();
      std::size_t rest = i;
      for (const auto steps : steps_) {
        at.push_back((static_cast<double>(rest % steps) + 0.5) / static_cast<double>(steps));
        rest /= steps;
      }
    }
    return out;
  }

  std::span<const DesignFactor> factors_;
  const DesignOptions& options_;
  Random random_;
  std::vector<std::size_t> steps_;
  std::vector<std::vector<double>> taken_;
  std::set<Values> used_;
};

Points points_of(std::span<const DesignFactor> factors, const DesignOptions& options) {
  if (options.kind == "one-at-a-time") return one_at_a_time(factors, options);
  if (options.kind == "two-level") return combinations(factors, options, true);
  if (options.kind == "full") return combinations(factors, options, false);
  if (options.kind == "space-filling") return Filling(factors, options).make();
  std::vector<std::string> names;
  for (const auto& entry : designs()) names.push_back(entry.name);
  throw UserError(fmt::format("there is no design '{}'{}; there are: {}", printable(options.kind, 60),
                              did_you_mean(options.kind, names), join(names)));
}

void shuffle_runs(std::vector<DesignRun>& runs, Random& random) {
  for (std::size_t i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[random.below(i)]);
}

}  // namespace

const std::vector<DesignEntry>& designs() {
  static const std::vector<DesignEntry> table = {
      {"one-at-a-time", "each factor alone around the usual values"},
      {"two-level", "every combination of each factor's lowest and highest level (2^k)"},
      {"full", "every combination of all levels"},
      {"space-filling", "a given number of points, spread evenly"},
  };
  return table;
}

Design make_design(std::span<const DesignFactor> factors, const DesignOptions& options) {
  check_factors(factors, options);
  auto points = points_of(factors, options);
  const std::size_t before = points.list.size();
  if (options.allowed)
    std::erase_if(points.list, [&](const DesignRun& run) { return !options.allowed(run.at); });
  if (points.list.empty())
    throw UserError(fmt::format("none of the {} points of the {} design is allowed by the constraints",
                                before, options.kind));
  Design out;
  out.points = points.list.size();
  out.counted = points.said + " points";
  if (out.points < before)
    out.counted += fmt::format(", {} left out by the constraints: {}", before - out.points, out.points);
  const std::size_t runs = out.points * options.replications;
  out.counted += fmt::format(", {} replication{}: {} runs", options.replications,
                             options.replications == 1 ? "" : "s", runs);
  Random random(options.seed, hash_name("design order"));
  for (std::size_t i = 0; i < points.list.size(); ++i) points.list[i].point = i;
  for (std::size_t r = 0; r < options.replications; ++r) {
    auto block = points.list;
    for (auto& run : block) run.replication = r;
    if (options.shuffled) shuffle_runs(block, random);
    out.runs.insert(out.runs.end(), block.begin(), block.end());
  }
  return out;
}

}  // namespace tandem::stats
