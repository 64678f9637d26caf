#include "cli/sim_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/text.h"
#include "cli/sim_grid.h"
#include "cli/sim_table.h"
#include "cli/sim_trace_page.h"
#include "sim/replay_trace.h"
#include "spec/parse_sim.h"

namespace tandem::cli {
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

// Everything that is the same for all policies.
struct Prepared {
  sim::Trace trace{};
  sim::TraceReplay replay{};
  std::string where{};  // the cluster, for people
  std::string power_note{};
};

std::vector<sim::ReplayPool> pools_for(const TraceOptions& options, Prepared& out) {
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

Prepared prepare(const TraceOptions& options) {
  Prepared out;
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

std::vector<place::Policy> policies_of(const std::string& names) {
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

double share(double part, double all) {
  return all > 0 ? part / all : 0;
}

std::string share_text(double part, double all) {
  return all > 0 ? fmt::format("{:.1f} %", 100 * part / all) : "-";
}

const char* const kNoJoules = "the power of some device is not known";

json policy_json(const Prepared& prepared, const PolicyRow& row) {
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
           {"core_usage", share(r.core_seconds, r.core_seconds_there)},
           {"gpu_usage", share(r.gpu_seconds, r.gpu_seconds_there)},
           {"core_seconds", r.core_seconds},
           {"gpu_seconds", r.gpu_seconds},
           {"failures", r.failures},
           {"lost_seconds", r.lost_seconds},
           {"given_up", r.given_up.size()},
           {"evictions", r.evictions},
           {"moves", r.moves},
           {"moves_undone", r.moves_undone},
           {"happenings", r.happenings},
           {"seconds_to_simulate", row.seconds}};
  out["joules"] = r.joules ? json(*r.joules) : json(nullptr);
  if (!r.joules) out["joules_reason"] = kNoJoules;
  return out;
}

// No empty cluster could hold them, whatever their speed.
std::vector<std::uint32_t> never_placed(const Prepared& prepared, const PolicyRow& row) {
  std::vector<std::uint32_t> out;
  std::set_difference(row.replayed.never.begin(), row.replayed.never.end(),
                      prepared.replay.not_measured.begin(), prepared.replay.not_measured.end(),
                      std::back_inserter(out));
  return out;
}

json result_json(const Prepared& prepared, const std::vector<PolicyRow>& rows) {
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

std::string table_of(const Prepared& prepared, const std::vector<PolicyRow>& rows) {
  std::vector<std::vector<std::string>> lines = {{"policy", "done", "makespan", "mean wait", "median", "p95",
                                                  "p99", "mean response", "slowdown", "cores used",
                                                  "GPUs used", "energy"}};
  for (const auto& row : rows) {
    const auto& r = row.replayed;
    const auto waits = sim::waits_of(prepared.replay.input, r);
    lines.push_back(
        {row.policy.name, std::to_string(waits.jobs), text(Seconds{r.makespan}), text(Seconds{waits.mean}),
         text(Seconds{waits.median}), text(Seconds{waits.p95}), text(Seconds{waits.p99}),
         text(Seconds{waits.mean_response}), fmt::format("{:.2f}", waits.mean_slowdown),
         share_text(r.core_seconds, r.core_seconds_there), share_text(r.gpu_seconds, r.gpu_seconds_there),
         r.joules ? text(Joules{*r.joules}) : "-"});
  }
  return text_table(lines, 1);
}

// What a person must know to read the table.
std::string remarks(const Prepared& prepared, const std::vector<PolicyRow>& rows) {
  std::string out;
  const auto add = [&](const std::string& line) { out += "  " + line + "\n"; };
  for (const auto& line : sim::complaints(prepared.trace)) add(line);
  for (const auto& note : prepared.replay.notes) add(note);
  const auto& first = rows.front().replayed;
  if (const auto& unknown = prepared.replay.not_measured; !unknown.empty()) {
    const auto& job = prepared.trace.jobs[unknown.front()];
    add(fmt::format(
        "{} jobs never run: they were measured on no type of GPU here with their number of GPUs, such as "
        "{}, {} with {}",
        unknown.size(), job.name, job.application, job.tasks));
  }
  if (const auto never = never_placed(prepared, rows.front()); !never.empty()) {
    const auto job = never.front();
    const auto& shape = prepared.replay.input.shapes[prepared.replay.input.jobs[job].shape];
    add(fmt::format(
        "{} jobs can never be placed here, such as {}: {} x ({}){}", never.size(),
        prepared.trace.jobs[job].name, shape.parts, text(shape.part),
        prepared.trace.jobs[job].gpu_type.empty() ? "" : " of " + prepared.trace.jobs[job].gpu_type));
  }
  for (const auto& row : rows) {
    const auto& r = row.replayed;
    if (r.failures > 0)
      add(fmt::format("{}: nodes failed {} times; {} of parts' work was done again", row.policy.name,
                      r.failures, text(Seconds{r.lost_seconds})));
    if (r.evictions > 0)
      add(fmt::format("{}: jobs were evicted {} times; {} of parts' work was done again", row.policy.name,
                      r.evictions, text(Seconds{r.lost_seconds})));
    if (r.moves > 0) add(fmt::format("{}: {} moves of running jobs", row.policy.name, r.moves));
    if (!r.given_up.empty())
      add(fmt::format("{}: {} jobs were given up after {} attempts: nodes failed before they ended",
                      row.policy.name, r.given_up.size(), sim::kMostAttempts));
  }
  if (!first.joules) add(std::string("no energy: ") + kNoJoules);
  return out;
}

// A comma or a quote in a name must not break a line.
std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

void write_jobs(const std::string& file, const Prepared& prepared, const std::vector<PolicyRow>& rows) {
  std::ofstream out(file);
  out << "policy,job,submitted,started,ended,pool,attempts\n";
  const auto time = [](double t) { return std::isfinite(t) ? fmt::format("{:.17g}", t) : std::string(); };
  for (const auto& row : rows)
    for (std::size_t i = 0; i < prepared.trace.jobs.size(); ++i) {
      const auto& fate = row.replayed.jobs[i];
      out << row.policy.name << ',' << csv_text(prepared.trace.jobs[i].name) << ','
          << time(prepared.replay.input.jobs[i].submitted) << ',' << time(fate.started) << ','
          << time(fate.ended) << ','
          << (std::isfinite(fate.ended) ? csv_text(prepared.replay.input.pools[fate.pool].name) : "") << ','
          << fate.attempts << '\n';
    }
  out.flush();
  if (!out) throw_errno("writing " + file);
}

std::vector<PolicyRow> run_all(const TraceOptions& options, const sim::ReplayInput& input) {
  const auto policies = policies_of(options.policies);
  std::vector<PolicyRow> rows(policies.size());
  in_parallel(policies.size(), options.threads, [&](std::size_t i) {
    const auto begin = std::chrono::steady_clock::now();
    rows[i].policy = policies[i];
    rows[i].replayed = sim::replay(input, policies[i]);
    rows[i].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  return rows;
}

std::string summary(const Prepared& prepared) {
  std::size_t nodes = 0;
  for (const auto& pool : prepared.replay.input.pools) nodes += pool.count;
  return fmt::format("{}: {} jobs ({}) on {} nodes of {}\n", prepared.trace.file, prepared.trace.jobs.size(),
                     prepared.trace.format, nodes, prepared.where);
}

}  // namespace

void add_trace_options(CLI::App& app, TraceOptions& options) {
  const std::string group = "A trace";
  std::string policies, formats;
  for (const auto& entry : place::policies()) {
    if (place::parse_policy(entry.name).infra) continue;  // a trace cannot host it
    policies += "\n  " + entry.name + ": " + entry.description;
    for (const auto& option : entry.options) policies += "\n    :" + option.name + "=  " + option.meaning;
  }
  for (const auto& entry : sim::trace_formats()) formats += "\n  " + entry.name + ": " + entry.description;
  const auto file = [&](const char* name, std::string& target, const std::string& what, const char* type) {
    app.add_option(name, target, what)->type_name(type)->group(group);
  };
  file("--trace", options.trace, "replay the jobs of this trace instead of a spec", "FILE");
  file("--format", options.format, "of the trace; found by its content where it is not given:" + formats,
       "NAME");
  file("--cluster", options.cluster, "where they run: a ready cluster, or a file with `kind: cluster`",
       "NAME|FILE");
  file("--nodes", options.nodes, "the same: a trace of nodes, as Alibaba's", "FILE");
  file("--throughputs", options.throughputs, "measured steps a second by GPU type, as Gavel's JSON", "FILE");
  file("--policy", options.policies,
       "policies to compare, with commas; options follow a colon, as in heats:H=1:x=30:" + policies, "NAMES");
  file("--checkpoint", options.checkpoint, "time between checkpoints where nodes fail (none: from the start)",
       "TIME");
  app.add_option("--rate", options.rate, "submit the jobs so many times as fast as they were")
      ->check(CLI::Range(1e-6, 1e6))
      ->type_name("X")
      ->group(group);
  file("--jobs", options.jobs, "write when each job started and ended to FILE, as CSV", "FILE");
}

int simulate_trace(const TraceOptions& options, const JsonOption& as_json) {
  policies_of(options.policies);  // a wrong name is told before a large file is read
  const Prepared prepared = prepare(options);
  const auto rows = run_all(options, prepared.replay.input);
  if (!as_json.alone())
    std::cout << summary(prepared) << "\n"
              << table_of(prepared, rows) << "\n"
              << remarks(prepared, rows) << std::flush;
  as_json.write(result_json(prepared, rows));
  if (!options.jobs.empty()) write_jobs(options.jobs, prepared, rows);
  if (!options.report.empty()) {
    std::ofstream out(options.report);
    out << trace_page(prepared.trace, prepared.where, prepared.replay.input, rows) << std::flush;
    if (!out) throw_errno("writing " + options.report);
    std::cerr << "page: " << options.report << "\n";
  }
  return sim::waits_of(prepared.replay.input, rows.front().replayed).jobs > 0 ? kDone : kAnswerIsNo;
}

}  // namespace tandem::cli
