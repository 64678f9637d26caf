#include "app/sim_json.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/sim_names.h"

#include "base/json.h"

namespace tandem::app {
using nlohmann::json;
namespace {

json net_json(const sim::RunResult& result) {
  json out = json::object();
  for (std::size_t i = 0; i < sim::kLinkClasses; ++i) {
    const auto link = static_cast<sim::LinkClass>(i);
    const auto& traffic = result.traffic[i];
    json& one = out[sim::name(link)] = {{"sent", traffic.sent},
                                        {"received", traffic.received},
                                        {"busy", traffic.busy},
                                        {"joules", or_null(link_joules(result, link))}};
    if (const auto why = no_link_joules(result, link); !why.empty()) one["joules_why"] = why;
  }
  return out;
}

json devices_json(const sim::RunResult& result, const spec::Cluster& cluster) {
  json out = json::array();
  for (const auto& device : result.devices) {
    const auto name = name_of(cluster, device.device);
    out.push_back({{"name", name.full()},
                   {"node", name.node},
                   {"type", device.type},
                   {"worker", device.worker},
                   {"server", device.server},
                   {"busy", device.busy},
                   {"joules", or_null(device.joules)}});
  }
  return out;
}

void add_results(json& out, const SimRow& row, const spec::Cluster& cluster) {
  const auto& result = row.result;
  out["t_exec"] = result.t_exec;
  out["t_comp"] = result.t_comp;
  out["t_comm"] = result.t_comm;
  out["t_mem"] = result.t_mem;
  out["t_io"] = result.t_io;
  out["speedup"] = or_null(row.speedup);
  if (!row.speedup) out["speedup_why"] = row.no_speedup;
  out["usage"] = result.usage;
  out["joules"] = or_null(result.joules);
  if (!result.joules) out["joules_why"] = no_joules(result);
  out["steps"] = result.steps;
  out["samples"] = result.samples;
  out["operations"] = result.operations;
  out["extrapolated"] = result.extrapolated;
  out["net"] = net_json(result);
  out["devices"] = devices_json(result, cluster);
}

json row_json(const SimRow& row, const spec::Cluster& cluster) {
  const auto& workload = row.cell.workload;
  json out{{"workload", workload.name},
           {"model", workload.model.empty() ? workload.model_file : workload.model},
           {"strategy", workload.strategy},
           {"workers", workload.workers},
           {"batch", workload.batch},
           {"device", row.device}};
  json& sweep = out["sweep"] = json::object();
  for (const auto& [key, value] : row.cell.swept) out[key] = sweep[key] = swept_json(value);
  if (row.error.empty()) {
    add_results(out, row, cluster);
    return out;
  }
  for (const char* key : {"t_exec", "t_comp", "t_comm", "t_mem", "t_io", "speedup", "usage", "joules"})
    out[key] = nullptr;
  out["error"] = row.error;
  return out;
}

}  // namespace

json swept_json(const std::string& written) {
  if (written == "true" || written == "false") return written == "true";
  const char* end = written.data() + written.size();
  std::int64_t whole = 0;
  if (const auto [rest, error] = std::from_chars(written.data(), end, whole);
      error == std::errc() && rest == end)
    return whole;
  double real = 0;
  if (const auto [rest, error] = std::from_chars(written.data(), end, real);
      error == std::errc() && rest == end && std::isfinite(real))
    return real;
  return written;
}

json sim_json(const spec::SimJob& job, const std::vector<SimRow>& rows) {
  json out{{"name", job.name}, {"cluster", job.cluster.name}, {"seed", job.seed}};
  json& all = out["rows"] = json::array();
  for (const auto& row : rows) all.push_back(row_json(row, job.cluster));
  return out;
}

}  // namespace tandem::app
