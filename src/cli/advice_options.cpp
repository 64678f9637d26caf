#include "cli/advice_options.h"

#include "stats/regression/regression.h"

namespace tandem::cli {

void add_advice_options(CLI::App& command, AdviceOptions& options) {
  CLI::Option* slo_option =
      command.add_option("--slo", options.slo, "the time it may take, from start to end")->type_name("TIME");
  command.add_option("--max", options.max_joules, "the energy it may take")
      ->type_name("ENERGY")
      ->needs(slo_option);
  command.add_option("--running", options.running, "what else runs: auto (look), none, or a number of jobs")
      ->capture_default_str()
      ->needs(slo_option);
  command.add_option("--probability", options.probability, "of meeting the SLO, at least")
      ->capture_default_str()
      ->needs(slo_option);
  std::vector<std::string> names;
  for (const auto& entry : stats::regressions()) names.push_back(entry.name);
  command
      .add_option("--model", options.model,
                  "which regression answers (default: the best on settings it has not seen)")
      ->check(CLI::IsMember(names))
      ->needs(slo_option);
}

}  // namespace tandem::cli
