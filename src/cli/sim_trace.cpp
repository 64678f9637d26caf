#include "cli/sim_trace.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "app/output_file.h"
#include "report/trace_page.h"
#include "report/trace_table.h"

namespace tandem::cli {

void add_trace_options(CLI::App& app, TraceOptions& options) {
  const std::string group = "A trace";
  std::string policies, formats;
  for (const auto& entry : place::policies()) {
    if (place::parse_policy(entry.name).infra) continue;  // a trace cannot host it
    policies += "\n  " + entry.name + ": " + entry.description;
    for (const auto& option : entry.options) policies += "\n    :" + option.name + "=  " + option.meaning;
  }
  for (const auto& entry : sim::trace_formats())
    formats += "\n  " + entry.name + ": " + entry.description +
               (entry.lacks.empty() ? "" : " (" + entry.lacks + ")");
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
  app.get_option("--jobs")->check([](const std::string& written) {
    const bool number = written.find_first_not_of("0123456789") == std::string::npos;
    return number ? "names the file to write, and " + written +
                        " looks like how many: all jobs of a trace are replayed; write ./" + written +
                        " for a file of that name"
                  : "";
  });
}

int simulate_trace(const TraceOptions& options, const JsonOption& as_json) {
  policies_named(options.policies);  // a wrong name is told before a large file is read
  const TraceStudy prepared = prepare_trace(options);
  const auto rows = replay_policies(options, prepared.replay.input);
  if (!as_json.alone())
    std::cout << trace_summary(prepared) << "\n"
              << trace_table(prepared, rows) << "\n"
              << trace_remarks(prepared, rows) << std::flush;
  as_json.write(trace_json(prepared, rows));
  if (!options.jobs.empty()) write_trace_jobs(options.jobs, prepared, rows);
  if (!options.report.empty()) {
    write_file(options.report, trace_page(prepared.trace, prepared.where, prepared.replay.input, rows));
    std::cerr << "page: " << options.report << "\n";
  }
  return sim::waits_of(prepared.replay.input, rows.front().replayed).jobs > 0 ? kDone : kAnswerIsNo;
}

}  // namespace tandem::cli
