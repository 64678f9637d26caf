// tandem show RUN
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/job_json.h"
#include "app/job_view.h"
#include "app/results.h"
#include "app/runs.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/printing.h"
#include "control/loop.h"
#include "event/codec.h"
#include "report/result_table.h"
#include "report/server_tables.h"

namespace tandem::cli {
using nlohmann::json;
namespace {

struct ShowOptions {
  std::string run;
  StoreOption store;
  JsonOption json;
  bool journal = false, verify = false;
};

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

int show_job(const JobRun& job, const ShowOptions& options) {
  if (options.verify || options.journal)
    throw UserError("a server's jobs share its journal: ask for the journal of the server's run");
  options.json.write(result_json(job.run, job.view, job.folders));
  if (!options.json.alone())
    print_table([&](bool colour) { return result_table(job.run, job.view, job.folders, true, colour); });
  return kDone;
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  auto options = std::make_shared<ShowOptions>();
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

}  // namespace tandem::cli
