#include "app/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/kinds.h"
#include "app/results.h"
#include "app/runs.h"
#include "app/tune_results.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "runtime/local/leftovers.h"
#include "tune/outcome.h"

namespace tandem::app {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

json score_json(const std::string& metric, double value, bool higher_is_better) {
  return {{"metric", metric}, {"value", value}, {"higher_is_better", higher_is_better}};
}

json energy_json(const EnergyTotal& energy) {
  return {{"joules", energy.source.empty() ? json(nullptr) : json(energy.joules.value)},
          {"energy_source", energy.source.empty() ? json(nullptr) : json(energy.source)},
          {"energy_complete", energy.complete}};
}

EnergyTotal energy_of_tasks(const View& view) {
  EnergyTotal sum;
  for (const auto& task : view.tasks) {
    const auto energy = energy_of(task);
    sum.joules += energy.joules;
    if (!energy.source.empty()) sum.source = energy.source;
    sum.complete = sum.complete && energy.complete;
  }
  return sum;
}

// Of a view whose first job is the run's.
json summary_of_job(const View& view) {
  if (view.jobs.empty()) return nullptr;
  const auto& job = view.jobs.front();
  json out{{"score", nullptr}, {"seconds", job.active.value}, {"progress", progress_json(view, job)}};
  if (const auto* tuning = job.as<spec::TuneJob>()) {
    const auto found = tune::outcome(view, job.id);
    if (found.best) {
      const auto& goal = tuning->objective.goals.front();
      out["score"] = score_json(goal.metric, found.trials[*found.best].goals.front(), goal.maximise);
    }
    out.update(energy_json(energy_of(found)));
    return out;
  }
  if (view.tasks.size() == 1)
    if (const auto* best = best_epoch(view.tasks.front()))
      if (const auto score = score_of(best->metrics))
        out["score"] = score_json(score->metric, score->value, score->higher_is_better);
  out.update(energy_json(energy_of_tasks(view)));
  return out;
}

bool is_wanted(const RunFilter& filter, const ListedRun& listed, Seconds now) {
  const auto& [run, labels] = listed;
  const auto& tags = labels.tags;
  return (filter.state.empty() || run.state == filter.state) &&
         (filter.name.empty() || run.name == filter.name) &&
         (filter.kind.empty() || run.kind == filter.kind) &&
         (filter.tag.empty() || std::find(tags.begin(), tags.end(), filter.tag) != tags.end()) &&
         (!filter.older || now - run.created >= *filter.older);
}

}  // namespace

std::vector<ListedRun> find_runs(store::Store& store, const RunFilter& filter, Seconds now) {
  const auto labels = store.labels();
  std::vector<ListedRun> out;
  for (auto& run : store.runs()) {
    const auto found = labels.find(run.id);
    ListedRun listed{with_real_state(store, run), found == labels.end() ? store::Labels{} : found->second};
    if (is_wanted(filter, listed, now)) out.push_back(std::move(listed));
  }
  return out;
}

json summary_of(store::Store& store, const store::RunInfo& run) {
  if (is_server(run)) return nullptr;  // its jobs have scores; it has none
  // The store's row tells when a run began or ended, not what happens in between.
  const bool over = run.state != "running" && run.state != "interrupted";
  if (const auto kept = over ? store.summary(run) : std::nullopt)
    if (auto read = parse_json(*kept); !read.is_discarded()) return read;
  auto made = summary_of_job(replayed(store, run));
  if (over) store.keep_summary(run, made.dump(-1, ' ', false, json::error_handler_t::replace));
  return made;
}

json listed_json(store::Store& store, const ListedRun& listed) {
  const auto& [run, labels] = listed;
  json out{{"id", run.id},
           {"kind", run.kind},
           {"name", run.name},
           {"state", run.state},
           {"reason", run.reason},
           {"created", run.created.value},
           {"changed", run.changed.value},
           {"folder", store.run_folder(run.id).string()},
           {"tags", labels.tags},
           {"note", labels.note}};
  try {
    const auto summary = summary_of(store, run);
    if (summary.is_object()) out.update(summary);
  } catch (const std::exception& e) {  // one damaged run must not hide the others
    out["problem"] = e.what();
  }
  return out;
}

json comparison(store::Store& store, const std::vector<JobRun>& runs) {
  const auto labels = store.labels();
  auto rows = json::array();
  for (const auto& [run, view, folders] : runs) {
    auto result = result_json(run, view, folders);
    json row{{"run", run.id}, {"kind", run.kind}, {"name", run.name}, {"state", run.state}};
    const auto found = labels.find(run.id);
    row["tags"] = found == labels.end() ? std::vector<std::string>{} : found->second.tags;
    row["note"] = found == labels.end() ? "" : found->second.note;
    if (const auto summary = summary_of_job(view); summary.is_object()) row.update(summary);
    const json& best = result["best"];
    const bool tuned = best.is_object() && best.contains("hyper");
    for (const char* key : {"hyper", "system", "metrics"})
      row[key] = tuned ? best[key] : best.is_object() && best.contains(key) ? best[key] : result[key];
    for (const char* key : {"algorithm", "mode", "seed", "epochs_total"})
      if (result.contains(key)) row[key] = result[key];
    row["trials"] = result.contains("trials") ? json(result["trials"].size()) : json(nullptr);
    rows.push_back(std::move(row));
  }
  return {{"runs", rows}};
}

Bytes bytes_of(const store::Store& store, const store::RunInfo& run) {
  std::error_code error;
  std::uintmax_t sum = 0;
  const auto each = fs::directory_options::skip_permission_denied;
  for (auto at = fs::recursive_directory_iterator(store.run_folder(run.id), each, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error))
    if (fs::is_regular_file(at->symlink_status())) sum += at->file_size(error);
  return static_cast<Bytes>(sum);
}

json remove_run(store::Store& store, const store::RunInfo& run) {
  const auto folder = store.run_folder(run.id);
  std::optional<store::RunLock> lock;
  if (fs::exists(folder)) {
    lock = store::RunLock::take(folder);
    if (!lock) throw UserError("run " + run.id + " is at work; `tandem stop " + run.id + "` first");
  }
  const auto reaped = local::reap_leftovers(folder);
  if (!reaped.alive.empty())
    throw SystemError(fmt::format("run {} is kept: {} of its processes are alive and cannot be ended ({})",
                                  run.id, reaped.alive.size(), fmt::join(reaped.alive, " ")));
  store.remove(run.id);
  return {{"run", run.id},
          {"removed", true},
          {"ended", {{"processes", reaped.processes}, {"cgroups", reaped.cgroups}}},
          {"left", reaped.any() ? json(local::text(reaped)) : json(nullptr)}};
}

std::string removed_text(const json& removed) {
  const json& left = removed["left"];
  return "Removed " + removed["run"].get<std::string>() +
         (left.is_string() ? "; ended what it left: " + left.get<std::string>() : "") + ".\n";
}

void require_tag(const std::string& tag) {
  constexpr std::size_t kMost = 60;
  const bool odd = tag.find_first_of(" ,\t\n") != std::string::npos || printable_line(tag) != tag;
  if (!tag.empty() && tag.size() <= kMost && !odd) return;
  throw UserError(fmt::format("'{}' cannot be a tag: it needs 1 to {} characters without spaces or commas",
                              printable_line(tag, kMost), kMost));
}

}  // namespace tandem::app
