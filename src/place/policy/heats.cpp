#include "place/policy/heats.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace tandem::place {
namespace {

// What the rest of a task comes to when it moves; none: it would end before it is over there.
std::optional<Prediction> after_moving(const HeatsOptions& options, double left, const Prediction& here,
                                       const Prediction& there) {
  const double watts = there.joules / there.seconds, cost = options.cost;
  if (options.moves == HeatsOptions::Moves::stateful)
    return Prediction{cost + left * there.seconds, watts * cost + left * there.joules};
  const double meanwhile = cost / here.seconds;  // share done on the old node while the new one starts
  if (meanwhile >= left) return std::nullopt;
  return Prediction{cost + (left - meanwhile) * there.seconds,
                    meanwhile * here.joules + watts * cost + (left - meanwhile) * there.joules};
}

}  // namespace

void score(double h, std::span<const HeatsOption> options, std::vector<HeatsScore>& out) {
  double most_joules = 0, most_seconds = 0;
  for (const auto& option : options) {
    most_joules = std::max(most_joules, option.predicted.joules);
    most_seconds = std::max(most_seconds, option.predicted.seconds);
  }
  out.clear();
  for (const auto& [type, predicted] : options) {
    const double energy = most_joules > 0 ? h * (1 - predicted.joules / most_joules) : 0;
    const double time = most_seconds > 0 ? (1 - h) * (1 - predicted.seconds / most_seconds) : 0;
    out.push_back({type, energy + time, energy, time, predicted});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const HeatsScore& a, const HeatsScore& b) { return a.score > b.score; });
}

std::string why(const HeatsScore& score) {
  const auto& [seconds, joules, idle, known] = score.predicted;
  return fmt::format("{:.3f} = {:.3f} energy ({}) + {:.3f} time ({})", score.score, score.energy_part,
                     known && joules > 0 ? text(Joules{joules}) : "not known", score.time_part,
                     known ? text(Seconds{seconds}) : "not known");
}

std::optional<std::uint32_t> better_place(const HeatsOptions& options, double h, double left,
                                          const Prediction& here, std::span<const HeatsOption> there) {
  constexpr std::uint32_t kStay = ~std::uint32_t{0};
  if (options.moves == HeatsOptions::Moves::none) return std::nullopt;
  std::vector<HeatsOption> rest{{kStay, {left * here.seconds, left * here.joules}}};
  for (const auto& option : there)
    if (const auto moved = after_moving(options, left, here, option.predicted))
      rest.push_back({option.type, *moved});
  std::vector<HeatsScore> scores;
  score(h, rest, scores);  // staying is named first: it wins among equals
  if (scores.front().type == kStay) return std::nullopt;
  return scores.front().type;
}

}  // namespace tandem::place
