// Jobs that come to a simulated cluster by themselves, as a trace tells. One owner.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "event/event.h"

namespace tandem::sim {

class Arrivals {
 public:
  virtual ~Arrivals() = default;
  virtual std::optional<Seconds> next() const = 0;  // when; none: all have come
  // The next one. Job ids are dense from 0 and rise.
  virtual JobSubmitted take() = 0;
};

// A few words a job, because there may be millions: what each asks for, and how long it takes with that.
struct ListedJob {
  Seconds at{}, duration{};
  Resources wanted{};
};

class JobList final : public Arrivals {
 public:
  // In any order. What is not listed (program, epochs, limits) is as in `like`. UserError where a time is
  // below 0.
  explicit JobList(std::vector<ListedJob> jobs, spec::TrainJob like = one_epoch());

  std::optional<Seconds> next() const override;
  JobSubmitted take() override;

  const std::vector<ListedJob>& jobs() const { return jobs_; }  // by job id
  std::vector<double> durations() const;                        // for FixedPrograms

  static spec::TrainJob one_epoch();  // without a stall limit that would end long jobs

 private:
  std::vector<ListedJob> jobs_;
  spec::TrainJob like_;
  std::size_t next_ = 0;
};

}  // namespace tandem::sim
