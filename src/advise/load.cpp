#include "advise/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace tandem::advise {
namespace {

void check_job(const LoadedJob& job) {
  if (!(job.left > 0 && job.left <= 1))
    throw UserError(fmt::format("job {} has {} of its work left: a share above 0, at most 1, is needed",
                                job.id, job.left));
  if (!std::isfinite(job.arrives.value))
    throw UserError(fmt::format("job {} arrives in {} s", job.id, job.arrives.value));
}

// Share of the whole job done in a second.
double rate(const LoadedJob& job, const Load& load) {
  const double whole = job.whole(load);
  if (!(whole > 0) || !std::isfinite(whole))
    throw UserError(
        fmt::format("the predicted time of job {} with {} jobs on the machine is {} s: it cannot be", job.id,
                    load.jobs, whole));
  return 1 / whole;
}

struct Course {
  std::span<const LoadedJob> jobs;
  std::vector<double> left;
  std::vector<LoadedEnd> ends;
  double now = 0;

  bool runs(std::size_t i) const { return left[i] > 0 && jobs[i].arrives.value <= now; }

  Load load() const {
    Load out{0, 0};
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (runs(i)) out.jobs += 1, out.cores += jobs[i].cores;
    return out;
  }

  // Everyone who runs sees the load from now on; only changes are kept.
  void note(const Load& load) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      auto& seen = ends[i].seen;
      if (!runs(i) || (!seen.empty() && seen.back().jobs == load.jobs && seen.back().cores == load.cores))
        continue;
      seen.push_back({{now - std::max(jobs[i].arrives.value, 0.0)}, load.jobs, load.cores});
    }
  }

  double next_arrival() const {
    double out = std::numeric_limits<double>::infinity();
    for (const auto& job : jobs)
      if (job.arrives.value > now) out = std::min(out, job.arrives.value);
    return out;
  }

  // To the next end or arrival.
  void advance() {
    const auto current = load();
    note(current);
    std::vector<double> rates(jobs.size(), 0.0);
    double until = next_arrival();
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (!runs(i)) continue;
      rates[i] = rate(jobs[i], current);
      const double end = now + left[i] / rates[i];
      if (end < until) until = end, first = i;
    }
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (runs(i)) left[i] = std::max(left[i] - rates[i] * (until - now), kDone);
    now = until;
    if (first) left[*first] = kDone;  // not almost: it chose the time
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (left[i] <= kDone && rates[i] > 0) left[i] = 0, ends[i].at = {now};
  }

  static constexpr double kDone = 1e-12;  // less of a job than rounding leaves
};

}  // namespace

std::vector<LoadedEnd> ends_under_load(std::span<const LoadedJob> jobs) {
  Course course{jobs, {}, {}};
  for (const auto& job : jobs) {
    check_job(job);
    course.left.push_back(job.left);
    course.ends.push_back({job.id, {0}, {}});
  }
  // Each step ends a job or brings one.
  while (std::any_of(course.left.begin(), course.left.end(), [](double left) { return left > 0; }))
    course.advance();
  return course.ends;
}

std::vector<Threatened> threatened_by(const LoadedJob& joining, std::span<const LoadedJob> running) {
  std::vector<LoadedJob> all(running.begin(), running.end());
  const auto without = ends_under_load(all);
  all.push_back(joining);
  const auto with = ends_under_load(all);
  std::vector<Threatened> out;
  for (std::size_t i = 0; i < running.size(); ++i) {
    const auto& deadline = running[i].deadline;
    if (!deadline || with[i].at <= *deadline) continue;
    out.push_back({running[i].id, *deadline, without[i].at, with[i].at, without[i].at > *deadline});
  }
  return out;
}

}  // namespace tandem::advise
