#include "app/trace_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/sim_grid.h"
#include "base/error.h"
#include "base/text.h"
#include "sim/trace/replay_trace.h"
#include "spec/parse_sim.h"

namespace tandem::app {
namespace {
using nlohmann::json;

std::string read_file(const std::string& file, std::size_t most) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UserError("cannot read " + file + ": is it there, and may you read it?");
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) throw_errno("reading " + file);
  if (text.str().size() > most)
    throw UserError(fmt::format("{} is larger than {}: is it the right file?", file,
                                text_bytes(static_cast<Bytes>(most))));
  return std::move(text).str();
}

std::vector<sim::ReplayPool> pools_for(const TraceOptions& options, TraceStudy& out) {
  if (options.nodes.empty() == options.cluster.empty())
    throw UserError(
        "say where the jobs shall run: --cluster NAME|FILE (dgx-1, minsky, ... or a file with "
        "`kind: cluster`), or --nodes FILE with the nodes of a trace, not both");
  if (!options.cluster.empty()) {
    const spec::Cluster cluster = spec::load_cluster(options.cluster);
    out.where = cluster.name;
    out.replay.input.failures = cluster.failures;
    return sim::pools_of(cluster);
  }
  const auto nodes = sim::read_trace(read_file(options.nodes, sim::kLargestTrace), options.nodes);
  if (nodes.nodes.empty())
    throw UserError(options.nodes + " lists no nodes; it is a trace of jobs (format " + nodes.format + ")");
  out.where = options.nodes;
  auto pools = sim::pools_of(nodes.nodes);
  out.power_note = sim::assume_power(pools);
  return pools;
}

double share_of(double part, double all) {
  return all > 0 ? part / all : 0;
}

json policy_json(const TraceStudy& prepared, const PolicyRow& row) {
  const auto waits = sim::waits_of(prepared.replay.input, row.replayed);
  const auto& r = row.replayed;
  json out{{"policy", row.policy.name},
           {"jobs_done", waits.jobs},
           {"makespan", r.makespan},
           {"mean_wait", waits.mean},
           {"median_wait", waits.median},
           {"p95_wait", waits.p95},
           {"p99_wait", waits.p99},
           {"longest_wait", waits.most},
           {"mean_response", waits.mean_response},
           {"mean_slowdown", waits.mean_slowdown},
           {"core_usage", share_of(r.core_seconds, r.core_seconds_there)},
           {"gpu_usage", share_of(r.gpu_seconds, r.gpu_seconds_there)},
           {"core_seconds", r.core_seconds},
           {"gpu_seconds", r.gpu_seconds},
           {"failures", r.failures},
           {"lost_seconds", r.lost_seconds},
           {"given_up", r.given_up.size()},
           {"evictions", r.evictions},
           {"moves", r.moves},
           {"moves_undone", r.moves_undone},
           {"events", r.events},
           {"happenings", r.events},
           {"seconds_to_simulate", row.seconds}};
  out["joules"] = r.joules ? json(*r.joules) : json(nullptr);
  if (!r.joules) out["joules_reason"] = kNoJoules;
  return out;
}

}  // namespace

TraceStudy prepare_trace(const TraceOptions& options) {
  TraceStudy out;
  out.trace = sim::read_trace(read_file(options.trace, sim::kLargestTrace), options.trace, options.format);
  if (out.trace.jobs.empty())
    throw UserError(options.trace + " lists nodes, no jobs: give it with --nodes, and the jobs with --trace");
  std::optional<sim::Throughputs> measured;
  if (!options.throughputs.empty())
    measured =
        sim::read_throughputs(read_file(options.throughputs, sim::kLargestThroughputs), options.throughputs);
  else
    sim::require_durations(out.trace);
  auto pools = pools_for(options, out);
  const auto failures = out.replay.input.failures;
  out.replay = sim::replay_of(out.trace, std::move(pools), measured ? &*measured : nullptr);
  if (!out.power_note.empty()) out.replay.notes.push_back(out.power_note);
  out.replay.input.failures = failures;
  out.replay.input.seed = options.seed;
  for (auto& job : out.replay.input.jobs) job.submitted /= options.rate;
  if (!options.checkpoint.empty()) {
    const auto every = parse_seconds(options.checkpoint);
    if (!every || every->value <= 0)
      throw UserError("--checkpoint " + options.checkpoint +
                      " is no time between checkpoints; write 10min or 600s");
    out.replay.input.checkpoint = every->value;
  }
  return out;
}

std::vector<place::Policy> policies_named(const std::string& names) {
  std::vector<place::Policy> out;
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, ',');) {
    if (std::any_of(out.begin(), out.end(), [&](const auto& policy) { return policy.name == name; }))
      throw UserError("--policy names " + name + " twice");
    out.push_back(place::parse_policy(name));
  }
  if (out.empty()) throw UserError("--policy names no policy; try --policy fifo");
  return out;
}

// No empty cluster could hold them, whatever their speed.
std::vector<std::uint32_t> never_placed(const TraceStudy& prepared, const PolicyRow& row) {
  std::vector<std::uint32_t> out;
  std::set_difference(row.replayed.never.begin(), row.replayed.never.end(),
                      prepared.replay.not_measured.begin(), prepared.replay.not_measured.end(),
                      std::back_inserter(out));
  return out;
}

json trace_json(const TraceStudy& prepared, const std::vector<PolicyRow>& rows) {
  json pools = json::array();
  for (const auto& pool : prepared.replay.input.pools)
    pools.push_back({{"name", pool.name},
                     {"nodes", pool.count},
                     {"cores", static_cast<double>(pool.node.milli_cores) / 1000},
                     {"gpus", pool.node.gpus},
                     {"gpu_type", pool.gpu_type}});
  json never = json::array(), not_measured = json::array();
  for (const auto job : never_placed(prepared, rows.front())) never.push_back(prepared.trace.jobs[job].name);
  for (const auto job : prepared.replay.not_measured) not_measured.push_back(prepared.trace.jobs[job].name);
  json out{{"trace",
            {{"file", prepared.trace.file},
             {"format", prepared.trace.format},
             {"jobs", prepared.trace.jobs.size()},
             {"skipped", prepared.trace.skipped_total()}}},
           {"cluster", prepared.where},
           {"pools", pools},
           {"never_placeable", never},
           {"not_measured", not_measured},
           {"notes", prepared.replay.notes},
           {"policies", json::array()}};
  for (const auto& row : rows) out["policies"].push_back(policy_json(prepared, row));
  return out;
}

std::vector<PolicyRow> replay_policies(const TraceOptions& options, const sim::ReplayInput& input) {
  const auto policies = policies_named(options.policies);
  std::vector<PolicyRow> rows(policies.size());
  in_parallel(policies.size(), options.threads, [&](std::size_t i) {
    const auto begin = std::chrono::steady_clock::now();
    rows[i].policy = policies[i];
    rows[i].replayed = sim::replay(input, policies[i]);
    rows[i].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  return rows;
}

}  // namespace tandem::app
