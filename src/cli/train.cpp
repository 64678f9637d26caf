// tandem train SPEC, tandem resume RUN
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/session.h"
#include "spec/parse.h"

namespace tandem::cli {
namespace {

struct Options {
  std::string what;
  StoreOption store;
  JsonOption json;
  DataOption data;
  SessionOptions session;
  std::optional<std::int64_t> seed;

  void add_to(CLI::App& command) {
    store.add_to(command);
    json.add_to(command);
    data.add_to(command);
    command.add_flag("-q,--quiet", session.quiet, "no progress on standard error");
  }

  // Limits as people write them.
  std::string time, stall, energy;

  void add_raises_to(CLI::App& command) {
    command.add_option("--time", time, "new limits.time, or budget.time of a tuning run")->type_name("TIME");
    command.add_option("--energy", energy, "new budget.energy of a tuning run")->type_name("ENERGY");
    command.add_option("--stall", stall, "new limits.stall")->type_name("TIME");
    command.add_option("--retries", session.retries, "new limits.retries")->check(CLI::Range(0, 1000));
  }
  void apply_raises() {
    const auto seconds = [](const char* option, const std::string& written) -> std::optional<Seconds> {
      if (written.empty()) return std::nullopt;
      if (auto found = parse_seconds(written); found && found->value > 0) return found;
      throw UserError(std::string(option) + " must be a time such as 90s, 10min or 2h, not '" + written +
                      "'");
    };
    session.time = seconds("--time", time);
    session.stall = seconds("--stall", stall);
    if (energy.empty()) return;
    session.energy = parse_joules(energy);
    if (!session.energy || session.energy->value <= 0)
      throw UserError("--energy must be an energy such as 20kJ or 5Wh, not '" + energy + "'");
  }
};

}  // namespace

void add_train(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, "train", "Train a model on this machine, with its time and energy",
                  "  tandem train examples/lenet-digits.yaml\n"
                  "  tandem train job.yaml --store runs --seed 7 --json result.json\n\nA spec:\n" +
                      spec::example_train() + "\nIts keys:\n" + spec::describe_train());
  command->add_option("SPEC", options->what, "a YAML file with kind: train")->required();
  options->add_to(*command);
  command->add_option("--seed", options->seed, "seed of everything random (wins over the spec's)")
      ->type_name("N");
  command->callback([options, &action] {
    action = [options] {
      options->data.apply();
      auto job = spec::load_train(options->what, catalogue());
      if (options->seed) job.seed = *options->seed;
      auto store = options->store.open();
      return run_new(store, job, options->json, options->session);
    };
  });
}

void add_resume(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app, "resume", "Go on with a run that was interrupted, stopped or failed",
      "  tandem resume last\n  tandem resume 20261115-043000-7f3a --time 30min\n\n"
      "No epoch that was reported is lost or repeated. A finished run repeats its result, unless a "
      "limit is raised.");
  command->add_option("RUN", options->what, "id, its beginning, a name, or 'last'")->required();
  options->add_to(*command);
  options->add_raises_to(*command);
  command->callback([options, &action] {
    action = [options] {
      options->data.apply();
      options->apply_raises();
      auto store = options->store.open();
      return run_again(store, find_job_run(store, options->what), options->json, options->session);
    };
  });
}

}  // namespace tandem::cli
