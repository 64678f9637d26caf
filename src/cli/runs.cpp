// tandem runs, tandem rm RUN...
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/run_list.h"
#include "app/runs.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "report/run_tables.h"

namespace tandem::cli {
using nlohmann::json;
namespace {

struct RunsOptions {
  std::string older;
  std::vector<std::string> runs;
  RunFilter filter;
  std::size_t last = 20;
  StoreOption store;
  JsonOption json;
  bool quiet = false, all = false, yes = false;
};

void add_filter(CLI::App& command, RunsOptions& options) {
  command.add_option("--state", options.filter.state, "those that are running, finished, stopped, failed, ...");
  command.add_option("--name", options.filter.name, "those of this name");
  command.add_option("--kind", options.filter.kind, "those of this kind: train, tune, ...");
  command.add_option("--tag", options.filter.tag, "those with this tag (tandem label)");
  command.add_option("--older", options.older, "those begun at least so long ago: 30d, 12h")->type_name("TIME");
}

std::vector<ListedRun> filtered(store::Store& store, RunsOptions options) {
  if (!options.older.empty()) {
    options.filter.older = parse_seconds(options.older);
    if (!options.filter.older)
      throw UserError("--older must be a time such as 30d or 12h, not '" + printable_line(options.older, 60) + "'");
  }
  return find_runs(store, options.filter, Seconds{static_cast<double>(std::time(nullptr))});
}

int list_runs(store::Store& store, const RunsOptions& options) {
  auto runs = filtered(store, options);
  const auto found = runs.size();
  const bool cut = !options.all && !options.quiet && !options.json.wanted() && found > options.last;
  if (cut) runs.resize(options.last);
  auto rows = json::array();
  for (const auto& listed : runs)
    rows.push_back(options.quiet ? json{{"id", listed.run.id}} : listed_json(store, listed));
  options.json.write({{"runs", rows}});
  if (options.json.alone()) return kDone;
  if (options.quiet) {
    for (const auto& listed : runs) std::cout << listed.run.id << "\n";
  } else if (runs.empty()) {
    std::cout << (options.filter.any() || !options.older.empty()
                      ? "No such runs in " + store.folder().string() + ".\n"
                      : "No runs in " + store.folder().string() +
                            " yet; `tandem train examples/lenet-digits.yaml` makes one.\n");
  } else {
    std::cout << runs_table(rows);
    if (cut) std::cout << "... and " << counted(found - runs.size(), "older run") << ": --all\n";
  }
  return kDone;
}

bool confirmed(const std::string& question) {
  if (!::isatty(STDIN_FILENO)) throw UserError("not removed: nobody to ask; add --yes");
  std::cerr << question << " [y/N] ";
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// Named one by one, or all that a filter finds; none twice.
std::vector<store::RunInfo> runs_to_remove(store::Store& store, const RunsOptions& options) {
  const bool by_filter = options.filter.any() || !options.older.empty();
  if (options.runs.empty() == !by_filter)
    throw UserError("say which: RUNs, or one or more of --state, --name, --kind, --tag, --older");
  std::vector<store::RunInfo> out;
  if (by_filter)
    for (auto& listed : filtered(store, options)) out.push_back(std::move(listed.run));
  for (const auto& written : options.runs) {
    auto run = with_real_state(store, store.find(written));
    const bool twice = std::any_of(out.begin(), out.end(), [&](const auto& other) { return other.id == run.id; });
    if (!twice) out.push_back(std::move(run));
  }
  return out;
}

int remove_runs(store::Store& store, const RunsOptions& options) {
  const auto runs = runs_to_remove(store, options);
  std::uintmax_t bytes = 0;
  std::string list;
  for (const auto& run : runs) {
    if (store::RunLock::owner(store.run_folder(run.id)))  // before any of them is gone
      throw UserError("run " + run.id + " is at work; `tandem stop " + run.id + "` first; nothing was removed");
    bytes += bytes_of(store, run);
    list += fmt::format("  {}  {}  {}\n", run.id, printable_line(run.name, 60), run.state);
  }
  if (runs.empty()) std::cerr << "No such runs.\n";
  auto removed = json::array();
  if (!runs.empty() && !options.yes &&
      !confirmed(fmt::format("{}Remove {} and {} files ({})?", list,
                             runs.size() == 1 ? "this run" : fmt::format("these {} runs", runs.size()),
                             runs.size() == 1 ? "its" : "their", text_bytes(static_cast<Bytes>(bytes))))) {
    std::cerr << "Kept.\n";
    for (const auto& run : runs) removed.push_back({{"run", run.id}, {"removed", false}});
  } else {
    for (const auto& run : runs) {
      removed.push_back(remove_run(store, run));
      if (!options.json.alone()) std::cout << removed_text(removed.back());
    }
  }
  options.json.write(removed.size() == 1 ? removed.front() : json{{"runs", removed}});
  return kDone;
}

}  // namespace

void add_runs(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunsOptions>();
  CLI::App* command =
      add_command(app, "runs", "List the runs, newest first: what each reached, its time and energy",
                  "  tandem runs\n  tandem runs --state failed --older 7d\n"
                  "  tandem runs --tag paper --json - | jq '.runs[].score'\n\n"
                  "States: running; finished; stopped (a person or a limit ended it; `tandem resume`);\n"
                  "interrupted (its Tandem is gone; `tandem resume`); failed.");
  options->store.add_to(*command);
  options->json.add_to(*command);
  add_filter(*command, *options);
  command->add_flag("-q,--quiet", options->quiet, "only the ids, for scripts and completion");
  command->add_option("--last", options->last, "how many are listed")->capture_default_str();
  command->add_flag("-a,--all", options->all, "however many there are; so with -q and --json");
  command->callback([options, &action] {
    action = [options] {
      auto store = options->store.open();
      return list_runs(store, *options);
    };
  });
}

void add_rm(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunsOptions>();
  CLI::App* command = add_command(app, "rm", "Remove runs with their files, asking first",
                                  "  tandem rm 20261115-043000-7f3a\n  tandem rm last --yes\n"
                                  "  tandem rm --state failed --older 30d");
  command->add_option("RUN", options->runs, "ids, their beginnings, names, or 'last'");
  add_filter(*command, *options);
  options->store.add_to(*command);
  options->json.add_to(*command);
  command->add_flag("-y,--yes", options->yes, "do not ask");
  command->callback([options, &action] {
    action = [options] {
      auto store = options->store.open();
      return remove_runs(store, *options);
    };
  });
}

}  // namespace tandem::cli
