#include "app/offline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/job_view.h"
#include "app/runs.h"
#include "base/error.h"
#include "control/loop.h"

namespace tandem::app {
namespace {

// Never before what is journalled already, wherever the clock was set to.
Seconds now_after(Seconds last) {
  return std::max(last,
                  Seconds{std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
                              .count()});
}

}  // namespace

std::vector<JobView> cancel_offline(store::Store& store, const std::string& server,
                                    const std::vector<std::string>& jobs) {
  const auto run = find_server(store, server);
  const auto lock = store::RunLock::take(store.run_folder(run.id));
  if (!lock)
    throw UserError(fmt::format("the server '{}' is running: cancel without --offline", run.name));
  const auto journal = store.journal(run.id);
  control::Decider decider(policies_of(run));
  journal->replay([&](control::Entry&& entry) { decider.fold(entry); });
  std::vector<JobId> ids;
  for (const auto& job : jobs) {
    ids.push_back(find_job(decider.view(), job));
    const auto state = decider.view().jobs[static_cast<std::size_t>(ids.back())].state;
    if (state != JobState::running)
      throw UserError(fmt::format("job {} is over: it has {}", ids.back(), name(state)));
  }
  std::vector<control::Entry> entries;
  for (const JobId id : ids)
    entries.push_back(decider.step({now_after(decider.view().now), JobCancelled{id, "cancelled"}}));
  journal->append(entries);
  std::vector<JobView> out;
  for (const JobId id : ids) out.push_back(decider.view().jobs[static_cast<std::size_t>(id)]);
  return out;
}

}  // namespace tandem::app
