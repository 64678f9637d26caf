#include "characterize/levels.h"

#include <algorithm>
#include <cmath>

#include "stats/numeric/distributions.h"

namespace tandem::characterize {
namespace {

struct Found {
  Best best;
  std::vector<double> observations;
};

Found best_of(const Study& study, const std::vector<Setting>& all, const Response& response,
              Strategy strategy) {
  Found out{{strategy}};
  for (const auto& setting : all) {
    if (!belongs(study, setting.at, strategy)) continue;
    const auto mean = mean_of(setting.observations);
    const bool better =
        response.more_is_better ? mean.value > out.best.mean.value : mean.value < out.best.mean.value;
    if (out.best.settings++ == 0 || better)
      out.best.at = setting.at, out.best.mean = mean, out.observations = setting.observations;
  }
  return out;
}

double variance_of_mean(std::span<const double> values) {
  const auto mean = mean_of(values).value, n = static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / (n - 1) / n;
}

}  // namespace

const char* name(Strategy strategy) {
  return strategy == Strategy::hyper_only ? "hyper" : strategy == Strategy::system_only ? "system" : "both";
}

bool belongs(const Study& study, const Values& at, Strategy strategy) {
  if (strategy == Strategy::both) return true;
  const Side fixed = strategy == Strategy::hyper_only ? Side::system : Side::hyper;
  return std::all_of(study.factors.begin(), study.factors.end(), [&](const Factor& factor) {
    return factor.side != fixed || same(at.at(factor.name), factor.usual);
  });
}

Study only(const Study& study, Strategy strategy) {
  Study out = study;
  std::erase_if(out.runs, [&](const Run& run) { return !belongs(study, run.at, strategy); });
  return out;
}

std::vector<Comparison> compare_levels(const Study& study) {
  check(study);
  std::vector<Comparison> out;
  for (const auto& response : study.responses) {
    const auto all = settings(study, response.name);
    const auto both = best_of(study, all, response, Strategy::both);
    Comparison comparison{response.name, {}};
    for (std::size_t i = 0; i < kStrategies.size(); ++i) {
      auto found = best_of(study, all, response, kStrategies[i]);
      const double size = std::abs(found.best.mean.value);
      if (found.best.settings > 0 && kStrategies[i] != Strategy::both && size > 0) {
        found.best.both_better_by = std::abs(both.best.mean.value - found.best.mean.value) / size;
        if (both.best.at != found.best.at) found.best.p = welch(both.observations, found.observations);
      }
      comparison.best[i] = found.best;
    }
    out.push_back(std::move(comparison));
  }
  return out;
}

std::optional<double> welch(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2) return {};
  const double of_a = variance_of_mean(a), of_b = variance_of_mean(b), sum = of_a + of_b;
  if (sum <= 0) return {};
  const auto share = [](double variance, std::size_t n) {
    return variance * variance / static_cast<double>(n - 1);
  };
  const double df = sum * sum / (share(of_a, a.size()) + share(of_b, b.size()));
  return stats::t_two_sided((mean_of(a).value - mean_of(b).value) / std::sqrt(sum), df);
}

}  // namespace tandem::characterize
