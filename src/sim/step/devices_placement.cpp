#include "sim/step/devices_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace tandem::sim {
namespace {

DeviceSlot slot_at(const Devices& devices, DeviceId id) {
  const Device& device = devices.all()[id];
  return {id, device.node, device.type, &devices.node_type(device.node)};
}

std::string workload_text(const spec::Workload& workload) {
  return fmt::format("workload '{}'", printable(workload.name, 80));
}

void check_speed(const spec::DeviceType& type) {
  if (type.peak_flops() > 0 && type.efficiency > 0) return;
  throw UserError(fmt::format("device '{}' has no speed: give it cores, a clock and an efficiency",
                              printable(type.name, 80)));
}

const spec::DeviceType& type_of_workers(const Devices& devices, const spec::Workload& workload) {
  const spec::Cluster& cluster = devices.cluster();
  if (const spec::DeviceType* type = spec::computes_on(workload, cluster)) return *type;
  std::vector<std::string> known;
  for (const spec::DeviceType& type : cluster.devices) known.push_back(type.name);
  throw UserError(fmt::format("{}: cluster '{}' has no '{}'{}; there are: {}", workload_text(workload),
                              printable(cluster.name, 80), printable(workload.device, 80),
                              did_you_mean(workload.device, known), join(known)));
}

std::vector<DeviceSlot> place_workers(const Devices& devices, const spec::Workload& workload) {
  const spec::DeviceType& type = type_of_workers(devices, workload);
  if (workload.workers < 1)
    throw UserError(fmt::format("{}: it needs at least one worker", workload_text(workload)));
  check_speed(type);
  const auto wanted = static_cast<std::size_t>(workload.workers);
  std::vector<DeviceSlot> workers;
  std::size_t found = 0;
  for (DeviceId id = 0; id < devices.all().size(); ++id) {
    if (devices.all()[id].type != &type) continue;
    if (++found <= wanted) workers.push_back(slot_at(devices, id));
  }
  if (found < wanted)
    throw UserError(fmt::format("{}: {} workers, but cluster '{}' has {} of '{}': use fewer, or add nodes",
                                workload_text(workload), wanted, printable(devices.cluster().name, 80), found,
                                printable(type.name, 80)));
  return workers;
}

std::vector<DeviceSlot> place_chosen(const Devices& devices, const spec::Workload& workload,
                                     const std::vector<DeviceId>& chosen) {
  if (chosen.size() != static_cast<std::size_t>(std::max(workload.workers, 0)))
    throw UserError(fmt::format("{}: {} devices are chosen for {} workers: choose one for each",
                                workload_text(workload), chosen.size(), workload.workers));
  if (workload.threads != 0)
    throw UserError(
        fmt::format("{}: threads are of one type of device, but its devices are chosen one by one; "
                    "give those fewer cores instead",
                    workload_text(workload)));
  std::vector<DeviceSlot> workers;
  for (const DeviceId id : chosen) {
    if (id >= devices.all().size())
      throw UserError(fmt::format("{}: device {} is chosen, but cluster '{}' has only {}",
                                  workload_text(workload), id, printable(devices.cluster().name, 80),
                                  devices.all().size()));
    if (std::count(chosen.begin(), chosen.end(), id) > 1)
      throw UserError(fmt::format("{}: device {} is chosen twice", workload_text(workload), id));
    workers.push_back(slot_at(devices, id));
    check_speed(*workers.back().type);
  }
  return workers;
}

// Processors that may hold variables, those to be used first at the front.
std::vector<DeviceSlot> server_candidates(const Devices& devices, const std::vector<DeviceSlot>& workers,
                                          bool apart) {
  std::vector<bool> with_workers(devices.nodes(), false);
  for (const DeviceSlot& worker : workers) with_workers[worker.node] = true;
  std::vector<DeviceSlot> out;
  for (const bool wanted : {!apart, apart})
    for (std::size_t node = 0; node < devices.nodes(); ++node)
      if (const auto processor = devices.processor(node); processor && with_workers[node] == wanted)
        out.push_back(slot_at(devices, *processor));
  return out;
}

std::vector<DeviceSlot> place_servers(const Devices& devices, const spec::Workload& workload,
                                      const std::vector<DeviceSlot>& workers, int servers, bool apart) {
  if (servers < 1) throw UserError(fmt::format("{}: it needs at least one server", workload_text(workload)));
  const auto wanted = static_cast<std::size_t>(servers);
  if (workload.variables_on_gpu && wanted > workers.size())
    throw UserError(
        fmt::format("{}: {} servers on {} workers: variables on GPUs need a worker for each server",
                    workload_text(workload), wanted, workers.size()));
  const auto candidates = workload.variables_on_gpu ? workers : server_candidates(devices, workers, apart);
  if (candidates.empty())
    throw UserError(
        fmt::format("{}: no node of cluster '{}' has a processor to hold variables: add one, or set "
                    "variables_on_gpu",
                    workload_text(workload), printable(devices.cluster().name, 80)));
  std::vector<DeviceSlot> out;
  for (std::size_t i = 0; i < wanted; ++i) out.push_back(candidates[i % candidates.size()]);
  for (const DeviceSlot& server : out) check_speed(*server.type);
  return out;
}

std::vector<DeviceId> powered(const Devices& devices, const Placement& placement) {
  std::vector<DeviceId> out;
  for (const auto* slots : {&placement.workers, &placement.servers})
    for (const DeviceSlot& used : *slots) {
      out.push_back(used.device);
      for (DeviceId id = devices.first(used.node); id < devices.first(used.node + std::size_t{1}); ++id)
        if (!devices.all()[id].type->gpu) out.push_back(id);
    }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

Placement place(const Devices& devices, const spec::Workload& workload, std::optional<int> servers,
                bool apart, const std::vector<DeviceId>& chosen) {
  Placement out;
  out.workers = chosen.empty() ? place_workers(devices, workload) : place_chosen(devices, workload, chosen);
  if (servers) out.servers = place_servers(devices, workload, out.workers, *servers, apart);
  for (const DeviceSlot& worker : out.workers) {
    const auto processor = devices.processor(worker.node);
    out.hosts.push_back(processor ? std::optional(slot_at(devices, *processor)) : std::nullopt);
  }
  out.powered = powered(devices, out);
  return out;
}

}  // namespace tandem::sim
