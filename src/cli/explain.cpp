// tandem explain
#include "cli/jobs.h"

#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/resources.h"
#include "base/text.h"

namespace tandem::cli {
namespace {

using nlohmann::json;

// "12.3 s ± 8 %": nine of ten earlier predictions were no further off.
std::string expected_time(const json& considered) {
  if (!considered["expected_seconds"].is_number()) return "not known";
  const std::string time = text(Seconds{considered["expected_seconds"].get<double>()});
  return considered["expected_within"].is_number()
             ? fmt::format("{} ± {:.0f} %", time, 100 * considered["expected_within"].get<double>())
             : time;
}

std::string considered(const json& why) {
  std::vector<std::vector<std::string>> rows{{"MACHINES", "NODES UP", "SCORE", "TIME", "ENERGY", ""}};
  for (const auto& c : why["considered"]) {
    const std::string refused = word(c["refused"]);
    rows.push_back(
        {word(c["type"]), fmt::format("{} of {}", c["up"].get<int>(), c["nodes"].get<int>()),
         refused.empty() || refused == "no room now" ? fmt::format("{:.3f}", c["score"].get<double>()) : "-",
         expected_time(c),
         c["expected_joules"].is_number() ? text(Joules{c["expected_joules"].get<double>()}) : "not known",
         refused.empty()          ? word(c["why"]).empty() ? "has room" : word(c["why"])
                  : word(c["why"]).empty() ? refused
                                  : refused + ": " + word(c["why"])});
  }
  return columns(rows);
}

int explain(const JobsOptions& options) {
  ServerClient client(options.server);
  const json answer = client.ask("GET", job_target(options.what.front(), "/explain"));
  options.json.write(answer);
  if (options.json.alone()) return kDone;
  const auto& why = answer["explanation"];
  std::cout << fmt::format("Job {} ({}) is {}{}.\n", answer["job"].get<int>(), word(answer["name"]),
                           word(answer["state"]),
                           answer["node"].is_string() ? ", last on " + word(answer["node"]) : "");
  if (!word(answer["reason"]).empty()) std::cout << "It ended because: " << word(answer["reason"]) << "\n";
  std::cout << fmt::format("Policy {}{}; {}:\n\n", word(why["policy"]),
                           why["energy_weight"].is_number()
                               ? fmt::format(", energy weight {:g}", why["energy_weight"].get<double>())
                               : "",
                           word(answer["explains"]))
            << considered(why) << "\n";
  if (!word(why["verdict"]).empty()) std::cout << "So " << word(why["verdict"]) << ".\n";
  if (why["ahead"].get<int>() > 0)
    std::cout << fmt::format("{} {} tried before it.\n", why["ahead"].get<int>(),
                             why["ahead"].get<int>() == 1 ? "job is" : "jobs are");
  if (why["expected_start"].is_number())
    std::cout << "Expected start: " << clock_time(why["expected_start"]) << " (" << word(why["start_note"])
              << ").\n";
  else if (!word(why["start_note"]).empty())
    std::cout << "When it starts cannot be told: " << word(why["start_note"]) << ".\n";
  return kDone;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto options = std::make_shared<JobsOptions>();
  CLI::App* command =
      add_question(app, action, options, "explain", "Why a job is where it is, or why it waits",
                   "  tandem explain 12\n  tandem explain lenet5-digits --json -", explain);
  command->add_option("job", options->what, "its number, or its name")
      ->required()
      ->expected(1)
      ->type_name("JOB");
}

}  // namespace tandem::cli
