#include "tune/workload_class.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/numeric/median.h"
#include "stats/training/speed_up.h"
#include "tune/batches.h"

namespace tandem::tune {
namespace {

constexpr std::size_t kTimesRemembered = 9;  // epochs a configuration: the median of these is its time
// An epoch beside a busy neighbour takes up to about 1.4 times as long; a shift is more than that.
constexpr double kSurprising = 1.6;
constexpr int kSurprisesToBelieve = 3;
constexpr Seconds kHiccup{0.1};  // starting and ending programs delay others by up to this: no surprise

}  // namespace

void WorkloadClass::Sums::add(const EpochRecord& record) {
  const double working = std::max(record.working().value, 1e-6);
  seconds.push_back(working);
  if (seconds.size() > kTimesRemembered) seconds.erase(seconds.begin());
  doubtful = std::min(doubtful, seconds.size() - 1);
  ++epochs;
  const auto used = record.working_energy();
  if (!used) return;
  joules += used->value;
  ++with_joules;
}

std::optional<double> WorkloadClass::Sums::mean_joules() const {
  return with_joules > 0 ? std::optional(joules / static_cast<double>(with_joules)) : std::nullopt;
}

double usual_share(int cores) {
  return 1 - stats::kUsuallyParallel + stats::kUsuallyParallel / cores;
}

const WorkloadClass::Configuration* WorkloadClass::find(const Resources& system) const {
  for (const auto& configuration : configurations_)
    if (same_speed(configuration.system, system)) return &configuration;
  return nullptr;
}

// 1: much longer than all before, -1: much shorter, 0: neither, or nothing to compare it with.
int WorkloadClass::surprise(const Sums& sums, double seconds) const {
  const auto end = sums.seconds.end() - static_cast<std::ptrdiff_t>(sums.doubtful);
  if (end == sums.seconds.begin()) return 0;
  const auto [least, most] = std::minmax_element(sums.seconds.begin(), end);
  const double one = seconds + kHiccup.value;
  return one > kSurprising * (*most + kHiccup.value)  ? 1
         : kSurprising * one < *least + kHiccup.value ? -1
                                                      : 0;
}

// Counts surprises in a row; true when there are so many that the load must have shifted.
bool WorkloadClass::believe(int surprise) {
  longer_ = surprise > 0 ? longer_ + 1 : 0;
  shorter_ = surprise < 0 ? shorter_ + 1 : 0;
  if (surprise == 0)
    for (auto& configuration : configurations_)
      configuration.first.doubtful = configuration.later.doubtful = 0;
  if (std::max(longer_, shorter_) < kSurprisesToBelieve) return false;
  configurations_.clear();
  longer_ = shorter_ = 0;
  reused_ = false;
  return true;
}

bool WorkloadClass::add(const EpochRecord& record, bool first) {
  int surprising = 0;
  bool shifted = false;
  if (const auto* before = find(record.granted)) {
    const auto& alike = first ? before->first : before->later;
    surprising = surprise(alike, std::max(record.working().value, 1e-6));
    if (!alike.seconds.empty()) shifted = believe(surprising);
  }
  auto* configuration = const_cast<Configuration*>(find(record.granted));
  if (!configuration) {
    configurations_.push_back({record.granted, {}, {}});
    configuration = &configurations_.back();
    news_ = true;
  } else if (configuration->adopted && !first) {
    configuration->later = {};  // what we see ourselves beats what we were told
    configuration->adopted = false;
  }
  auto& sums = first ? configuration->first : configuration->later;
  sums.add(record);
  if (surprising != 0 && !shifted) ++sums.doubtful;
  if (const auto found = record.profile.rates.find("resident-bytes"); found != record.profile.rates.end())
    memory_ = std::max(memory_, static_cast<Bytes>(found->second));
  if (first && same_speed(record.granted, reference_))
    for (const auto& [name, value] : record.profile.rates) {
      auto& rate = rates_[name];
      rate.sum += value;
      rate.squares += value * value;
      ++rate.count;
    }
  return shifted;
}

void WorkloadClass::adopt(const KnownWorkload& known) {
  const auto* mine = find(reference_);
  const auto theirs = std::find_if(known.measured.begin(), known.measured.end(), [&](const Measured& m) {
    return same_speed(m.system, known.reference) && m.seconds > 0;
  });
  if (!mine || theirs == known.measured.end() || theirs->seconds < kTelling) return;
  const bool firsts = known.first_seconds > 0 && !mine->first.seconds.empty();
  const double scale = firsts ? stats::median(mine->first.seconds) / known.first_seconds
                              : cost_of(*mine, 1).seconds / theirs->seconds;
  for (const auto& measured : known.measured) {
    if (measured.seconds <= 0) continue;
    auto* here = const_cast<Configuration*>(find(measured.system));
    if (here && !(firsts && here->later.seconds.empty())) continue;
    if (!here) here = &configurations_.emplace_back(Configuration{measured.system, {}, {}});
    here->adopted = true;
    here->later.seconds = {measured.seconds * scale};
    here->later.epochs = 1;
    if (measured.joules) {
      here->later.joules = *measured.joules * scale;
      here->later.with_joules = 1;
    }
  }
  reused_ = true;
  news_ = false;
}

bool WorkloadClass::measured(const Resources& system) const {
  return find(system) != nullptr;
}

std::int64_t WorkloadClass::epochs(const Resources& system) const {
  const auto* configuration = find(system);
  return configuration ? configuration->epochs() : 0;
}

std::optional<double> WorkloadClass::warmth() const {
  std::vector<double> ratios;
  for (const auto& [system, first, later, adopted] : configurations_)
    if (!first.seconds.empty() && !later.seconds.empty() && stats::median(first.seconds) >= kTelling)
      ratios.push_back(std::min(stats::median(later.seconds) / stats::median(first.seconds), 1.0));
  return ratios.empty() ? std::nullopt : std::optional(stats::median(ratios));
}

Cost WorkloadClass::cost_of(const Configuration& configuration, double elsewhere) const {
  const auto& [system, first, later, adopted] = configuration;
  if (!later.seconds.empty()) return {stats::median(later.seconds), later.mean_joules(), true};
  const double share = warmth().value_or(elsewhere);
  Cost cost{share * stats::median(first.seconds), first.mean_joules(), true};
  if (cost.joules) *cost.joules *= share;
  return cost;
}

Cost WorkloadClass::cost(const Resources& system, double elsewhere) const {
  const auto* configuration = find(system);
  if (!configuration) return {predicted(system, elsewhere), std::nullopt, false};
  return cost_of(*configuration, elsewhere);
}

double WorkloadClass::predicted(const Resources& system, double elsewhere) const {
  if (configurations_.empty()) return usual_share(system.cores) / system.speed;
  std::vector<std::pair<int, double>> measured;  // at full speed
  const auto sized_alike = [&](Resources other) {
    other.cores = system.cores, other.speed = system.speed;
    return same_speed(other, system);
  };
  const bool any = std::any_of(configurations_.begin(), configurations_.end(),
                               [&](const Configuration& c) { return sized_alike(c.system); });
  for (const auto& configuration : configurations_)
    if (!any || sized_alike(configuration.system))
      measured.emplace_back(configuration.system.cores,
                            cost_of(configuration, elsewhere).seconds * configuration.system.speed);
  return std::max(stats::fit_speed_up(measured).seconds(system.cores), 1e-9) / system.speed;
}

double WorkloadClass::hoped(const Resources& system, double elsewhere) const {
  std::map<int, double> measured;
  for (const auto& configuration : configurations_) {
    Resources sized = configuration.system;
    sized.cores = system.cores;
    if (same_speed(sized, system))
      measured[configuration.system.cores] = cost_of(configuration, elsewhere).seconds;
  }
  const auto best = std::min_element(measured.begin(), measured.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (best == measured.end() || best->first >= system.cores) return kNone;
  const auto in_vain = std::distance(std::next(best), measured.lower_bound(system.cores));
  return in_vain >= 2 ? kNone : best->second * usual_share(system.cores) / usual_share(best->first);
}

KnownWorkload WorkloadClass::profile(const std::string& machine) const {
  KnownWorkload out{machine, batch_, reference_, {}, {}, {}};
  out.reference.memory = 0;
  for (const auto& [name, rate] : rates_) {
    const double n = static_cast<double>(rate.count), mean = rate.sum / n;
    out.rates[name] = mean;
    if (rate.count > 1)
      out.spread[name] = std::sqrt(std::max(rate.squares / n - mean * mean, 0.0) * n / (n - 1));
  }
  if (const auto* at = find(reference_)) {
    out.measured.push_back({at->system, cost_of(*at, 1).seconds, std::nullopt, at->epochs()});
    if (!at->first.seconds.empty()) out.first_seconds = stats::median(at->first.seconds);
  }
  return out;
}

std::optional<KnownWorkload> WorkloadClass::known(const std::string& machine) const {
  if (rates_.empty() || !news_ || !find(reference_)) return std::nullopt;
  auto out = profile(machine);
  out.measured.clear();
  for (const auto& configuration : configurations_) {
    const Cost cost = cost_of(configuration, 1);
    out.measured.push_back({configuration.system, cost.seconds, cost.joules, configuration.epochs()});
  }
  return out;
}

}  // namespace tandem::tune
