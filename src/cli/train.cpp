// tandem train SPEC, tandem resume RUN
#include <fmt/format.h>

#include <memory>

#include <iostream>

#include "app/advice.h"
#include "app/predictions.h"
#include "base/error.h"
#include "cli/advice_options.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "report/advice_text.h"
#include "spec/parse.h"

namespace tandem::cli {
namespace {

struct TrainOptions {
  std::string what;
  StoreOption store;
  JsonOption json;
  DataOption data;
  SessionOptions session;
  std::optional<std::int64_t> seed;
  std::string name;
  AdviceOptions advice;  // of `train` alone

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

// What ends with a line on how good the prediction was, on standard error like all that is not the result.
void compare(store::Store& store, const store::RunInfo& run, const View& view) {
  if (const auto prediction = keep_outcome(store, run, view))
    std::cerr << "tandem: " << comparison(*prediction) << "\n";
}

int train(const TrainOptions& options) {
  options.data.apply();
  const bool advised = !options.advice.slo.empty();
  auto session = options.session;
  auto store = options.store.open();
  if (!advised) {
    auto job = spec::load_train(options.what, catalogue());
    if (options.seed) job.seed = spec::given_for("train", "seed", "--seed", *options.seed);
    if (!options.name.empty()) job.name = spec::checked_name(options.name);
    return run_new(store, job, options.json, session);
  }
  const auto spec = load_advised(options.what, catalogue());
  const Advised answer = ask_for_advice(store, spec, options.advice);
  if (!answer.advice.met) {
    options.json.write(advice_json(answer));
    if (!options.json.alone()) std::cout << advice_text(answer, output_width());
    return kAnswerIsNo;
  }
  const auto prediction = predicted(answer.advice.choice, answer.learnt.models, answer.question);
  std::cerr << "tandem: " << advise::text(prediction.setting) << ": " << comparison(prediction) << ", "
            << fmt::format("{:.1f} % to meet {}\n", 100 * prediction.p_meet, text(prediction.slo));
  auto job = chosen_job(spec.choices.base, answer.advice.choice.setting);
  if (options.seed) job.seed = spec::given_for("train", "seed", "--seed", *options.seed);
  if (!options.name.empty()) job.name = spec::checked_name(options.name);
  session.made = [&](const store::RunInfo& run) { keep_prediction(store, run.id, prediction); };
  session.then = [&](const store::RunInfo& run, const View& view) { compare(store, run, view); };
  return run_new(store, job, options.json, session);
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = add_command(
      app, "train", "Train a model on this machine, with its time and energy",
      "  tandem train examples/lenet-digits.yaml\n"
      "  tandem train job.yaml --store runs --seed 7 --json result.json\n"
      "  tandem train choices.yaml --slo 300s     with what `tandem advise` would choose\n\nA spec:\n" +
          spec::example_train() + "\nIts keys:\n" + spec::describe_train());
  command->add_option("SPEC", options->what, "a YAML file with kind: train")->required();
  options->add_to(*command);
  command->add_option("--seed", options->seed, "seed of everything random (wins over the spec's)")
      ->type_name("N");
  command->add_option("--name", options->name, "of the run (wins over the spec's)");
  add_advice_options(*command, options->advice);
  command->callback([options, &action] { action = [options] { return train(*options); }; });
}

void add_resume(CLI::App& app, Action& action) {
  auto options = std::make_shared<TrainOptions>();
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
      auto session = options->session;
      session.then = [&](const store::RunInfo& run, const View& view) { compare(store, run, view); };
      return run_again(store, find_own_run(store, options->what), options->json, session);
    };
  });
}

}  // namespace tandem::cli
