// tandem characterize SPEC
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/experiment_join.h"
#include "app/experiment_results.h"
#include "app/results.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/session.h"
#include "report/experiment_export.h"
#include "report/experiment_join_text.h"
#include "report/experiment_table.h"
#include "report/page.h"
#include "report/result_table.h"
#include "spec/parse.h"
#include "stats/design/design.h"
#include "tune/experiment_plan.h"

namespace tandem::cli {
namespace {

struct CharacterizeOptions {
  std::string spec, from;
  std::vector<std::string> join;
  StoreOption store;
  JsonOption json;
  DataOption data;
  SessionOptions session;
  std::optional<std::int64_t> seed, points, replications;
  std::string design, report, folder, time;
  std::vector<std::int64_t> jobs, nodes;
  RunWorld where;
  AnalysisOptions looking;
  bool plan = false;
  bool looks = false;  // one of the options about looking was given
};

void set_levels(spec::Experiment& job, const char* name, const std::vector<std::int64_t>& levels) {
  if (levels.empty()) return;
  auto& all = job.factors.parameters;
  std::erase_if(all, [&](const spec::Parameter& parameter) { return parameter.name == name; });
  spec::Parameter parameter{name, {spec::Domain::Kind::choice, {}}, std::nullopt};
  for (const auto level : levels) parameter.domain.choices.emplace_back(level);
  all.push_back(std::move(parameter));
}

// The command line wins over the spec.
spec::Experiment experiment_from(const CharacterizeOptions& options) {
  auto job = spec::load_characterize(options.spec, catalogue());
  if (options.seed)
    job.seed = job.base.seed = spec::given_for("characterize", "experiment.seed", "--seed", *options.seed);
  if (!options.design.empty()) {
    job.design = options.design;
    if (options.design != "space-filling") job.points.reset();
  }
  if (options.points) job.points = *options.points;
  if (options.replications) job.replications = *options.replications;
  set_levels(job, spec::kJobs, options.jobs);
  set_levels(job, spec::kNodes, options.nodes);
  if (options.where.here()) check_fits_here(job, this_machine().capacity);
  return job;
}

// What is written beside the result: once the run is over, or of one that was.
void write_more(const CharacterizeOptions& options, const store::RunInfo& run, const View& view) {
  if (!options.report.empty()) {
    write_page(options.report, report_page(run, view));
    std::cerr << "tandem: the page is " << options.report << "\n";
  }
  if (!options.folder.empty()) {
    export_traces(options.folder, run, view);
    std::cerr << "tandem: the traces are in " << options.folder << "\n";
  }
}

int show_plan(const spec::Experiment& job, const JsonOption& json) {
  const auto plan = tune::plan_of(job);
  json.write(plan_json(plan));
  if (!json.alone()) std::cout << plan_table(plan);
  return kDone;
}

// Prices and the like may be others than those the run was made with; the run keeps its own.
void look_otherwise(const CharacterizeOptions& options, store::RunInfo& run) {
  if (!options.looks) return;
  auto spec = parse_json(run.spec);
  if (!spec.is_object()) throw SystemError("the spec of run " + run.id + " is damaged in the store");
  spec["looking"] = json_of(options.looking);
  run.spec = spec.dump();
}

int join_runs(const CharacterizeOptions& options, store::Store& store) {
  if (!options.folder.empty())
    throw UserError("--export writes the tables of one run: give it with --from, run by run");
  std::vector<Workload> workloads;
  for (const auto& written : options.join) {
    const auto joined = parse_join(written);
    const auto run = with_real_state(store, find_own_run(store, joined.run));
    workloads.push_back(workload_of(run, replayed(store, run), joined));
  }
  const auto joined = join_workloads(std::move(workloads), options.looking.responses);
  if (!options.report.empty()) {
    write_page(options.report, joined_page(joined));
    std::cerr << "tandem: the page is " << options.report << "\n";
  }
  options.json.write(joined_json(joined));
  if (!options.json.alone()) std::cout << joined_table(joined);
  return kDone;
}

int look_again(const CharacterizeOptions& options, store::Store& store) {
  auto run = with_real_state(store, find_own_run(store, options.from));
  if (!std::holds_alternative<spec::Experiment>(job_of(run)))
    throw UserError(fmt::format("run {} is of kind {}, and --from takes an experiment's", run.id, run.kind));
  look_otherwise(options, run);
  const View view = replayed(store, run);
  write_more(options, run, view);
  options.json.write(result_json(run, view, store.run_folder(run.id)));
  if (!options.json.alone()) std::cout << result_table(run, view, store.run_folder(run.id), false);
  return kDone;
}

int characterize(CharacterizeOptions options) {
  const int asked = !options.spec.empty() + !options.from.empty() + !options.join.empty();
  if (asked != 1)
    throw UserError(asked == 0
                        ? "give a SPEC to run, --from RUN to look at a run again, or --join RUN,RUN,..."
                        : "a SPEC is run, --from and --join look at runs that are over: give one of them");
  if (!options.time.empty()) {
    options.where.time = parse_seconds(options.time);
    if (!options.where.time || options.where.time->value <= 0)
      throw UserError("--time must be a time such as 30min or 2h, not '" + options.time + "'");
  }
  options.data.apply();
  options.session.then = [&](const store::RunInfo& run, const View& view) { write_more(options, run, view); };
  auto store = options.store.open();
  if (!options.join.empty()) return join_runs(options, store);
  if (!options.from.empty()) return look_again(options, store);
  const auto job = experiment_from(options);
  if (options.plan) return show_plan(job, options.json);
  options.session.kept = {{"world", json_of(options.where)}, {"looking", json_of(options.looking)}};
  return run_new(store, job, options.json, options.session);
}

void add_options(CLI::App& command, CharacterizeOptions& options) {
  command.add_option("SPEC", options.spec,
                     "a YAML file with kind: characterize, or a training spec with domains");
  options.store.add_to(command);
  options.json.add_to(command);
  options.data.add_to(command);
  std::vector<std::string> designs;
  for (const auto& entry : stats::designs()) designs.push_back(entry.name);
  command.add_option("--design", options.design, "which points (wins over experiment.design)")
      ->check(CLI::IsMember(designs));
  command.add_option("--points", options.points, "of a space-filling design (wins over experiment.points)")
      ->check(CLI::Range(1, 10'000));
  command
      .add_option("--replications", options.replications, "of each point (wins over experiment.replications)")
      ->check(CLI::Range(1, 1000));
  command
      .add_option("--jobs", options.jobs,
                  "levels of concurrent jobs, such as 1,2 (wins over experiment.jobs)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->type_name("N,...");
  command.add_option("--nodes", options.nodes, "levels of nodes of each job (wins over experiment.nodes)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->type_name("N,...");
  command.add_option("--seed", options.seed, "seed of everything random (wins over experiment.seed)")
      ->type_name("N");
  command.add_flag("--plan", options.plan, "only say which points would be measured");
  command.add_option("--from", options.from, "look at an experiment's run again instead of running one")
      ->type_name("RUN");
  command
      .add_option("--join", options.join,
                  "look at experiments on several workloads together: does the method or the data make the "
                  "difference? A program of your own needs =METHOD/DATASET")
      ->delimiter(',')
      ->type_name("RUN[=METHOD/DATASET],...");
  command.add_option("--report", options.report, "also write the page with plots")->type_name("FILE");
  command
      .add_option("--export", options.folder,
                  "also write runs.csv, epochs.csv and schema.json, for pandas and others")
      ->type_name("DIR");
  const std::string looking = "What is made of it";
  const auto looks = [&](CLI::Option* option) {
    option->group(looking)->each([&](const std::string&) { options.looks = true; });
  };
  looks(
      command.add_option("--response", options.looking.responses, "what to analyse, such as accuracy,joules")
          ->delimiter(',')
          ->type_name("NAME,..."));
  looks(command
            .add_option("--good-enough", options.looking.good_enough,
                        "quality that the threefold objective asks for (default: an accuracy of 0.8)")
            ->type_name("NUMBER"));
  looks(command.add_option("--dollars-per-hour", options.looking.prices.dollars_per_hour, "of an instance")
            ->check(CLI::NonNegativeNumber)
            ->capture_default_str());
  looks(command.add_option("--instance-cores", options.looking.prices.cores, "of an instance")
            ->check(CLI::PositiveNumber)
            ->capture_default_str());
  looks(command.add_option("--dollars-per-gb", options.looking.prices.dollars_per_gb_out, "sent out")
            ->check(CLI::NonNegativeNumber)
            ->capture_default_str());
  command.add_flag("-q,--quiet", options.session.quiet, "no progress on standard error");
  command
      .add_option("--world", options.where.world,
                  "where it runs: local, this machine; slurm, a Slurm cluster")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  const std::string slurm = "Slurm";
  command.add_option("--partition", options.where.partition, "of every job")->group(slurm);
  command.add_option("--account", options.where.account, "of every job")->group(slurm);
  command.add_option("--qos", options.where.qos, "of every job")->group(slurm);
  command.add_option("--constraint", options.where.constraint, "of every job")->group(slurm);
  command.add_option("--time", options.time, "limit of each Slurm job")->type_name("TIME")->group(slurm);
}

}  // namespace

void add_characterize(CLI::App& app, Action& action) {
  auto options = std::make_shared<CharacterizeOptions>();
  std::string designs;
  for (const auto& entry : stats::designs())
    designs += fmt::format("  {:<14} {}\n", entry.name, entry.description);
  CLI::App* command = add_command(
      app, "characterize", "Find out which parameters matter: a designed experiment, and what it says",
      "  tandem characterize examples/characterize-digits.yaml --report out.html\n"
      "  tandem characterize job.yaml --design two-level --replications 3 --jobs 1,2\n"
      "  tandem characterize job.yaml --plan                 only say which points\n"
      "  tandem characterize --from last --export traces/    tables of a run that is over\n"
      "  tandem characterize --join 20260101-1200,20260102-0900    method against dataset\n\nA spec:\n" +
          spec::example_characterize() + "\nIts keys:\n" + spec::describe_characterize() + "\nDesigns:\n" +
          designs);
  add_options(*command, *options);
  command->callback([options, &action] { action = [options] { return characterize(*options); }; });
}

}  // namespace tandem::cli
