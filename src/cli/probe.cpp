// tandem probe: short computations of known work on every machine type of a server, so that it knows what
// they take there before jobs that look alike come (HEATS' probing).
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "cli/server_client.h"

namespace tandem::cli {
namespace {

using nlohmann::json;

// A computation whose time is its work times what a unit of it takes. A new row is a new family.
struct ProbeRow {
  const char* family;  // what jobs name in place.family
  std::vector<std::string> command;
  const char* work;  // the option that says how much
  std::vector<int> amounts;
};
const std::vector<ProbeRow>& probes() {
  static const std::vector<ProbeRow> table = {
      {"kmeans", {"kmeans", "--points", "20000", "--dimensions", "8"}, "--iterations", {200, 400, 800}},
      {"matrix", {"matrix", "--size", "256"}, "--products", {50, 100, 200}},
      {"jacobi", {"jacobi", "--size", "512"}, "--iterations", {500, 1000, 2000}},
  };
  return table;
}

struct ProbeOptions {
  ServerOption server;
  JsonOption json;
  int rounds = 1;
};

std::string spec_of(const ProbeRow& row, int amount, const std::string& type) {
  json command{(own_folder() / "tandem-kernel").string()};
  for (const auto& part : row.command) command.push_back(part);
  command.push_back(row.work), command.push_back(std::to_string(amount));
  return fmt::format(
      "kind: train\nname: probe-{0}\nprogram: {{command: {1}, plain: true}}\n"
      "place: {{family: {0}, work: {2}, labels: [{3}]}}\n",
      row.family, command.dump(), amount, json(type).dump());
}

int probe(const ProbeOptions& options) {
  ServerClient client(options.server);
  std::set<std::string> types;
  const json nodes = client.ask("GET", "/v1/nodes");
  for (const auto& node : nodes["nodes"]) types.insert(word(node["type"]));
  struct Asked {
    std::string type;
    const ProbeRow* row;
    int amount, job;
  };
  std::vector<Asked> asked;
  for (int round = 0; round < options.rounds; ++round)
    for (const auto& type : types)
      for (const auto& row : probes())
        for (const int amount : row.amounts)
          asked.push_back({type, &row, amount,
                           client.submit(spec_of(row, amount, type), "/", "probe")["job"].get<int>()});
  if (!options.json.alone())
    std::cout << fmt::format("{} probing tasks on {} machine types\n", asked.size(), types.size())
              << std::flush;
  std::vector<std::vector<std::string>> rows{{"MACHINES", "FAMILY", "WORK", "TIME", "ENERGY"}};
  json results = json::array();
  for (const auto& one : asked) {
    const json job = client.wait_for(one.job);
    if (word(job["state"]) != "finished")
      throw UserError(fmt::format("probing task {} on {} has {}: {}", one.job, one.type, word(job["state"]),
                                  word(job["reason"])));
    const double seconds = job["ended"].get<double>() - job["started"].get<double>();
    const json joules = job["energy"].is_object() ? job["energy"]["joules"] : json(nullptr);
    results.push_back({{"type", one.type},
                       {"family", one.row->family},
                       {"work", one.amount},
                       {"seconds", seconds},
                       {"joules", joules}});
    rows.push_back({one.type, one.row->family, std::to_string(one.amount), text(Seconds{seconds}),
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
