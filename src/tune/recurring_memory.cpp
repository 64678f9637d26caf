// How Recurring learns from attempts, and what it forgets.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "tune/recurring.h"

namespace tandem::tune {
namespace {

// Before anything was seen, runs of one batch size are taken to differ by 15 %, as if three runs had shown
// it.
constexpr double kLuck = 0.15, kLuckWeight = 3;
constexpr double kDrift = 0.005;        // by which a curve may have moved from one attempt to the next
constexpr double kFarOff = 2.5;         // deviations of luck: three runs in a row are no luck any more
constexpr std::size_t kBoundsKept = 4;  // of a batch size's runs that were cut short: the last ones

}  // namespace

void Recurring::learn(const EpochSlice& slice) {
  check(job_, slice);
  costs_.add(slice);
}

void Recurring::learn(const AttemptEnded& end) {
  check(job_, end);
  if (end.ending == Ending::reached && !costs_.best(end.batch))
    throw UserError(
        fmt::format("recurring job: batch size {} reached the target, but no slice of it was "
                    "measured: report slices before the end",
                    end.batch));
  ++attempts_;
  auto& of = arms_[index(end.batch)];
  of.reached += end.ending == Ending::reached;
  of.failed += end.ending == Ending::failed;
  if (end.epochs == 0) return;  // it broke at once: nothing was learned of its epochs
  auto& list = end.ending == Ending::reached ? of.arrived : of.cut_short;
  list.push_back({end.epochs, attempts_});
  if (&list == &of.cut_short && list.size() > kBoundsKept) list.erase(list.begin());
  if (const auto since = changed_since(of)) forget_before(*since);
}

// The attempt with which a batch size began to take far more, or far fewer, epochs than all its runs before:
// three such runs in a row are a job that has changed. One or two are luck.
std::optional<std::int64_t> Recurring::changed_since(const Arm& of) const {
  struct Run {
    Past past;
    bool arrived;
  };
  std::vector<Run> runs;
  for (const auto& past : of.arrived) runs.push_back({past, true});
  for (const auto& past : of.cut_short) runs.push_back({past, false});
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.past.when < b.past.when; });
  if (runs.size() < 3) return std::nullopt;
  const auto recent = runs.end() - 3;
  double mean = 0, count = 0;
  for (auto run = runs.begin(); run != recent; ++run)
    if (run->arrived) mean += run->past.log(), count += 1;
  if (count < 3) return std::nullopt;
  mean /= count;
  const double far = kFarOff * std::sqrt(luck(recent->past.when));
  const bool more = std::all_of(recent, runs.end(), [&](const auto& r) { return r.past.log() > mean + far; });
  const bool fewer =
      std::all_of(recent, runs.end(), [&](const auto& r) { return r.arrived && r.past.log() < mean - far; });
  return more || fewer ? std::optional(recent->past.when) : std::nullopt;
}

// What an epoch costs is still true; how many it takes is to be seen anew.
void Recurring::forget_before(std::int64_t when) {
  const auto older = [&](const Past& past) { return past.when < when; };
  for (auto& of : arms_) {
    std::erase_if(of.arrived, older);
    std::erase_if(of.cut_short, older);
    of.reached = static_cast<std::int64_t>(of.arrived.size());
    of.failed = 0;
  }
}

// Pooled over batch sizes: each has too few runs of its own.
double Recurring::luck(std::int64_t before) const {
  double squares = kLuckWeight * kLuck * kLuck, freedom = kLuckWeight;
  for (const auto& of : arms_) {
    double mean = 0, count = 0;
    for (const auto& past : of.arrived)
      if (past.when < before) mean += past.log(), count += 1;
    if (count == 0) continue;
    mean /= count;
    for (const auto& past : of.arrived)
      if (past.when < before) squares += (past.log() - mean) * (past.log() - mean);
    freedom += count - 1;
    // Stopped later than the others arrived: at least that unlucky.
    for (const auto& past : of.cut_short)
      if (past.when < before && past.log() > mean)
        squares += (past.log() - mean) * (past.log() - mean), freedom += 1;
  }
  return squares / freedom;
}

// What was seen of epochs, with the older ones less sure.
std::vector<Sighting> Recurring::sightings(double luck) const {
  const auto variance = [&](const Past& past) {
    return luck + kDrift * kDrift * static_cast<double>(attempts_ - past.when);
  };
  std::vector<Sighting> out;
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    const auto batch = static_cast<double>(job_.batches[i]);
    double weight = 0, sum = 0;
    for (const auto& past : arms_[i].arrived)
      weight += 1 / variance(past), sum += past.log() / variance(past);
    if (weight > 0) out.push_back({batch, sum / weight, 1 / weight});
    for (const auto& past : arms_[i].cut_short) out.push_back({batch, past.log(), variance(past), true});
  }
  return out;
}

}  // namespace tandem::tune
