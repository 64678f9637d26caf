#include "bench/zeus/replay.h"

#include <fmt/format.h>

namespace tandem::bench {
namespace {

double drawn(const Workload& w, std::int64_t batch, std::uint64_t seed, std::int64_t recurrence,
             int attempt) {
  const auto& runs = w.runs.at(batch);
  Random random(seed, hash_name(fmt::format("{}/{}/{}", recurrence, attempt, batch)));
  return runs[random.below(runs.size())];
}

}  // namespace

Regret& Regret::operator+=(const Regret& other) {
  cost += other.cost, joules += other.joules, seconds += other.seconds, given_up += other.given_up;
  return *this;
}

Regret Regret::operator/(double by) const {
  return {cost / by, joules / by, seconds / by, given_up / by};
}

std::int64_t recurrences(const Workload& w) {
  return static_cast<std::int64_t>(2 * w.job.batches.size() * w.job.limits.size());
}

Regret replay(const std::vector<Workload>& worlds, const PolicyMaker& maker, std::uint64_t seed) {
  const auto policy = maker.make(worlds.front(), seed);
  const auto count = recurrences(worlds.front());
  Regret out;
  for (std::int64_t r = 0; r < count; ++r) {
    const auto& w = worlds[static_cast<std::size_t>(r) * worlds.size() / static_cast<std::size_t>(count)];
    const auto [batch, limit] = best_cell(w);
    const auto best = expected(w, batch, limit);
    bool reached = false;
    for (int attempt = 0; attempt < kTries && !reached; ++attempt) {
      const auto chosen = policy->batch();
      Attempt run(w, chosen, drawn(w, chosen, seed, r, attempt));
      policy->carry_out(run);
      out +=
          {run.cost() / w.cost(best), run.spent().joules / best.joules, run.spent().seconds / best.seconds};
      reached = run.reached();
    }
    out += {-1, -1, -1, reached ? 0.0 : 1.0};
  }
  return out;
}

}  // namespace tandem::bench
