#include "app/probing_tasks.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/installation.h"

namespace tandem::app {
using nlohmann::json;
namespace {

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

std::string spec_of(const ProbeRow& row, int amount, const std::string& type) {
  json command{(own_folder() / "tandem-kernel").string()};
  for (const auto& part : row.command) command.push_back(part);
  command.push_back(row.work), command.push_back(std::to_string(amount));
  return fmt::format(
      "kind: train\nname: probe-{0}\nprogram: {{command: {1}, plain: true}}\n"
      "place: {{family: {0}, work: {2}, labels: [{3}]}}\n",
      row.family, command.dump(), amount, json(type).dump());
}

}  // namespace

std::vector<ProbingTask> probing_tasks(const std::set<std::string>& types, int rounds) {
  std::vector<ProbingTask> out;
  for (int round = 0; round < rounds; ++round)
    for (const auto& type : types)
      for (const auto& row : probes())
        for (const int amount : row.amounts) out.push_back({type, row.family, amount, spec_of(row, amount, type)});
  return out;
}

}  // namespace tandem::app
