#include "place/infra/infra_thresholds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace tandem::place {
namespace {

constexpr std::size_t kTerms = kResources + 1;  // t0 first
constexpr int kSweeps = 3000;                   // enough for six terms that are much alike
constexpr double kRidge = 1e-4;  // as a share of the diagonal: divides what cannot be told apart

using TermRow = std::array<double, kTerms>;

TermRow terms(const Shares& in_use) {
  TermRow out{1};
  for (std::size_t i = 0; i < kResources; ++i) {
    const double u = std::min(in_use.of[i], kFull);
    out[i + 1] = u / (1 - u);
  }
  return out;
}

// Least squares without negative coefficients, one coefficient at a time.
class Fit {
 public:
  void add(const TermRow& row, double value) {
    for (std::size_t i = 0; i < kTerms; ++i) {
      for (std::size_t j = 0; j < kTerms; ++j) gram_[i][j] += row[i] * row[j];
      right_[i] += row[i] * value;
    }
  }

  TermRow solve() const {
    TermRow out{};
    for (int sweep = 0; sweep < kSweeps; ++sweep)
      for (std::size_t i = 0; i < kTerms; ++i) {
        double rest = right_[i];
        for (std::size_t j = 0; j < kTerms; ++j)
          if (j != i) rest -= gram_[i][j] * out[j];
        const double own = gram_[i][i] * (i == 0 ? 1 : 1 + kRidge);
        out[i] = own > 0 ? std::max(rest / own, 0.0) : 0;
      }
    return out;
  }

 private:
  std::array<TermRow, kTerms> gram_{};
  TermRow right_{};
};

}  // namespace

void JobClasses::ran(const std::string& job_class, const Shares& in_use, double seconds_each) {
  const bool shares =
      std::all_of(in_use.of.begin(), in_use.of.end(), [](double u) { return u >= 0 && u <= 1; });
  if (!shares || !(seconds_each > 0) || !std::isfinite(seconds_each))
    throw SystemError(
        fmt::format("a job of class '{}' is said to have run at {} s with shares in use that are not all "
                    "from 0 to 1, or no pace: look at who reports it",
                    printable(job_class, 80), seconds_each));
  auto& past = runs_[job_class];
  past.push_back({in_use, seconds_each});
  while (past.size() > options_.kept) past.pop_front();
  fitted_.erase(job_class);
}

std::size_t JobClasses::runs(const std::string& job_class) const {
  const auto found = runs_.find(job_class);
  return found == runs_.end() ? 0 : found->second.size();
}

Shares JobClasses::time_spent(const std::string& job_class) const {
  Shares out;
  if (runs(job_class) < options_.least_runs) return out;
  Fit fit;
  for (const Run& run : runs_.at(job_class)) fit.add(terms(run.in_use), run.seconds_each);
  const TermRow found = fit.solve();
  if (!(found[0] > 0)) return out;  // all is load, nothing undisturbed was seen: no telling
  for (std::size_t i = 0; i < kResources; ++i) out.of[i] = found[i + 1] / found[0];
  return out;
}

Shares JobClasses::thresholds(const std::string& job_class) const {
  if (runs(job_class) < options_.least_runs) return options_.at_first;
  const auto known = fitted_.find(job_class);
  return known != fitted_.end() ? known->second : fitted_[job_class] = fitted_thresholds(job_class);
}

Shares JobClasses::fitted_thresholds(const std::string& job_class) const {
  const Shares spent = time_spent(job_class);
  Shares out;
  for (const Resource resource : kAllResources) {
    double highest = options_.at_first[resource];
    if (resource != Resource::memory && resource != Resource::gpu_memory)
      for (const Run& run : runs_.at(job_class)) highest = std::max(highest, run.in_use[resource]);
    out[resource] = std::min(highest, options_.tolerated / (options_.tolerated + spent[resource]));
  }
  return out;
}

nlohmann::json JobClasses::to_json() const {
  auto out = nlohmann::json::object();
  for (const auto& [job_class, runs] : runs_)
    for (const auto& run : runs) out[job_class].push_back({run.in_use.of, run.seconds_each});
  return out;
}

void JobClasses::restore(const nlohmann::json& saved) {
  runs_.clear();
  fitted_.clear();
  for (const auto& [job_class, runs] : saved.items())
    for (const auto& run : runs) runs_[job_class].push_back({{run.at(0)}, run.at(1)});
}

}  // namespace tandem::place
