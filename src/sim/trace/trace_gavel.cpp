#include "sim/trace/trace_gavel.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "sim/trace/trace_builder.h"
#include "sim/trace/trace_csv.h"
#include "sim/trace/trace_readers.h"

namespace tandem::sim {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 7> kShortColumns{"type",  "command",      "steps flag", "needs data",
                                                        "steps", "arrival time", "GPUs"};
constexpr std::array<std::string_view, 10> kLongColumns{"type",       "command",     "folder", "steps flag",
                                                        "needs data", "steps",       "GPUs",   "weight",
                                                        "SLO",        "arrival time"};

// The places of what is read; the shorter kind has no weights and no SLOs.
struct Layout {
  std::span<const std::string_view> columns;
  std::size_t steps, gpus, arrival;
  std::optional<std::size_t> weight, slo;
};
constexpr std::size_t kType = 0;
constexpr Layout kShort{kShortColumns, 4, 6, 5, std::nullopt, std::nullopt};
constexpr Layout kLong{kLongColumns, 5, 6, 9, std::size_t{7}, std::size_t{8}};

constexpr std::size_t kLinesLookedAt = 100;
constexpr double kMostStepsASecond = 1e9, kLeastStepsASecond = 1e-9;
constexpr int kDeepest = 4;  // of a number in a pair

const Layout* layout_of(std::string_view text) {
  CsvLines lines(text);
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < kLinesLookedAt && lines.next(); ++i) {
    if (split_line(lines.line(), CsvSeparator::tab, fields) != nullptr) continue;
    for (const Layout* layout : {&kShort, &kLong})
      if (fields.size() == layout->columns.size() && parse_finite(fields[layout->steps]) &&
          parse_finite(fields[layout->arrival]) && parse_finite(fields[layout->gpus]))
        return layout;
  }
  return nullptr;
}

// The 128 of "Transformer (batch size 128)".
std::optional<double> batch_of(std::string_view type) {
  constexpr std::string_view kBefore = "(batch size ";
  const auto at = type.rfind(kBefore);
  if (at == std::string_view::npos || !type.ends_with(')')) return std::nullopt;
  type.remove_prefix(at + kBefore.size());
  type.remove_suffix(1);
  const auto batch = parse_finite(type);
  return batch && *batch >= 1 && *batch <= kMostBatch ? batch : std::nullopt;
}

TraceJob gavel_job(CsvTable& table, const Layout& layout) {
  TraceJob job;
  job.line = table.line();
  job.application = table.text(kType);
  job.batch = batch_of(job.application);
  job.steps = table.number(layout.steps, 1, kMostSteps);
  job.submitted = table.number(layout.arrival, 0, kLatest);
  job.tasks = table.whole(layout.gpus, kMostTasks);
  job.gpus = 1;
  if (layout.weight) job.weight = table.number(*layout.weight, 1 / kMostWeight, kMostWeight);
  if (layout.slo) job.slo = table.number_or_hole(*layout.slo, -kMostWeight, kMostWeight);
  if (job.slo && *job.slo < 0) job.slo.reset();
  return job;
}

// "('ResNet-18 (batch size 16)', 1)"
std::optional<Throughputs::Work> work_of(std::string_view key) {
  constexpr std::string_view kOpen = "('", kBetween = "', ";
  const auto between = key.rfind(kBetween);
  if (!key.starts_with(kOpen) || !key.ends_with(')')) return std::nullopt;
  if (between == std::string_view::npos || between < kOpen.size()) return std::nullopt;
  const auto count = key.substr(between + kBetween.size(), key.size() - 1 - between - kBetween.size());
  const auto gpus = parse_finite(count);
  if (!gpus || *gpus < 1 || *gpus > kMostGpus || *gpus != std::floor(*gpus)) return std::nullopt;
  const auto type = key.substr(kOpen.size(), between - kOpen.size());
  return Throughputs::Work{std::string(type), static_cast<int>(*gpus)};
}

Json parsed(std::string_view text, std::string_view file) {
  if (text.size() > kLargestThroughputs)
    throw UserError(fmt::format("{}: {} bytes are too many for throughputs; the most is {}", file,
                                text.size(), kLargestThroughputs));
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest)
      throw UserError(fmt::format("{}: not Gavel's throughputs: nested too deeply", file));
    return true;
  };
  auto document = Json::parse(text, shallow, false);
  if (!document.is_object())
    throw UserError(fmt::format("{}: not Gavel's throughputs: it is no JSON object, or cut off", file));
  return document;
}

void count_skipped(Throughputs& throughputs, std::string_view what) {
  for (auto& known : throughputs.skipped)
    if (known.what == what) {
      ++known.count;
      return;
    }
  throughputs.skipped.push_back({std::string(what), 1, 0});
}

void add_throughput(Throughputs& throughputs, const std::string& gpu_type, const std::string& key,
                    const Json& entry) {
  const auto work = work_of(key);
  if (!work) return count_skipped(throughputs, "the key is not ('JOB TYPE', GPUS)");
  const auto alone = entry.is_object() ? entry.find("null") : entry.end();
  if (alone == entry.end() || !alone->is_number()) return count_skipped(throughputs, "no throughput alone");
  const double rate = alone->get<double>();
  if (rate == 0) return count_skipped(throughputs, "a throughput of 0: it does not fit there");
  if (!(rate >= kLeastStepsASecond && rate <= kMostStepsASecond))
    return count_skipped(throughputs, "the throughput is out of range");
  throughputs.measured[gpu_type][*work] = rate;
}

}  // namespace

bool is_gavel(std::string_view text) {
  return layout_of(text) != nullptr;
}

Trace read_gavel(std::string_view text, std::string_view file) {
  const Layout* layout = layout_of(text);
  if (layout == nullptr)
    throw UserError(
        fmt::format("{}: not a trace of Gavel's: none of its first {} lines has 7 or 10 fields "
                    "between tabs with steps, GPUs and an arrival time",
                    file, kLinesLookedAt));
  TraceBuilder builder("gavel", file);
  auto table = CsvTable::without_header(text, CsvSeparator::tab, layout->columns);
  while (table.next()) builder.add(gavel_job(table, *layout), table.trouble());
  return builder.finish();
}

std::optional<double> Throughputs::steps_a_second(const std::string& gpu_type, const std::string& job_type,
                                                  int gpus) const {
  const auto of_gpu = measured.find(gpu_type);
  if (of_gpu == measured.end()) return std::nullopt;
  const auto found = of_gpu->second.find({job_type, gpus});
  return found == of_gpu->second.end() ? std::nullopt : std::optional(found->second);
}

bool is_throughputs(std::string_view text) {
  const auto start = text.substr(0, kLongestLine);
  const auto first = start.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || start[first] != '{') return false;
  return start.find("\"('") != std::string_view::npos;
}

Throughputs read_throughputs(std::string_view text, std::string_view file) {
  Throughputs throughputs;
  throughputs.file = file;
  const auto document = parsed(text, file);
  for (const auto& [gpu_type, works] : document.items()) {
    if (!works.is_object()) {
      count_skipped(throughputs, "a GPU type without jobs");
      continue;
    }
    for (const auto& [key, entry] : works.items())
      add_throughput(throughputs, printable(gpu_type, 200), key, entry);
  }
  if (throughputs.measured.empty())
    throw UserError(
        fmt::format("{}: no throughput in it is usable; wanted are GPU type -> "
                    "('JOB TYPE', GPUS) -> {{\"null\": steps a second}}",
                    file));
  return throughputs;
}

std::size_t add_durations(Trace& trace, const Throughputs& throughputs, const std::string& gpu_type) {
  if (!throughputs.measured.contains(gpu_type)) {
    std::vector<std::string> known;
    for (const auto& [type, works] : throughputs.measured) known.push_back(type);
    throw UserError(fmt::format("{}: nothing was measured on GPUs of type '{}'{}; there are {}",
                                throughputs.file, printable(gpu_type, 60), did_you_mean(gpu_type, known),
                                join(known)));
  }
  std::size_t without = 0;
  for (auto& job : trace.jobs) {
    if (job.duration) continue;
    const auto rate = throughputs.steps_a_second(gpu_type, job.application, job.tasks);
    const double seconds = rate && job.steps ? *job.steps / *rate : 0;
    if (seconds > 0 && seconds <= kLongest)
      job.duration = seconds;
    else
      ++without;
  }
  return without;
}

}  // namespace tandem::sim
