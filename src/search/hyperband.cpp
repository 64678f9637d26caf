#include "search/hyperband.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tandem::search {
namespace {

// 1, reduction, reduction², ... up to most.
std::vector<std::int64_t> powers(std::int64_t reduction, std::int64_t most) {
  std::vector<std::int64_t> out{1};
  while (out.back() <= most / reduction) out.push_back(out.back() * reduction);
  return out;
}

// max_epochs * part / whole, to the nearest.
std::int64_t share(std::int64_t max_epochs, std::int64_t part, std::int64_t whole) {
  const std::int64_t quotient = max_epochs / whole, rest = max_epochs % whole;
  return quotient * part + (2 * rest * part + whole) / (2 * whole);
}

struct Start {
  std::int64_t trials;
  std::vector<std::int64_t> epochs;  // of its rungs
};

std::vector<Start> one_round(std::int64_t max_epochs, std::int64_t reduction) {
  const auto power = powers(reduction, max_epochs);
  std::vector<Start> out;
  for (std::size_t s = power.size(); s-- > 0;) {
    const auto brackets = static_cast<std::int64_t>(power.size()), below = static_cast<std::int64_t>(s) + 1;
    Start start{(brackets * power[s] + below - 1) / below, {}};
    for (std::size_t i = 0; i <= s; ++i) start.epochs.push_back(share(max_epochs, power[i], power[s]));
    out.push_back(std::move(start));
  }
  return out;
}

}  // namespace

std::vector<BracketPlan> hyperband_plan(std::int64_t max_epochs, std::int64_t reduction,
                                        std::optional<std::int64_t> trials) {
  assert(max_epochs >= 1 && reduction >= 2 && trials.value_or(1) >= 1);
  const auto round = one_round(max_epochs, reduction);
  std::int64_t left = trials.value_or(hyperband_trials(max_epochs, reduction));
  std::vector<BracketPlan> out;
  for (std::size_t i = 0; left > 0; i = (i + 1) % round.size()) {
    const std::int64_t here = std::min(left, round[i].trials);
    out.push_back(bracket_of(here, round[i].epochs, reduction));
    left -= here;
  }
  return out;
}

std::int64_t hyperband_trials(std::int64_t max_epochs, std::int64_t reduction) {
  const auto round = one_round(max_epochs, reduction);
  return std::accumulate(round.begin(), round.end(), std::int64_t{0},
                         [](std::int64_t sum, const Start& start) { return sum + start.trials; });
}

}  // namespace tandem::search
