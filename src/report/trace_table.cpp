#include "report/trace_table.h"

#include <fmt/format.h>
#include <cmath>
#include <fstream>

#include "base/counted.h"
#include "base/error.h"
#include "base/text.h"
#include "report/text_table.h"

namespace tandem::report {

using namespace app;
namespace {

std::string percent_text(double part, double all) {
  return all > 0 ? fmt::format("{:.1f} %", 100 * part / all) : "-";
}

// A comma or a quote in a name must not break a line.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string trace_table(const TraceStudy& prepared, const std::vector<PolicyRow>& rows) {
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
         percent_text(r.core_seconds, r.core_seconds_there), percent_text(r.gpu_seconds, r.gpu_seconds_there),
         r.joules ? text(Joules{*r.joules}) : "-"});
  }
  return text_table(lines, 1);
}

// What a person must know to read the table.
std::string trace_remarks(const TraceStudy& prepared, const std::vector<PolicyRow>& rows) {
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
        "{} can never be placed here, such as {}: {} x ({}){}", counted(never.size(), "job"),
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

void write_trace_jobs(const std::string& file, const TraceStudy& prepared,
                      const std::vector<PolicyRow>& rows) {
  std::ofstream out(file);
  out << "policy,job,submitted,started,ended,pool,attempts\n";
  const auto time = [](double t) { return std::isfinite(t) ? fmt::format("{:.17g}", t) : std::string(); };
  for (const auto& row : rows)
    for (std::size_t i = 0; i < prepared.trace.jobs.size(); ++i) {
      const auto& fate = row.replayed.jobs[i];
      out << row.policy.name << ',' << csv_cell(prepared.trace.jobs[i].name) << ','
          << time(prepared.replay.input.jobs[i].submitted) << ',' << time(fate.started) << ','
          << time(fate.ended) << ','
          << (std::isfinite(fate.ended) ? csv_cell(prepared.replay.input.pools[fate.pool].name) : "") << ','
          << fate.attempts << '\n';
    }
  out.flush();
  if (!out) throw_errno("writing " + file);
}

std::string trace_summary(const TraceStudy& prepared) {
  std::size_t nodes = 0;
  for (const auto& pool : prepared.replay.input.pools) nodes += pool.count;
  return fmt::format("{}: {} ({}) on {} of {}\n", prepared.trace.file,
                     counted(prepared.trace.jobs.size(), "job"), prepared.trace.format, counted(nodes, "node"),
                     prepared.where);
}

}  // namespace tandem::report
