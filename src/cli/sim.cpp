// tandem sim SPEC, tandem sim --trace FILE, tandem sim --replay RUN, tandem sim --calibrate RUN
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/sim_grid.h"
#include "app/sim_json.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "app/output_file.h"
#include "cli/sim_calibrate.h"
#include "cli/sim_replay.h"
#include "cli/sim_trace.h"
#include "report/html.h"
#include "report/sim_page.h"
#include "report/sim_table.h"
#include "report/sim_timeline.h"
#include "spec/parse.h"
#include "spec/parse_sim.h"

namespace tandem::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kSilent = 1;  // s, before progress is shown

// What a simulation is told, be it of a spec or of a trace.
struct CommonOptions {
  std::string report;
  std::optional<std::int64_t> seed;
  unsigned threads = 0;
  bool quiet = false;

  unsigned workers() const {
    return threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
  }
};

struct SpecOptions {
  std::string file, timeline;
  std::vector<std::string> sweep;
  std::int64_t steps = 2;
};

struct SimOptions {
  CommonOptions common;
  SpecOptions spec;
  TraceOptions trace;
  CalibrateOptions calibrate;
  std::string replay;
  StoreOption store;
  JsonOption json;
};

// ---- a spec ----

void write_and_say(const std::string& file, const std::string& text, const char* what, bool say) {
  write_file(file, text);
  if (say) std::cout << fmt::format("{} ({}): {}\n", file, text_bytes(static_cast<Bytes>(text.size())), what);
}

// `--sweep a=1 b=2 SPEC` reads naturally, but the option takes all that follows.
void find_spec_in_sweep(SpecOptions& options) {
  if (!options.file.empty() || options.sweep.empty()) return;
  if (options.sweep.back().find('=') != std::string::npos) return;
  options.file = options.sweep.back();
  options.sweep.pop_back();
}

auto progress(bool quiet) {
  const auto begun = Clock::now();
  return [=](std::size_t done, std::size_t all, const SimRow& row) {
    if (quiet || std::chrono::duration<double>(Clock::now() - begun).count() < kSilent) return;
    std::cerr << fmt::format("tandem: {} of {}: {}: {}\n", done, all, row.cell.label(),
                             row.error.empty() ? number_text(row.result.t_exec) + " s" : "cannot run");
  };
}

GridOptions grid_options(const SpecOptions& options, const CommonOptions& common, std::uint64_t seed) {
  GridOptions out;
  out.seed = seed;
  out.threads = common.workers();
  if (!options.timeline.empty() || !common.report.empty()) out.show_steps = options.steps;
  out.progress = progress(common.quiet);
  return out;
}

int simulate_spec(SpecOptions options, const CommonOptions& common, const JsonOption& as_json) {
  find_spec_in_sweep(options);
  if (options.file.empty()) throw UserError("--sweep is for a spec: tandem sim SPEC --sweep workers=1,2,4");
  require_folder_of(options.timeline, "--timeline");
  auto job = spec::load_sim(options.file, catalogue());
  if (common.seed) job.seed = static_cast<std::uint64_t>(*common.seed);
  const auto cells = cells_of(job, parse_sweep(options.sweep), catalogue());
  const auto rows = run_grid(job.cluster, cells, grid_options(options, common, job.seed));

  as_json.write(sim_json(job, rows));
  const bool say = !as_json.alone();
  if (say) std::cout << sim_table(job, rows) << (options.sweep.empty() ? sim_details(rows) : "");
  if (say && (!options.timeline.empty() || !common.report.empty())) std::cout << "\n";
  if (!options.timeline.empty())
    write_and_say(options.timeline, timeline_json(job, rows),
                  "open it at ui.perfetto.dev or chrome://tracing", say);
  if (!common.report.empty())
    write_and_say(common.report, sim_page(job, rows), "open it in a browser; it needs nothing else", say);
  const bool none =
      std::all_of(rows.begin(), rows.end(), [](const SimRow& row) { return !row.error.empty(); });
  return none ? kAnswerIsNo : kDone;
}

// ---- what is asked for ----

int simulate(SimOptions options) {
  const bool spec = !options.spec.file.empty() || !options.spec.sweep.empty();
  const bool trace = !options.trace.trace.empty(), replay = !options.replay.empty(),
             calibrate = !options.calibrate.run.empty();
  if (spec + trace + replay + calibrate > 1)
    throw UserError("one thing at a time: give a SPEC, --trace, --replay or --calibrate");
  if (replay) return replay_run(options.store, options.replay, options.json);
  if (calibrate) return calibrate_machine(options.store, options.calibrate, options.json);
  require_folder_of(options.common.report, "--report");
  if (trace) {
    options.trace.report = options.common.report;
    options.trace.threads = options.common.workers();
    if (options.common.seed) options.trace.seed = static_cast<std::uint64_t>(*options.common.seed);
    return simulate_trace(options.trace, options.json);
  }
  if (spec) return simulate_spec(options.spec, options.common, options.json);
  throw UserError(
      "what shall be simulated? give a SPEC, --trace FILE, --replay RUN or --calibrate RUN; "
      "tandem sim --help has examples");
}

// ---- the command ----

std::string table_text(const std::vector<ChoiceEntry>& entries) {
  std::string out;
  for (const auto& entry : entries) out += fmt::format("  {:<23} {}\n", entry.name, entry.description);
  return out;
}

std::string help_text() {
  const auto known = catalogue();
  return "  tandem sim examples/sim-kth-alexnet.yaml\n"
         "  tandem sim job.yaml --sweep workers=1,2,4,8 batch=16,32,64\n"
         "  tandem sim job.yaml --timeline steps.json --report page.html --json result.json\n"
         "  tandem sim --trace jobs.swf --cluster kth --policy fifo,shortest\n"
         "  tandem sim --replay last               how well a run of yours is predicted\n"
         "\nT_exec = T_comp + T_comm + T_io, of an average worker; T_mem is part of T_comp. Speed-up is "
         "against\n"
         "one device of the same type with strategy default doing the same samples; it is simulated too. A "
         "row\n"
         "that cannot run says why; when none can, the exit code is 3. More in docs/simulate.md.\n"
         "\nA spec:\n" +
         spec::example_sim() + "\nIts keys:\n" + spec::describe_sim() + "\nStrategies:\n" +
         table_text(known.strategies) + "\nModels:\n" + table_text(known.zoo);
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  command
      .add_option("--report", options.report, "write a page with charts, of utilisation and power over time")
      ->type_name("FILE");
  command.add_option("--threads", options.threads, "simulations at a time (default: one a core)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  command.add_option("--seed", options.seed, "seed of everything random (wins over the spec's)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command.add_flag("-q,--quiet", options.quiet, "no progress on standard error");
}

void add_spec_options(CLI::App& command, SpecOptions& options) {
  const char* group = "A spec";
  command.add_option("SPEC", options.file, "a YAML file with kind: sim");
  command
      .add_option("--sweep", options.sweep,
                  "keys of the workloads with the values to try: one row for each combination")
      ->type_name("KEY=A,B,...")
      ->group(group);
  command.add_option("--timeline", options.timeline, "write the first steps as a trace for Perfetto")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--steps", options.steps, "steps of each row in the timeline and the page's charts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->group(group);
}

void add_run_options(CLI::App& command, SimOptions& options) {
  const char* group = "A run of yours";
  command
      .add_option("--replay", options.replay, "predict the epochs of a run that is over, and print the error")
      ->type_name("RUN")
      ->group(group);
  command
      .add_option("--calibrate", options.calibrate.run,
                  "describe this machine for simulations by a run made on it")
      ->type_name("RUN")
      ->group(group);
  command.add_option("-o,--output", options.calibrate.output, "the spec that --calibrate writes")
      ->type_name("FILE")
      ->group(group);
  options.store.add_to(command);
}

// Nothing that was asked for is silently left out.
void refuse_what_does_not_go_together(CLI::App& command) {
  for (const char* other : {"--trace", "--replay", "--calibrate"})
    for (const char* own : {"--sweep", "--timeline", "--steps"})
      command.get_option(own)->excludes(command.get_option(other));
  for (const char* other : {"--replay", "--calibrate"})
    for (const char* common : {"--report", "--threads", "--seed"})
      command.get_option(common)->excludes(command.get_option(other));
  command.get_option("--output")->needs(command.get_option("--calibrate"));
  auto* trace = command.get_option("--trace");
  for (auto* option : command.get_options())
    if (option != trace && option->get_group() == trace->get_group()) option->needs(trace);
}

}  // namespace

void add_sim(CLI::App& app, Action& action) {
  auto options = std::make_shared<SimOptions>();
  CLI::App* command = add_command(
      app, "sim", "Simulate training on a cluster: time, traffic and energy before anything is spent",
      help_text());
  options->json.add_to(*command);
  add_common_options(*command, options->common);
  add_spec_options(*command, options->spec);
  add_trace_options(*command, options->trace);
  add_run_options(*command, *options);
  refuse_what_does_not_go_together(*command);
  command->callback([options, &action] { action = [options] { return simulate(*options); }; });
}

}  // namespace tandem::cli
