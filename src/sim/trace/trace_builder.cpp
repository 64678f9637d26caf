#include "sim/trace/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace tandem::sim {
namespace {

constexpr std::size_t kLongestName = 200;

void clean(std::string& text) {
  text = printable(text, kLongestName);
}

std::optional<TraceTrouble> unusable(const TraceJob& job) {
  if (job.duration && *job.duration <= 0)
    return TraceTrouble{"the duration is zero or negative", fmt::format("{} s", *job.duration)};
  if (job.duration && *job.duration > kLongest)
    return TraceTrouble{"the duration is out of range", fmt::format("{} s", *job.duration)};
  if (job.tasks < 1 || (job.cores.value_or(0) <= 0 && job.gpus <= 0))
    return TraceTrouble{"it asks for neither cores nor GPUs", ""};
  return std::nullopt;
}

std::string nothing_usable(const Trace& trace) {
  if (trace.skipped.empty())
    return fmt::format("{}: there is nothing in it but its beginning; give a longer part", trace.file);
  const auto& first = trace.skipped.front();
  return fmt::format("{}: nothing in it is usable as {}: {}; the first is line {}: {}{}", trace.file,
                     trace.format, join(complaints(trace), "; "), first.line, first.reason,
                     first.detail.empty() ? "" : " (" + first.detail + ")");
}

bool earlier(const TraceJob& a, const TraceJob& b) {
  return a.submitted < b.submitted;
}

}  // namespace

TraceBuilder::TraceBuilder(std::string_view format, std::string_view file) {
  trace_.format = format;
  trace_.file = file;
}

bool TraceBuilder::add(TraceJob job, const std::optional<TraceTrouble>& trouble) {
  const auto why = trouble ? trouble : unusable(job);
  if (why) {
    skip(job.line, *why);
    return false;
  }
  if (trace_.jobs.size() == kMostJobs)
    throw UserError(fmt::format("{}: more than {} jobs; cut the trace into parts", trace_.file, kMostJobs));
  if (job.name.empty()) job.name = fmt::format("job-{}", job.line);
  for (auto* text : {&job.name, &job.gpu_type, &job.application, &job.user, &job.queue, &job.status})
    clean(*text);
  trace_.jobs.push_back(std::move(job));
  return true;
}

bool TraceBuilder::add(TraceNode node, const std::optional<TraceTrouble>& trouble) {
  if (trouble) {
    skip(node.line, *trouble);
    return false;
  }
  if (node.cores <= 0) {
    skip(node.line, {"the node has no cores", ""});
    return false;
  }
  if (trace_.nodes.size() == kMostNodes)
    throw UserError(fmt::format("{}: more than {} nodes; give fewer", trace_.file, kMostNodes));
  clean(node.name);
  clean(node.gpu_type);
  trace_.nodes.push_back(std::move(node));
  return true;
}

void TraceBuilder::skip(std::size_t line, const TraceTrouble& trouble) {
  trace_.skip(line, trouble.reason, trouble.detail);
}

Trace TraceBuilder::finish() {
  if (trace_.jobs.empty() && trace_.nodes.empty()) throw UserError(nothing_usable(trace_));
  start_at_zero(trace_);
  return std::move(trace_);
}

void start_at_zero(Trace& trace) {
  auto& jobs = trace.jobs;
  if (jobs.empty()) return;
  // Most traces are in order, and sorting needs their memory once more.
  if (!std::is_sorted(jobs.begin(), jobs.end(), earlier)) std::stable_sort(jobs.begin(), jobs.end(), earlier);
  const double first = jobs.front().submitted;
  for (auto& job : jobs) job.submitted -= first;
  trace.offset += first;
}

void spread_over(TraceJob& job, int nodes, int gpus) {
  job.tasks = nodes > 0 && gpus > 0 && gpus % nodes != 0 ? gpus : nodes;
  job.gpus = job.tasks > 0 ? static_cast<double>(gpus) / job.tasks : 0;
}

std::optional<Bytes> bytes_of(std::optional<double> count, Bytes unit) {
  if (!count) return std::nullopt;
  return static_cast<Bytes>(std::clamp(*count * static_cast<double>(unit), 0.0, kMostBytes));
}

}  // namespace tandem::sim
