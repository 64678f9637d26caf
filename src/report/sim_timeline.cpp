#include "report/sim_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "app/sim_names.h"

namespace tandem::report {

using namespace app;
namespace {

// What a device does at once, each on threads of its own.
enum class Track { computes, sends, reads };
constexpr std::array<const char*, 3> kTrackNames{"computes", "sends", "reads"};

Track track_of(const sim::Span& span) {
  if (sim::computes(span.purpose)) return Track::computes;
  const bool reads = span.purpose == sim::Purpose::read || span.purpose == sim::Purpose::feed;
  return reads ? Track::reads : Track::sends;
}

std::string quoted_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class Writer {
 public:
  explicit Writer(const spec::SimJob& job) : job_(job) {}

  void add(const SimRow& row) {
    std::map<std::pair<sim::DeviceId, Track>, std::vector<const sim::Span*>> tracks;
    for (const auto& span : row.beginning->spans) tracks[{span.device, track_of(span)}].push_back(&span);
    processes_.clear();
    for (const auto& [key, spans] : tracks) add_track(row, key.first, key.second, spans);
  }

  std::string text() const {
    return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" + events_ + "\n]}\n";
  }

 private:
  void add_track(const SimRow& row, sim::DeviceId device, Track track,
                 const std::vector<const sim::Span*>& spans) {
    const auto name = name_of(job_.cluster, device);
    const int process = process_of(row, name.node);
    std::vector<Interval> intervals;
    for (const auto* span : spans) intervals.push_back({span->from, span->to});
    const auto lanes = lanes_of(intervals);
    const int first = next_thread_;
    const auto count = static_cast<int>(*std::max_element(lanes.begin(), lanes.end())) + 1;
    next_thread_ += count;
    for (int lane = 0; lane < count; ++lane)
      describe_thread(process, first + lane,
                      fmt::format("{} {}{}", name.device, kTrackNames[static_cast<std::size_t>(track)],
                                  count > 1 ? fmt::format(" {}", lane + 1) : ""));
    for (std::size_t i = 0; i < spans.size(); ++i)
      add_span(row, *spans[i], process, first + static_cast<int>(lanes[i]));
  }

  int process_of(const SimRow& row, const std::string& node) {
    const auto [found, fresh] = processes_.try_emplace(node, next_process_);
    if (!fresh) return found->second;
    ++next_process_;
    put(fmt::format(R"({{"ph": "M", "name": "process_name", "pid": {}, "args": {{"name": {}}}}})",
                    found->second, quoted_json(row.cell.label() + ": " + node)));
    put(fmt::format(
        R"({{"ph": "M", "name": "process_sort_index", "pid": {0}, "args": {{"sort_index": {0}}}}})",
        found->second));
    return found->second;
  }

  void describe_thread(int process, int thread, const std::string& name) {
    put(fmt::format(R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": {}}}}})",
                    process, thread, quoted_json(name)));
    put(fmt::format(
        R"({{"ph": "M", "name": "thread_sort_index", "pid": {0}, "tid": {1}, "args": {{"sort_index": {1}}}}})",
        process, thread));
  }

  void add_span(const SimRow& row, const sim::Span& span, int process, int thread) {
    put(fmt::format(
        R"({{"ph": "X", "name": {}, "cat": "{}", "ts": {:.6f}, "dur": {:.6f}, "pid": {}, "tid": {}}})",
        quoted_json(span_text(span, *row.cell.model, job_.cluster)), sim::name(span.purpose), span.from * 1e6,
        (span.to - span.from) * 1e6, process, thread));
  }

  void put(const std::string& event) {
    if (!events_.empty()) events_ += ",\n";
    events_ += event;
  }

  const spec::SimJob& job_;
  std::string events_;
  std::map<std::string, int> processes_;  // of this row, by node
  int next_process_ = 1, next_thread_ = 1;
};

}  // namespace

std::vector<std::size_t> lanes_of(const std::vector<Interval>& intervals) {
  std::vector<std::size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(intervals[a].from, intervals[a].to) < std::tie(intervals[b].from, intervals[b].to);
  });
  std::vector<double> free_at;
  std::vector<std::size_t> lanes(intervals.size(), 0);
  for (const std::size_t i : order) {
    std::size_t lane = 0;
    while (lane < free_at.size() && free_at[lane] > intervals[i].from) ++lane;
    if (lane == free_at.size()) free_at.push_back(0);
    free_at[lane] = intervals[i].to;
    lanes[i] = lane;
  }
  return lanes;
}

std::string timeline_json(const spec::SimJob& job, const std::vector<SimRow>& rows) {
  Writer writer(job);
  for (const auto& row : rows)
    if (row.beginning) writer.add(row);
  return writer.text();
}

}  // namespace tandem::report
