// What can be asked of a server over HTTP, and what is answered. All of it is JSON but /metrics.
//
//   POST   /v1/jobs                {"spec": YAML, "folder": PATH, "file": for messages}   201 {"job": N};
//                                  200 with "repeated": one with this Idempotency-Key is there already;
//   what the spec
//                                  leaves open is chosen for its place.deadline and told in "notes"; 422:
//                                  nothing meets it
//   GET    /v1/jobs                ?state=queued|running|...&limit=N&after=JOB or before=JOB; archived ones
//   too GET    /v1/jobs/{job}          with its spec, attempts and epochs DELETE /v1/jobs/{job} cancels it;
//   409 when it is over GET    /v1/jobs/{job}/explain  why it is where it is, or why it waits GET
//   /v1/jobs/{job}/output   the last 64 KiB of what it printed GET    /v1/jobs/{job}/result   what it came to
//   so far: best trial, hyperparameters, metrics (as `tandem show
//                                  --json -`)
//   GET    /v1/jobs/{job}/trials   its trials; of a training its one task
//   GET    /v1/jobs/{job}/trials/{trial}/log   the last 64 KiB of what a trial printed
//   GET    /v1/nodes, /v1/status
//   GET    /metrics                Prometheus' text format
//
// Who may ask is access.h's; of jobs that are another user's only operators see more than a row without names
// (ownership.h). {job} is a number, or the name of the newest job called so. What changes something runs on the loop's
// thread and is published before it is answered; what only reads does not (read_api.h).
#pragma once

#include <functional>
#include <string>

#include <atomic>

#include "base/catalogue.h"
#include "control/loop.h"
#include "platform/credentials.h"
#include "runtime/local/machine_gpus.h"
#include "server/http/log.h"
#include "server/http/router.h"
#include "store/store.h"

namespace tandem::server {

inline constexpr int kUnmet =
    422;  // what a submission is answered whose deadline nothing is likely enough to meet

struct ApiParts {
  control::Loop& loop;
  store::Store& store;
  std::string run;                 // its id
  std::string world;               // its name
  control::Capabilities can;       // of it
  const local::MachineGpus* gpus;  // null: the world has none that Tandem hands out
  const Catalogue& catalogue;
  Log& log;
  std::function<void()> publish;      // what was changed, for readers
  const std::atomic<bool>& stopping;  // ends what takes long
  unsigned user;                      // the server's own
  // Makes what is needed for jobs of another user, or says why it cannot be (UserError); none: all run as the
  // server's.
  std::function<void(const platform::Credentials&)> take_in;
  bool share_knowledge = false;  // jobs of all learn from jobs of all
};

void add_changes(Router&, const ApiParts&);

}  // namespace tandem::server
