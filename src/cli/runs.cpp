// tandem runs, tandem show RUN, tandem rm RUN
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/job_json.h"
#include "app/job_view.h"
#include "app/results.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/printing.h"
#include "cli/server_client.h"
#include "cli/session.h"
#include "control/loop.h"
#include "event/codec.h"
#include "report/result_table.h"
#include "report/server_tables.h"
#include "runtime/local/leftovers.h"
#include "server/daemon.h"

namespace tandem::cli {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

std::string when(Seconds at) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(static_cast<std::time_t>(at.value)));
}

int list_runs(store::Store& store, const JsonOption& target, bool quiet) {
  auto rows = json::array();
  std::vector<std::vector<std::string>> table{{"RUN", "KIND", "NAME", "STATE", "STARTED"}};
  std::string ids;
  for (auto& run : store.runs()) {
    run = with_real_state(store, run);
    rows.push_back({{"id", run.id},
                    {"kind", run.kind},
                    {"name", run.name},
                    {"state", run.state},
                    {"reason", run.reason},
                    {"created", run.created.value},
                    {"changed", run.changed.value},
                    {"folder", store.run_folder(run.id).string()}});
    table.push_back({run.id, run.kind, run.name, run.state, when(run.created)});
    ids += run.id + "\n";
  }
  const std::string none = fmt::format("No runs in {} yet; `{} train examples/lenet-digits.yaml` makes one.\n",
                                       store.folder().string(), own_command());
  target.answer({{"runs", rows}}, quiet ? ids : rows.empty() ? none : columns(table));
  return kDone;
}

// One JSON object a line: an event with the decisions it led to.
void print_journal(store::Store& store, const store::RunInfo& run) {
  store.journal(run.id)->replay([](control::Entry&& entry) {
    auto decisions = json::array();
    for (const auto& decision : entry.decisions) decisions.push_back(to_json(decision));
    const json line{{"number", entry.number}, {"event", to_json(entry.event)}, {"decisions", decisions}};
    std::cout << line.dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
  });
}

int verify(store::Store& store, const store::RunInfo& run, const JsonOption& target) {
  auto journal = store.journal(run.id);
  std::int64_t entries = 0;
  journal->replay([&](control::Entry&&) { ++entries; });
  const auto different = control::first_difference(policies_of(run), *journal);
  const auto old = store.without_checksum(run.id);
  target.write({{"run", run.id},
                {"entries", entries},
                {"same", !different},
                {"first_difference", different ? json(*different) : json(nullptr)},
                {"without_checksum", old}});
  if (different)
    target.say(fmt::format("run {}: entry {} of {}: the policies of this binary decide differently\n", run.id,
                           *different, entries));
  else
    target.say(fmt::format("run {}: {} entries replayed, every decision the same\n", run.id, entries));
  if (!different && old) target.say(fmt::format("{} of them have no checksum: an earlier Tandem wrote them\n", old));
  return different ? kAnswerIsNo : kDone;
}

// The jobs of a server, as its journal tells them: also when it is not running.
int show_server(store::Store& store, const store::RunInfo& run, const JsonOption& target) {
  const View view = replayed(store, run);
  auto jobs = json::array();
  for (const auto& job : view.jobs) jobs.push_back(app::job_json(view, job));
  const auto spec = parse_json(run.spec);
  target.write({{"run", run.id}, {"name", run.name}, {"state", run.state}, {"server", spec}, {"jobs", jobs}});
  if (target.alone()) return kDone;
  std::cout << fmt::format("Server '{}' is {}: world {}, policy {}, {} (run {})\n", run.name, run.state,
                           spec.value("world", "?"), spec.value("policy", "?"),
                           counted(view.jobs.size(), "job"), run.id)
            << past_jobs_table(jobs);
  return kDone;
}

std::uintmax_t size_of(const fs::path& folder) {
  std::uintmax_t sum = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied))
    if (entry.is_regular_file()) sum += entry.file_size();
  return sum;
}

bool confirmed(const std::string& question) {
  if (!::isatty(STDIN_FILENO)) throw UserError("not removed: nobody to ask; add --yes");
  std::cerr << question << " [y/N] ";
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int remove_run(store::Store& store, const store::RunInfo& run, bool yes, const JsonOption& target) {
  const auto folder = store.run_folder(run.id);
  std::optional<store::RunLock> lock;
  if (fs::exists(folder)) {
    lock = store::RunLock::take(folder);
    if (!lock) throw UserError("run " + run.id + " is at work; `tandem stop " + run.id + "` first");
  }
  const auto bytes = fs::exists(folder) ? size_of(folder) : 0;
  if (!yes && !confirmed(fmt::format("Remove run {} ({}, {}) and its files ({})?", run.id, run.name,
                                     run.state, text_bytes(static_cast<Bytes>(bytes))))) {
    std::cerr << "Kept.\n";
    target.write({{"run", run.id}, {"removed", false}});
    return kDone;
  }
  const auto reaped = local::reap_leftovers(folder);
  if (!reaped.alive.empty())
    throw SystemError(fmt::format("run {} is kept: {} of its processes are alive and cannot be ended ({})",
                                  run.id, reaped.alive.size(), fmt::join(reaped.alive, " ")));
  store.remove(run.id);
  target.write({{"run", run.id},
                {"removed", true},
                {"ended", {{"processes", reaped.processes}, {"cgroups", reaped.cgroups}}}});
  if (target.alone()) return kDone;
  std::cout << "Removed " << run.id << (reaped.any() ? "; ended what it left: " + text(reaped) : "") << ".\n";
  return kDone;
}

struct RunsOptions {
  std::string run;
  StoreOption store;
  JsonOption json;
  bool quiet = false, journal = false, verify = false, yes = false;
};

int show_job(const JobRun& job, const RunsOptions& options) {
  if (options.verify || options.journal)
    throw UserError("a server's jobs share its journal: ask for the journal of the server's run");
  options.json.write(result_json(job.run, job.view, job.folders));
  if (!options.json.alone())
    print_table([&](bool colour) { return result_table(job.run, job.view, job.folders, true, colour); });
  return kDone;
}

}  // namespace

void add_runs(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunsOptions>();
  CLI::App* command =
      add_command(app, "runs", "List the runs, newest first", "  tandem runs\n  tandem runs --json -");
  options->store.add_to(*command);
  options->json.add_to(*command);
  command->add_flag("-q,--quiet", options->quiet, "only the ids, for scripts and completion");
  command->callback([options, &action] {
    action = [options] {
      auto store = options->store.open();
      return list_runs(store, options->json, options->quiet);
    };
  });
}

void add_show(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunsOptions>();
  CLI::App* command =
      add_command(app, "show", "Show what a run did: metrics, time and energy by epoch",
                  "  tandem show last\n  tandem show last --json - | jq .metrics\n"
                  "  tandem show main/12             job 12 of the server 'main'\n"
                  "  tandem show last --journal      every event and decision, one JSON line each\n"
                  "  tandem show last --verify       replay it: does this binary decide the same?");
  command->add_option("RUN", options->run, "id, its beginning, a name, 'last', or SERVER/JOB")->required();
  options->store.add_to(*command);
  options->json.add_to(*command);
  command->add_flag("--journal", options->journal, "print the journal, one JSON object a line")->excludes("--json");
  command->add_flag("--verify", options->verify, "replay the journal's events and compare the decisions");
  command->callback([options, &action] {
    action = [options]() -> int {
      auto store = options->store.open();
      if (options->run.find('/') != std::string::npos)
        return show_job(find_job_run(store, options->run), *options);
      const auto run = with_real_state(store, store.find(options->run));
      if (options->verify) return verify(store, run, options->json);
      if (options->journal) {
        print_journal(store, run);
        return kDone;
      }
      if (is_server(run)) return show_server(store, run, options->json);
      return show_job(whole_run(run, replayed(store, run), store.run_folder(run.id)), *options);
    };
  });
}

void add_rm(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunsOptions>();
  CLI::App* command = add_command(app, "rm", "Remove a run with its files, asking first",
                                  "  tandem rm 20261115-043000-7f3a\n  tandem rm last --yes");
  command->add_option("RUN", options->run, "id, its beginning, a name, or 'last'")->required();
  options->store.add_to(*command);
  options->json.add_to(*command);
  command->add_flag("-y,--yes", options->yes, "do not ask");
  command->callback([options, &action] {
    action = [options] {
      auto store = options->store.open();
      return remove_run(store, with_real_state(store, store.find(options->run)), options->yes, options->json);
    };
  });
}

}  // namespace tandem::cli
