// tandem probe: short computations of known work on every machine type of a server, so that it knows what
// they take there before jobs that look alike come (HEATS' probing).
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "app/probing_tasks.h"
#include "base/counted.h"
#include "base/error.h"
#include "cli/server_client.h"

namespace tandem::cli {
namespace {

using nlohmann::json;

struct ProbeOptions {
  ServerOption server;
  JsonOption json;
  int rounds = 1;
};

int probe(const ProbeOptions& options) {
  ServerClient client(options.server);
  std::set<std::string> types;
  const json nodes = client.ask("GET", "/v1/nodes");
  for (const auto& node : nodes["nodes"]) types.insert(word(node["type"]));
  const auto asked = probing_tasks(types, options.rounds);
  std::vector<int> numbers;
  for (const auto& one : asked) numbers.push_back(client.submit(one.spec, "/", "probe")["job"].get<int>());
  if (!options.json.alone())
    std::cout << fmt::format("{} on {}\n", counted(asked.size(), "probing task"), counted(types.size(), "machine type"))
              << std::flush;
  std::vector<std::vector<std::string>> rows{{"MACHINES", "FAMILY", "WORK", "TIME", "ENERGY"}};
  json results = json::array();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto& one = asked[i];
    const json job = client.wait_for(numbers[i]);
    if (word(job["state"]) != "finished")
      throw UserError(fmt::format("probing task {} on {} has {}: {}", numbers[i], one.type, word(job["state"]),
                                  word(job["reason"])));
    const double seconds = job["ended"].get<double>() - job["started"].get<double>();
    const json joules = job["energy"].is_object() ? job["energy"]["joules"] : json(nullptr);
    results.push_back({{"type", one.type},
                       {"family", one.family},
                       {"work", one.work},
                       {"seconds", seconds},
                       {"joules", joules}});
    rows.push_back({one.type, one.family, std::to_string(one.work), text(Seconds{seconds}),
                    joules.is_number() ? text(Joules{joules.get<double>()}) : "not known"});
  }
  options.json.write({{"probes", results}});
  if (!options.json.alone()) std::cout << columns(rows);
  return kDone;
}

}  // namespace

void add_probe(CLI::App& app, Action& action) {
  auto options = std::make_shared<ProbeOptions>();
  CLI::App* command =
      add_command(app, "probe", "Measure every machine type of a server with short computations",
                  "  tandem probe\n  tandem probe --rounds 3\n\n"
                  "Jobs that name the same place.family (kmeans, matrix, jacobi) and their place.work are "
                  "predicted from it.");
  options->server.add_to(*command);
  options->json.add_to(*command);
  command->add_option("--rounds", options->rounds, "how often each is measured")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->callback([options, &action] { action = [options] { return probe(*options); }; });
}

}  // namespace tandem::cli
