// Runs of a store as a list tells them: what each came to so far, its tags and its note; which of them a
// person means by a filter.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/job_view.h"
#include "store/store.h"

namespace tandem::app {

// Which runs: all that are given must hold.
struct RunFilter {
  std::string state{}, name{}, kind{}, tag{};
  std::optional<Seconds> older{};  // made at least so long ago
  bool any() const { return !state.empty() || !name.empty() || !kind.empty() || !tag.empty() || older; }
};

struct ListedRun {
  store::RunInfo run;  // with its real state
  store::Labels labels;
};

// Newest first.
std::vector<ListedRun> find_runs(store::Store&, const RunFilter&, Seconds now);
// What a list says of it: {score: {metric, value, higher_is_better}, seconds, joules, energy_source,
// energy_complete, progress}; null where nothing is known, and of servers. Kept in the store, so that a list
// of many runs folds a journal only when it has changed.
nlohmann::json summary_of(store::Store&, const store::RunInfo&);
nlohmann::json listed_json(store::Store&, const ListedRun&);

// Runs side by side: {runs: [{…listed, algorithm, mode, seed, trials, epochs, hyper, system, metrics}]}; of a
// tuning run hyper, system and metrics are those of its best trial.
nlohmann::json comparison(store::Store&, const std::vector<JobRun>&);

// How much its files take.
Bytes bytes_of(const store::Store&, const store::RunInfo&);
// Ends what it has left and removes it with its files: {run, removed, ended: {processes, cgroups}, left}.
// UserError while somebody works on it, SystemError when something of it cannot be ended.
nlohmann::json remove_run(store::Store&, const store::RunInfo&);
std::string removed_text(const nlohmann::json& removed);

// UserError for what cannot be one: empty, longer than 60 characters, with spaces, commas or control
// characters.
void require_tag(const std::string&);

}  // namespace tandem::app
