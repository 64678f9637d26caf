#include "sim/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "sim/trace/trace_builder.h"
#include "sim/trace/trace_csv.h"
#include "sim/trace/trace_gavel.h"
#include "sim/trace/trace_readers.h"

namespace tandem::sim {
namespace {

void add_count(std::vector<TraceCount>& counts, std::string_view what, std::size_t line) {
  const auto known =
      std::find_if(counts.begin(), counts.end(), [&](const auto& one) { return one.what == what; });
  if (known != counts.end())
    ++known->count;
  else
    counts.push_back({std::string(what), 1, line});
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto& format : trace_formats()) names.push_back(format.name);
  return names;
}

void check_size(std::string_view text, std::string_view file) {
  if (text.size() > kLargestTrace)
    throw UserError(fmt::format("{}: {} bytes are too many for a trace; the most is {}: cut it into parts",
                                file, text.size(), kLargestTrace));
}

std::string beginning(std::string_view text) {
  CsvLines lines(text);
  return lines.next() ? printable(lines.line(), 60) : "";
}

}  // namespace

std::size_t Trace::skipped_total() const {
  std::size_t total = 0;
  for (const auto& reason : skipped_by_reason) total += reason.count;
  return total;
}

void Trace::skip(std::size_t line, std::string reason, std::string detail) {
  add_count(skipped_by_reason, reason, line);
  if (skipped.size() < kSkippedKept) skipped.push_back({line, std::move(reason), std::move(detail)});
}

void Trace::hole(std::size_t line, std::string_view what) {
  add_count(holes, what, line);
}

bool accepts(const TraceJob& job, std::string_view gpu_type) {
  if (job.gpu_type.empty()) return true;
  std::string_view rest = job.gpu_type;
  while (true) {
    const auto end = rest.find('|');
    if (rest.substr(0, end) == gpu_type) return true;
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + 1);
  }
}

std::vector<std::string> complaints(const Trace& trace) {
  std::vector<std::string> out;
  for (const auto& reason : trace.skipped_by_reason)
    out.push_back(
        fmt::format("{} skipped: {} (first on line {})", reason.count, reason.what, reason.first_line));
  for (const auto& hole : trace.holes)
    out.push_back(
        fmt::format("{} with a hole: {} (first on line {})", hole.count, hole.what, hole.first_line));
  return out;
}

namespace {

std::string what_is_lacking(const std::string& name) {
  for (const auto& format : trace_formats())
    if (format.name == name && !format.lacks.empty())
      return fmt::format("the format is {}: {}", name, format.lacks);
  return "give a trace that has durations";
}

}  // namespace

void require_durations(Trace& trace) {
  for (const auto& job : trace.jobs)
    if (!job.duration) trace.skip(job.line, "the duration is not known", job.name);
  std::erase_if(trace.jobs, [](const TraceJob& job) { return !job.duration; });
  if (trace.jobs.empty())
    throw UserError(
        fmt::format("{}: the duration of no job is known; {}", trace.file, what_is_lacking(trace.format)));
  start_at_zero(trace);
}

const std::vector<TraceFormat>& trace_formats() {
  static const std::vector<TraceFormat> formats{
      {"alibaba-pods", "Alibaba 2023 GPU cluster, tasks: openb_pod_list_*.csv", is_alibaba_pods,
       read_alibaba_pods},
      {"alibaba-nodes", "Alibaba 2023 GPU cluster, nodes: openb_node_list_*.csv", is_alibaba_nodes,
       read_alibaba_nodes, "it has no jobs: it goes with --nodes"},
      {"gavel", "Gavel's *.trace: job types, steps and GPUs, tab separated", is_gavel, read_gavel,
       "it has no durations: give --throughputs as well"},
      {"pollux", "Pollux' workload-*.csv: applications, replicas and batch sizes", is_pollux, read_pollux,
       "it has neither durations nor steps, so it can be read but not replayed"},
      {"philly", "Microsoft Philly's cluster_job_log: JSON, with attempts", is_philly, read_philly},
      {"helios", "SenseTime Helios' cluster_log.csv", is_helios, read_helios},
      {"swf", "Standard Workload Format: 18 numbers a line", is_swf, read_swf},
  };
  return formats;
}

const TraceFormat& trace_format(std::string_view name) {
  for (const auto& format : trace_formats())
    if (format.name == name) return format;
  throw UserError(fmt::format("there is no trace format '{}'{}; there are {}", printable(name, 60),
                              did_you_mean(name, format_names()), join(format_names())));
}

const TraceFormat& detect(std::string_view text, std::string_view file) {
  check_size(text, file);
  if (beginning(text).empty()) throw UserError(fmt::format("{}: it is empty; give a job trace", file));
  if (text.starts_with("\x1f\x8b"))
    throw UserError(fmt::format("{}: it is compressed; unpack it with gunzip first", file));
  for (const auto& format : trace_formats())
    if (format.recognises(text)) return format;
  if (file.ends_with(".swf")) return trace_format("swf");
  if (is_throughputs(text))
    throw UserError(
        fmt::format("{}: these are Gavel's throughputs, no jobs; give the job trace (*.trace)", file));
  throw UserError(
      fmt::format("{}: not a trace of a known format ({}): it begins with '{}'; a CSV file needs "
                  "its header line",
                  file, join(format_names()), beginning(text)));
}

Trace read_trace(std::string_view text, std::string_view file, std::string_view format) {
  check_size(text, file);
  const auto& chosen = format.empty() ? detect(text, file) : trace_format(format);
  return chosen.read(text, file);
}

}  // namespace tandem::sim
