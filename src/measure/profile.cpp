#include "measure/profile.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "platform/perf_events.h"

namespace tandem::measure {
namespace {

// Pearson's r over the profiles that hold both; 0 where it has no meaning.
double correlation(const std::vector<Profile>& profiles, const std::string& a, const std::string& b) {
  std::vector<std::pair<double, double>> pairs;
  for (const auto& profile : profiles) {
    const auto left = profile.rates.find(a), right = profile.rates.find(b);
    if (left != profile.rates.end() && right != profile.rates.end())
      pairs.emplace_back(left->second, right->second);
  }
  if (pairs.size() < kFewestProfiles) return 0;
  double mean_a = 0, mean_b = 0;
  for (const auto& [x, y] : pairs) mean_a += x, mean_b += y;
  mean_a /= static_cast<double>(pairs.size());
  mean_b /= static_cast<double>(pairs.size());
  double aa = 0, bb = 0, ab = 0;
  for (const auto& [x, y] : pairs) {
    aa += (x - mean_a) * (x - mean_a);
    bb += (y - mean_b) * (y - mean_b);
    ab += (x - mean_a) * (y - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

}  // namespace

const std::vector<std::string>& profile_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& event : platform::known_events("/nonexistent"))
      if (event.alias_of.empty()) all.push_back(event.name);
    for (const char* name : platform::kDescribedEvents) all.emplace_back(name);
    // Counted in user space only, where the kernel allows no more.
    for (std::size_t i = 0, perf = all.size(); i < perf; ++i) all.push_back(all[i] + ":u");
    for (const char* name :
         {"user-time", "system-time", "voluntary-switches", "involuntary-switches", "resident-bytes",
          "threads", "read-calls", "write-calls", "read-chars", "written-chars", "read-bytes",
          "written-bytes", "pressure-cpu", "pressure-memory", "pressure-io", "gpu-busy", "gpu-memory-busy",
          "gpu-memory-bytes", "gpu-power-share"})
      all.emplace_back(name);
    return all;
  }();
  return names;
}

std::vector<std::string> independent(const std::vector<Profile>& profiles, double threshold) {
  std::set<std::string> present;
  for (const auto& profile : profiles)
    for (const auto& [name, rate] : profile.rates) present.insert(name);
  std::vector<std::string> candidates;
  for (const auto& name : profile_names())
    if (present.erase(name) > 0) candidates.push_back(name);
  candidates.insert(candidates.end(), present.begin(), present.end());

  std::vector<std::string> kept;
  for (const auto& name : candidates) {
    const bool repeats = std::any_of(kept.begin(), kept.end(), [&](const std::string& earlier) {
      return std::abs(correlation(profiles, earlier, name)) > threshold;
    });
    if (!repeats) kept.push_back(name);
  }
  return kept;
}

}  // namespace tandem::measure
