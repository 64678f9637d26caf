// tandem tune SPEC
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/recurring.h"
#include "cli/session.h"
#include "search/searcher.h"
#include "spec/parse.h"
#include "tune/outcome.h"
#include "tune/similarity.h"

namespace tandem::cli {
namespace {

struct TuneOptions {
  std::vector<std::string> specs;
  StoreOption store;
  JsonOption json;
  DataOption data;
  SessionOptions session;
  std::optional<std::int64_t> seed, trials;
  std::string name, mode = "pipelined", similarity = "nearest";
  std::optional<int> cores;
  bool warm = false, recurring = false;
  std::int64_t repetitions = 2;
  std::vector<std::string> kept;
};

std::string algorithms_text() {
  std::string out;
  for (const auto& entry : search::algorithms())
    out += fmt::format("  {:<20} {}\n", entry.name, entry.description);
  return out;
}

spec::TuneJob tune_job_from(const TuneOptions& options, const std::string& file) {
  using spec::given_for;
  auto job = spec::load_tune(file, catalogue());
  if (options.seed) job.search.seed = job.base.seed = given_for("tune", "search.seed", "--seed", *options.seed);
  if (options.trials) job.search.trials = given_for("tune", "search.trials", "--trials", *options.trials);
  if (!options.name.empty()) job.base.name = spec::checked_name(options.name);
  job.mode = *spec::mode_from(options.mode);
  if (options.cores && job.mode != spec::Mode::hyper)
    throw UserError(
        "--cores goes with --mode hyper; in the other modes system.cores of the spec says what may be used");
  if (options.cores) job.hyper_cores = given_for("train", "system.cores", "--cores", *options.cores);
  job.similarity = options.similarity;
  return options.warm ? tune::warming(job, this_machine(), options.repetitions) : job;
}

int run_all(const TuneOptions& options) {
  options.data.apply();
  auto store = options.store.open();
  if (options.specs.size() > 1 && options.json.wanted()) throw UserError("--json is for one spec at a time");
  std::vector<spec::TuneJob> jobs;  // all are read before the first is run
  for (const auto& file : options.specs) jobs.push_back(tune_job_from(options, file));
  int worst = kDone;
  auto session = options.session;
  session.made = kept_files(options.kept, store);
  for (const auto& job : jobs) {
    const int code = options.recurring ? run_recurring(store, job, options.json, session)
                                       : run_new(store, job, options.json, session);
    if (code == kInterrupted) return code;
    worst = std::max(worst, code);
  }
  return worst;
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* command = add_command(
      app, "tune", "Find good hyperparameters, and the cores, memory and speed to train with",
      "  tandem tune examples/tune-lenet-digits.yaml\n"
      "  tandem tune job.yaml --mode hyper --cores 1 --json result.json\n"
      "  tandem tune --warm a.yaml b.yaml       measure beforehand, for later jobs\n"
      "  tandem tune nightly.yaml --recurring   batch size and power limit from earlier nights\n\nA spec:\n" +
          spec::example_tune() + "\nIts keys:\n" + spec::describe_tune() + "\nAlgorithms:\n" +
          algorithms_text() + "\nStates of trials: " + tune::trial_states() + ".\n");
  command->add_option("SPEC", options->specs, "YAML files with kind: tune, one run each")->required();
  options->store.add_to(*command);
  options->json.add_to(*command);
  options->data.add_to(*command);
  command
      ->add_option("--mode", options->mode,
                   "hyper: fixed system parameters; joint: system parameters searched like the others; "
                   "pipelined: system parameters tuned inside the epochs")
      ->check(CLI::IsMember({"hyper", "joint", "pipelined"}))
      ->capture_default_str();
  command->add_option("--cores", options->cores, "cores of each trial, with --mode hyper")->type_name("N");
  command->add_option("--seed", options->seed, "seed of everything random (wins over search.seed)")
      ->type_name("N");
  command->add_option("--trials", options->trials, "configurations to start (wins over search.trials)")
      ->type_name("N");
  command->add_option("--name", options->name, "of the run (wins over the spec's)");
  std::vector<std::string> similarities;
  for (const auto& entry : tune::similarities()) similarities.push_back(entry.name);
  command->add_option("--similarity", options->similarity, "how work of earlier jobs is recognised")
      ->check(CLI::IsMember(similarities))
      ->capture_default_str();
  command->add_flag("--warm", options->warm,
                    "search nothing: measure each batch size in each configuration, for later jobs to reuse");
  command
      ->add_flag(
          "--recurring", options->recurring,
          "one more training of a job that comes again and again (same name): until objective.target, with "
          "the batch size that earlier ones make look cheapest; docs/recurring.md")
      ->excludes("--warm");
  command->add_option("--repetitions", options->repetitions, "with --warm: epochs a configuration")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--keep", options->kept, "copied for the run's programs, to $TANDEM_FOLDER/../kept")
      ->type_name("FILE");
  command->add_flag("-q,--quiet", options->session.quiet, "no progress on standard error");
  command->callback([options, &action] { action = [options] { return run_all(*options); }; });
}

}  // namespace tandem::cli
