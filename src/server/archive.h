// Jobs that ended long ago leave the scheduler's memory for the store: when, and what is kept of them there.
// Pure but for what Archivist does.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "control/loop.h"
#include "server/published.h"
#include "store/store.h"

namespace tandem::server {

// Why a job is where it is: {"explanation": ..., "explains": ...}; null where it never asked to run.
nlohmann::json explained(const Published&, const JobView&);

// Jobs that ended at `until` or before and have nothing running: `most` at most. Where these are all: `next`
// is when the first of the others had ended.
std::vector<JobId> ended_until(const View&, Seconds until, std::size_t most, std::optional<Seconds>& next);

// As it is kept: a row as the list of jobs has it, and all of it with its explanation.
store::ArchivedJob archived_job(const Published&, const JobView&);

class Archivist {
 public:
  static constexpr std::size_t kAtOnce = 1000;  // so that others need not wait long

  // `after` its end a job is archived; none: never.
  Archivist(store::Store& store, std::string run, std::optional<Seconds> after)
      : store_(store), run_(std::move(run)), after_(after) {}
  // Some of those that are due; true: it did something. Quick when there is nothing to do. On the loop's
  // thread.
  bool work(control::Loop&, const std::shared_ptr<const place::SchedulerKnowledge>&);

 private:
  store::Store& store_;
  const std::string run_;
  const std::optional<Seconds> after_;
  Seconds look_again_{};
};

}  // namespace tandem::server
