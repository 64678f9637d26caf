// Rows of the list of jobs, as JSON texts. The text of a job that has ended is kept, because it stays what it
// is until the job is resumed: a page of hundreds of them is then put together, not made. Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "event/view.h"

namespace tandem::server {

class JobRows {
 public:
  static constexpr std::size_t kMostKept = 10'000;  // as many as a page can have

  std::string row(const View&, const JobView&);
  std::size_t kept() const;

 private:
  // What says that a job still is as it was when its text was made.
  struct As {
    JobState state;
    std::string reason;
    Seconds finished_at;
    std::size_t tasks;
    Attempt attempt;  // the first task's
    bool operator==(const As&) const = default;
  };
  struct Kept {
    As as;
    std::string text;
  };
  static As as_it_is(const View&, const JobView&);

  mutable std::mutex mutex_;
  std::unordered_map<JobId, Kept> kept_;
};

}  // namespace tandem::server
