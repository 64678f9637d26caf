// tandem doctor: what this machine can do, which mechanism is in force for each thing, and why
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/machine_probes.h"
#include "cli/command.h"

namespace tandem::cli {
namespace {

struct DoctorOptions {
  JsonOption json;
  StoreOption store;
  DataOption data;
};

int doctor(const DoctorOptions& options) {
  const auto topology = platform::Topology::detect();
  auto store = options.store.open();
  nlohmann::json gpus;
  const auto all = examine_machine(topology, store, gpus);

  auto rows = nlohmann::json::array();
  std::string table, last;
  for (const auto& probe : all) {
    rows.push_back({{"what", probe.what},
                    {"mechanism", probe.mechanism},
                    {"available", probe.available},
                    {"why", probe.why}});
    table += fmt::format("{:<10} {} {:<16} {}\n", probe.what == last ? "" : probe.what,
                         probe.available ? "+" : "-", probe.mechanism, probe.why);
    last = probe.what;
  }
  options.json.write(
      {{"version", TANDEM_VERSION}, {"memory_bytes", topology.memory}, {"probes", rows}, {"gpus", gpus}});
  if (!options.json.alone())
    std::cout << fmt::format("tandem {} on {} CPUs, {} memory.  + can be used, - cannot, and why\n\n",
                             TANDEM_VERSION, topology.cpus.size(), text_bytes(topology.memory))
              << table;
  return kDone;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command =
      add_command(app, "doctor", "Say what this machine can do, and which mechanism is used for what",
                  "  tandem doctor\n  tandem doctor --json -");
  options->json.add_to(*command);
  options->store.add_to(*command);
  command->callback([options, &action] { action = [options] { return doctor(*options); }; });
}

}  // namespace tandem::cli
