#include "tune/works.h"

#include <algorithm>
#include <cmath>

#include "stats/median.h"

namespace tandem::tune {
namespace {

constexpr std::size_t kRemembered = 9;  // epochs a configuration: the median of these is its time
// An epoch beside a busy neighbour takes up to about 1.4 times as long; a shift is more than that.
constexpr double kSurprising = 1.6;
constexpr int kSurprisesToBelieve = 2;
// Before two core counts were seen: most of an epoch runs in parallel.
constexpr double kParallelPrior = 0.8;

// Memory is a limit, not a speed.
bool same_speed(const Resources& a, const Resources& b) {
  return a.cores == b.cores && a.speed == b.speed;
}

}  // namespace

const Work::Sums* Work::find(const Resources& system) const {
  for (const auto& sums : configurations_)
    if (same_speed(sums.system, system)) return &sums;
  return nullptr;
}

bool Work::add(const EpochRecord& record, bool first) {
  const double seconds = std::max(record.working().value, 1e-6);
  bool shifted = false;
  if (const auto* before = find(record.granted)) {
    const double ratio = seconds / stats::median(before->seconds);
    surprises_ = ratio > kSurprising || ratio < 1 / kSurprising ? surprises_ + 1 : 0;
    if (surprises_ >= kSurprisesToBelieve) {
      configurations_.clear();
      surprises_ = 0;
      reused_ = false;
      shifted = true;
    }
  }
  auto* sums = const_cast<Sums*>(find(record.granted));
  if (!sums) {
    configurations_.push_back({record.granted});
    sums = &configurations_.back();
    news_ = true;
  } else if (sums->adopted) {
    *sums = {record.granted};  // what we see ourselves beats what we were told
  }
  sums->seconds.push_back(seconds);
  if (sums->seconds.size() > kRemembered) sums->seconds.erase(sums->seconds.begin());
  ++sums->epochs;
  if (record.energy) {
    // The start-up's share of the energy is taken to be its share of the time.
    const double all = std::max(record.seconds.value, 1e-9);
    sums->joules += record.energy->joules.value * std::min(seconds / all, 1.0);
    ++sums->with_joules;
  }
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

void Work::adopt(const KnownWork& known) {
  const auto* mine = find(reference_);
  const auto theirs = std::find_if(known.measured.begin(), known.measured.end(), [&](const Measured& m) {
    return same_speed(m.system, known.reference) && m.seconds > 0;
  });
  if (!mine || theirs == known.measured.end()) return;
  const double scale = stats::median(mine->seconds) / theirs->seconds;
  for (const auto& measured : known.measured) {
    if (find(measured.system) || measured.seconds <= 0) continue;
    Sums sums{measured.system, {measured.seconds * scale}};
    sums.adopted = true;
    sums.epochs = 1;
    if (measured.joules) {
      sums.joules = *measured.joules * scale;
      sums.with_joules = 1;
    }
    configurations_.push_back(std::move(sums));
  }
  reused_ = true;
  news_ = false;
}

bool Work::measured(const Resources& system) const {
  return find(system) != nullptr;
}

std::int64_t Work::epochs(const Resources& system) const {
  const auto* sums = find(system);
  return sums ? sums->epochs : 0;
}

Cost Work::cost(const Resources& system) const {
  const auto* sums = find(system);
  if (!sums) return {predicted(system), std::nullopt, false};
  Cost cost{stats::median(sums->seconds), std::nullopt, true};
  if (sums->with_joules > 0) cost.joules = sums->joules / static_cast<double>(sums->with_joules);
  return cost;
}

// Least squares of t · speed = parallel / cores + serial over what was measured, neither below 0.
double Work::predicted(const Resources& system) const {
  const double x = 1.0 / system.cores;
  if (configurations_.empty()) return (1 - kParallelPrior + kParallelPrior * x) / system.speed;
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const auto& sums : configurations_) {
    const double at = 1.0 / sums.system.cores, time = stats::median(sums.seconds) * sums.system.speed;
    n += 1, sx += at, sy += time, sxx += at * at, sxy += at * time;
  }
  const double spread = n * sxx - sx * sx;
  double parallel = 0, serial = 0;
  if (spread > 1e-12) {
    parallel = std::max((n * sxy - sx * sy) / spread, 0.0);
    serial = std::max((sy - parallel * sx) / n, 0.0);
    if (serial == 0) parallel = sxy / sxx;
  } else {
    // All at one core count: split it as is usual.
    const double at = sx / n, time = sy / n;
    serial = time * (1 - kParallelPrior) / (1 - kParallelPrior + kParallelPrior * at);
    parallel = (time - serial) / at;
  }
  return std::max(parallel * x + serial, 1e-9) / system.speed;
}

KnownWork Work::profile(const std::string& machine) const {
  KnownWork out{machine, batch_, {reference_.cores, 0, reference_.speed}, {}, {}, {}};
  for (const auto& [name, rate] : rates_) {
    const double n = static_cast<double>(rate.count), mean = rate.sum / n;
    out.rates[name] = mean;
    if (rate.count > 1)
      out.spread[name] = std::sqrt(std::max(rate.squares / n - mean * mean, 0.0) * n / (n - 1));
  }
  if (const auto* sums = find(reference_))
    out.measured.push_back({sums->system, stats::median(sums->seconds), std::nullopt, sums->epochs});
  return out;
}

std::optional<KnownWork> Work::known(const std::string& machine) const {
  if (rates_.empty() || !news_ || !find(reference_)) return std::nullopt;
  auto out = profile(machine);
  out.measured.clear();
  for (const auto& sums : configurations_) {
    Measured measured{sums.system, stats::median(sums.seconds), std::nullopt, sums.epochs};
    if (sums.with_joules > 0) measured.joules = sums.joules / static_cast<double>(sums.with_joules);
    out.measured.push_back(measured);
  }
  return out;
}

}  // namespace tandem::tune
