// Which job was made by which submission, so that one that is repeated (its answer was lost, the server was
// killed) is answered with that job and makes no second one.
//
// A client gives each submission a key of its own (the header Idempotency-Key). The journal keeps it with the
// job, and a checksum of what was submitted: the same key with something else is a mistake, and refused. Keys
// are apart by owner, and known for a day of the server's clock; after a restart those of jobs that are not
// archived. Thread-safe.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "event/view.h"

namespace tandem::server {

// What the journal keeps of a key and what was submitted with it; empty where there is no key.
std::string submission_key(const std::string& given, const std::string& spec, const std::string& folder);

class SubmissionKeys {
 public:
  static constexpr Seconds kKept{86400};

  explicit SubmissionKeys(const View&);
  // The job it made; none: there is none, or no key. Throws Refusal (409) where it was used for another spec.
  std::optional<JobId> find(const Owner&, const std::string& key) const;
  void add(const Owner&, const std::string& key, JobId, Seconds now);

 private:
  using Of = std::pair<std::int64_t, std::string>;  // user and what they gave
  struct Made {
    std::string key;
    JobId job = 0;
    Seconds at;
  };
  static Of of(const Owner&, const std::string& key);

  mutable std::mutex mutex_;
  std::map<Of, Made> made_;
  std::deque<std::pair<Seconds, Of>> by_age_;  // oldest first
};

}  // namespace tandem::server
