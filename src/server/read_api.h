// What can be read of a server (api.h has the list): answered from what was published, on threads of their
// own. A GET never runs on the loop's thread, never waits for it, and changes nothing.
//
// Jobs that were archived are read from the store, through connections of the reader's own: what they were
// when they were archived. What they came to (result, trials) takes a fold of the whole journal, two at a
// time at most.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <semaphore>
#include <string>

#include "server/http/metrics.h"
#include "server/http/router.h"
#include "server/published.h"
#include "server/snapshot_keeper.h"
#include "store/store.h"

namespace tandem::server {

struct ReadParts {
  const Publisher& published;
  std::filesystem::path store;  // its folder
  store::RunInfo run;
  std::string world, policy;     // their names
  std::filesystem::path folder;  // the run's: task-N/output.log
  Metrics& metrics;
  Seconds started;
  const SnapshotKeeper& snapshots;
  const std::atomic<bool>& stopping;  // ends what takes long
  unsigned user;                      // the server's own
  bool open_metrics;                  // anybody who can connect may read them
};

void add_reads(Router&, const ReadParts&);

}  // namespace tandem::server
