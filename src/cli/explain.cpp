// tandem explain
#include "cli/jobs.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "report/server_tables.h"

namespace tandem::cli {
namespace {

using nlohmann::json;

int explain(const JobsOptions& options) {
  ServerClient client(options.server);
  const json answer = client.ask("GET", job_target(options.what.front(), "/explain"));
  options.json.write(answer);
  if (!options.json.alone()) std::cout << explanation_text(answer);
  return kDone;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobsOptions>();
  CLI::App* command =
      add_question(app, action, options, "explain", "Why a job is where it is, or why it waits",
                   "  tandem explain 12\n  tandem explain lenet-digits --json -", explain);
  command->add_option("job", options->what, "its number, or its name")
      ->required()
      ->expected(1)
      ->type_name("JOB");
}

}  // namespace tandem::cli
