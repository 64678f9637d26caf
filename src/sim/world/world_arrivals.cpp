#include "sim/world/world_arrivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "base/error.h"

namespace tandem::sim {

spec::TrainJob JobList::one_epoch() {
  spec::TrainJob job;
  job.epochs = 1;
  job.limits.stall.value = std::numeric_limits<double>::infinity();
  return job;
}

JobList::JobList(std::vector<ListedJob> jobs, spec::TrainJob like)
    : jobs_(std::move(jobs)), like_(std::move(like)) {
  for (const auto& job : jobs_)
    if (!(job.at.value >= 0) || !(job.duration.value >= 0))
      throw UserError(fmt::format("a job that comes at {} and takes {}: neither may be below 0", text(job.at),
                                  text(job.duration)));
  std::stable_sort(jobs_.begin(), jobs_.end(),
                   [](const ListedJob& a, const ListedJob& b) { return a.at < b.at; });
}

std::optional<Seconds> JobList::next() const {
  return next_ < jobs_.size() ? std::optional(jobs_[next_].at) : std::nullopt;
}

JobSubmitted JobList::take() {
  assert(next_ < jobs_.size());
  JobSubmitted submitted{static_cast<JobId>(next_), like_};
  spec::base_of(submitted.spec).system = jobs_[next_].wanted;
  ++next_;
  return submitted;
}

std::vector<double> JobList::durations() const {
  std::vector<double> out;
  out.reserve(jobs_.size());
  for (const auto& job : jobs_) out.push_back(job.duration.value);
  return out;
}

}  // namespace tandem::sim
