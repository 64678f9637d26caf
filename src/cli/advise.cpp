// tandem advise SPEC
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/advice.h"
#include "app/predictions.h"
#include "base/error.h"
#include "cli/advice_options.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "report/advice_text.h"
#include "report/prediction_table.h"

namespace tandem::cli {
namespace {

struct AdviseOptions {
  std::string spec;
  StoreOption store;
  JsonOption json;
  DataOption data;
  AdviceOptions advice;
  bool history = false;
};

int answer_question(const AdviseOptions& options) {
  options.data.apply();
  if (options.spec.empty()) throw UserError("SPEC is missing: a YAML file with domains to choose from");
  const auto spec = load_advised(options.spec, catalogue());
  auto store = options.store.open();
  const auto advised = ask_for_advice(store, spec, options.advice);
  options.json.write(advice_json(advised));
  if (!options.json.alone()) std::cout << advice_text(advised, output_width());
  return advised.advice.met ? kDone : kAnswerIsNo;
}

int history(store::Store& store, const JsonOption& json) {
  const auto predictions = all_predictions(store);
  json.write(predictions_json(predictions));
  if (json.alone()) return kDone;
  if (predictions.empty())
    std::cout << "No predictions yet; `" << own_command() << " train SPEC --slo 300s` makes one.\n";
  else
    std::cout << prediction_table(predictions);
  return kDone;
}

}  // namespace

void add_advise(CLI::App& app, Action& action) {
  auto options = std::make_shared<AdviseOptions>();
  CLI::App* command =
      add_command(app, "advise",
                  "Batch size, cores and epochs that meet a time limit with the best result, from past runs",
                  "  tandem advise job.yaml --slo 300s\n"
                  "  tandem advise job.yaml --slo 10min --max 20kJ --running 2 --json -\n"
                  "  tandem advise --history                predictions against what came of them\n\n"
                  "SPEC is a training spec whose hyper and system hold domains ({choice: [32, 64]}, {int: "
                  "[1, 4]}), or a spec of\n"
                  "kind tune or characterize. Exit code 3: nothing meets it, and the nearest miss is shown. "
                  "docs/advise.md");
  command->add_option("SPEC", options->spec, "a YAML file: what may be chosen");
  options->store.add_to(*command);
  options->json.add_to(*command);
  options->data.add_to(*command);
  add_advice_options(*command, options->advice);
  command->add_flag("--history", options->history, "show predictions of earlier runs and what came of them");
  command->callback([options, &action] {
    action = [options] {
      if (!options->history) return answer_question(*options);
      auto store = options->store.open();
      return history(store, options->json);
    };
  });
}

}  // namespace tandem::cli
