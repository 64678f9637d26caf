#include "sim/workload/run_samples.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace tandem::sim {
namespace {

// Beyond this, counting in doubles would not be exact.
constexpr double kMost = 9e15;

[[noreturn]] void complain_of_samples(const spec::Workload& workload, const std::string& what) {
  throw UserError(fmt::format("workload '{}': {}", printable(workload.name, 80), what));
}

double total_samples(const spec::Workload& workload) {
  if (workload.iterations > 0)
    return static_cast<double>(workload.iterations) * static_cast<double>(workload.batch);
  if (workload.samples > 0 && workload.epochs > 0)
    return std::round(static_cast<double>(workload.samples) * workload.epochs);
  complain_of_samples(workload, "there is nothing to do: set iterations, or samples and epochs");
}

}  // namespace

std::vector<std::int64_t> divide(std::int64_t samples, std::size_t among) {
  assert(samples >= 0 && among > 0);
  const auto parts = static_cast<std::int64_t>(among);
  std::vector<std::int64_t> out(among, samples / parts);
  for (std::size_t i = 0; i < static_cast<std::size_t>(samples % parts); ++i) ++out[i];
  return out;
}

Steps steps_of(const spec::Workload& workload) {
  if (workload.batch < 1)
    complain_of_samples(workload, fmt::format("a batch of {} samples is none", workload.batch));
  if (workload.workers < 1) complain_of_samples(workload, "it needs at least one worker");
  const double total = total_samples(workload);
  const double full = static_cast<double>(workload.batch) * (workload.strong ? 1.0 : workload.workers);
  if (!(total <= kMost) || !(full <= kMost))
    complain_of_samples(workload, "it has more samples than can be counted");
  if (total < 1) complain_of_samples(workload, "there is nothing to do: samples × epochs is less than one");
  Steps out;
  out.total = static_cast<std::int64_t>(total);
  out.full = static_cast<std::int64_t>(full);
  out.count = (out.total - 1) / out.full + 1;
  out.last = out.total - (out.count - 1) * out.full;
  return out;
}

std::vector<Stretch> stretches(const Steps& steps, bool reads) {
  std::vector<Stretch> out;
  const auto add = [&out](std::int64_t samples, std::int64_t next, std::int64_t count) {
    if (count < 1) return;
    if (!out.empty() && out.back().samples == samples && out.back().next == next)
      out.back().count += count;
    else
      out.push_back({samples, next, count});
  };
  add(steps.full, reads ? steps.full : 0, steps.count - 2);
  if (steps.count > 1) add(steps.full, reads ? steps.last : 0, 1);
  add(steps.last, 0, 1);
  return out;
}

}  // namespace tandem::sim
