// Who ran on which cores when.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "report/html.h"
#include "report/parts.h"
#include "report/svg.h"

namespace tandem::report {

using namespace app;
namespace {

constexpr std::size_t kMostBars = 3000;
constexpr double kCoresLeft = 58, kCoresRight = 12, kCoresWidth = 820, kCoresTop = 4, kCoresBottom = 42;

// A stretch of one trial on some cores: an epoch, or several like ones where there are too many to draw.
struct Bar {
  const TaskView* task = nullptr;
  std::size_t first = 0, last = 0;  // epochs
  double from = 0, until = 0;       // seconds since the start
  double startup = 0;
  int cores = 1;
  Phase phase = Phase::none;
  std::vector<int> lanes;
};

std::vector<Bar> bars_of(const Tuned& run) {
  std::vector<Bar> bars;
  for (const auto& task : run.view.tasks) {
    if (task.job != run.job.id) continue;
    for (std::size_t i = 0; i < task.epochs.size(); ++i) {
      const auto& record = task.epochs[i];
      const double until = (record.at - run.from).value;
      bars.push_back({&task,
                      i,
                      i,
                      std::max(0.0, until - record.seconds.value),
                      until,
                      record.startup.value,
                      std::max(1, record.granted.cores),
                      record.phase,
                      {}});
    }
  }
  return bars;
}

// Joins what follows each other on the same cores in the same phase.
std::vector<Bar> joined_bars(const std::vector<Bar>& bars, double gap) {
  std::vector<Bar> out;
  for (const Bar& bar : bars) {
    if (!out.empty() && out.back().task == bar.task && out.back().cores == bar.cores &&
        out.back().phase == bar.phase && bar.from - out.back().until <= gap) {
      out.back().last = bar.last;
      out.back().until = bar.until;
    } else {
      out.push_back(bar);
    }
  }
  return out;
}

// The journal keeps how many cores an epoch had, not which: bars are laid out so that none overlap, a trial
// staying on its lanes where it can.
void choose_lanes(std::vector<Bar>& bars, const std::vector<int>& first_lane, const std::vector<int>& lanes) {
  std::vector<double> free_at;
  for (const int count : lanes) free_at.insert(free_at.end(), static_cast<std::size_t>(count), 0.0);
  std::map<TaskId, std::vector<int>> last;
  std::vector<std::size_t> order(bars.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return bars[a].from < bars[b].from; });
  for (const std::size_t i : order) {
    Bar& bar = bars[i];
    const auto node = static_cast<std::size_t>(bar.task->node) < lanes.size() ? bar.task->node : 0;
    const auto& before = last[bar.task->id];
    std::vector<int> choice;
    for (int lane = 0; lane < lanes[node]; ++lane) choice.push_back(first_lane[node] + lane);
    const double soon = bar.from + 0.02 * (bar.until - bar.from);
    std::stable_sort(choice.begin(), choice.end(), [&](int a, int b) {
      const auto rank = [&](int lane) {
        const double free = free_at[static_cast<std::size_t>(lane)];
        const bool mine = std::find(before.begin(), before.end(), lane) != before.end();
        return std::tuple(free > soon, free > soon ? free : 0.0, !mine);
      };
      return rank(a) < rank(b);
    });
    choice.resize(std::min<std::size_t>(choice.size(), static_cast<std::size_t>(bar.cores)));
    std::sort(choice.begin(), choice.end());
    for (const int lane : choice) free_at[static_cast<std::size_t>(lane)] = bar.until;
    last[bar.task->id] = bar.lanes = choice;
  }
}

std::string phase_pattern(Phase phase) {
  switch (phase) {
    case Phase::profiling:
      return "hatch";
    case Phase::probing:
      return "dots";
    case Phase::reusing:
      return "rows";
    default:
      return "";
  }
}

const char* const kPatterns =
    "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect width=\"2\" height=\"6\" fill=\"#fff\" "
    "fill-opacity=\".55\"/></pattern>"
    "<pattern id=\"dots\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><circle cx=\"3\" cy=\"3\" "
    "r=\"1.4\" fill=\"#fff\" fill-opacity=\".75\"/></pattern>"
    "<pattern id=\"rows\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect width=\"6\" "
    "height=\"1.8\" "
    "fill=\"#fff\" fill-opacity=\".6\"/></pattern></defs>\n";

class Gantt {
 public:
  Gantt(const Tuned& run, std::vector<Bar> bars, int lanes, bool by_rung)
      : run_(run), bars_(std::move(bars)), by_rung_(by_rung) {
    height_ = lanes <= 4 ? 46 : lanes <= 16 ? 22 : std::max(3.0, 352.0 / lanes);
    unit_ = time_unit(run.until - run.from);
    span_ = std::max((run.until - run.from).value, 1e-9);
    lanes_ = lanes;
  }

  std::string svg() const {
    const double floor = kCoresTop + height_ * lanes_;
    std::string out =
        fmt::format("<svg viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"cores over time\">\n{}",
                    kCoresWidth, floor + kCoresBottom, kPatterns);
    for (int lane = 0; lane < lanes_; ++lane) {
      out += fmt::format("<rect class=\"lane\" x=\"{:g}\" y=\"{:.1f}\" width=\"{:g}\" height=\"{:.1f}\"/>\n",
                         kCoresLeft, top(lane) + 1, kCoresWidth - kCoresLeft - kCoresRight, height_ - 2);
      if (lanes_ <= 16 || lane % (1 + lanes_ / 16) == 0)
        out += fmt::format("<text x=\"{:g}\" y=\"{:.1f}\" text-anchor=\"end\">core {}</text>\n",
                           kCoresLeft - 6, top(lane) + height_ / 2 + 4, lane);
    }
    for (const Bar& bar : bars_) out += drawn(bar);
    out += failures();
    for (const auto& tick : ticks(0, span_ / unit_.seconds, false, 10))
      out += fmt::format(
          "<path class=\"axis\" d=\"M{0:.1f} {1:.1f}v4\"/><text x=\"{0:.1f}\" y=\"{2:.1f}\" "
          "text-anchor=\"middle\">{3}</text>\n",
          x(tick.value * unit_.seconds), floor, floor + 17, escape(tick.label));
    out += fmt::format(
        "<text class=\"name\" x=\"{:g}\" y=\"{:.1f}\" text-anchor=\"middle\">tuning time ({})</text>\n",
        (kCoresLeft + kCoresWidth - kCoresRight) / 2, floor + 35, unit_.name);
    return out + "</svg>";
  }

 private:
  double x(double seconds) const {
    return kCoresLeft + std::clamp(seconds / span_, 0.0, 1.0) * (kCoresWidth - kCoresLeft - kCoresRight);
  }
  double top(int lane) const { return kCoresTop + height_ * lane; }

  std::string about(const Bar& bar) const {
    const auto& record = bar.task->epochs[bar.last];
    const std::string epochs =
        bar.first == bar.last
            ? fmt::format("epoch {}", record.epoch)
            : fmt::format("epochs {} to {}", bar.task->epochs[bar.first].epoch, record.epoch);
    return fmt::format("{}\n{}: {} on {}{}{}", run_.about(*bar.task), epochs,
                       text(Seconds{bar.until - bar.from}), text(record.granted),
                       bar.startup > 0 ? fmt::format(", of it {} start-up", text(Seconds{bar.startup})) : "",
                       bar.phase == Phase::none ? "" : fmt::format("\nsystem tuner: {}", name(bar.phase)));
  }

  // Did it come back to the cores just then? Then it is worth a number.
  bool begins(const Bar& bar) const {
    if (bar.first == 0) return true;
    return bar.from - (bar.task->epochs[bar.first - 1].at - run_.from).value > 0.003 * span_;
  }

  std::string drawn(const Bar& bar) const {
    std::string out;
    const double left = x(bar.from), right = std::max(x(bar.until), left + 0.6);
    const bool chosen = run_.best_task() == bar.task;
    const std::string look = fmt::format("bar {}{}", colour(by_rung_ ? bar.task->trial->rung : bar.task->id),
                                         chosen ? " chosen" : "");
    // Lanes side by side are one box.
    for (std::size_t i = 0; i < bar.lanes.size();) {
      std::size_t end = i + 1;
      while (end < bar.lanes.size() && bar.lanes[end] == bar.lanes[end - 1] + 1) ++end;
      const double y = top(bar.lanes[i]) + 2, h = height_ * static_cast<double>(end - i) - 4;
      const auto box = [&](const std::string& style, double from, double to, const std::string& more) {
        return fmt::format(
            "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"{}/>\n", style,
            from, y, std::max(0.4, to - from), std::max(1.0, h), more);
      };
      const double ready = std::min(right, x(bar.from + bar.startup));
      if (ready - left > 0.5) out += box(look + " start", left, ready, tip(about(bar)));
      out += box(look, std::max(left, ready), right, tip(about(bar)));
      if (const auto pattern = phase_pattern(bar.phase); !pattern.empty() && right - left > 2)
        out += box(pattern, std::max(left, ready), right, " pointer-events=\"none\"");
      if (begins(bar) && right - std::max(left, ready) > 14 && h > 11)
        out += fmt::format("<text class=\"inbar\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                           std::max(left, ready) + 2.5, y + std::min(h - 3, 14.0), bar.task->id);
      i = end;
    }
    return out;
  }

  std::string failures() const {
    std::map<TaskId, const Bar*> last;
    for (const Bar& bar : bars_) last[bar.task->id] = &bar;
    std::string out;
    for (const auto& [id, bar] : last) {
      if (bar->task->state != TaskState::failed || bar->lanes.empty()) continue;
      out +=
          fmt::format("<path class=\"cross\" d=\"M{0:.1f} {1:.1f}l8 8m0 -8l-8 8\"{2}/>\n", x(bar->until) - 4,
                      top(bar->lanes.front()) + height_ / 2 - 4, tip(fmt::format("trial {} failed", id)));
    }
    return out;
  }

  const Tuned& run_;
  std::vector<Bar> bars_;
  bool by_rung_;
  double height_ = 20, span_ = 1;
  int lanes_ = 1;
  TimeUnit unit_;
};

std::string gantt_key(const std::vector<Bar>& bars, bool by_rung) {
  std::set<std::int64_t> rungs;
  std::set<Phase> phases;
  bool startup = false;
  for (const Bar& bar : bars) {
    rungs.insert(bar.task->trial->rung);
    phases.insert(bar.phase);
    startup |= bar.startup > 0;
  }
  std::string out = "<div class=\"key\">";
  if (by_rung)
    for (const auto rung : rungs)
      out += fmt::format("<span class=\"{}\"><i></i>reached rung {}</span>", colour(rung), rung);
  for (const Phase phase : phases) {
    const auto pattern = phase_pattern(phase);
    if (pattern.empty()) continue;
    out += fmt::format(
        "<span><svg viewBox=\"0 0 22 12\"><rect class=\"bar c7\" width=\"22\" height=\"12\" rx=\"3\"/>"
        "<rect class=\"{}\" width=\"22\" height=\"12\"/></svg>{}</span>",
        pattern, name(phase));
  }
  if (startup)
    out +=
        "<span><svg viewBox=\"0 0 22 12\"><rect class=\"bar start c7\" width=\"22\" height=\"12\" "
        "rx=\"3\"/></svg>start-up</span>";
  return out + "</div>\n";
}

}  // namespace

std::string cores_section(const Tuned& run) {
  const std::string title = "Cores over time";
  std::vector<Bar> bars = bars_of(run);
  if (bars.empty())
    return section("cores", title, nothing("No epoch has ended, so no core was seen at work."));
  if (bars.size() > kMostBars) bars = joined_bars(bars, 0.002 * (run.until - run.from).value);
  std::size_t left_out = 0;
  if (bars.size() > kMostBars) {
    std::vector<double> lengths;
    for (const Bar& bar : bars) lengths.push_back(bar.until - bar.from);
    std::nth_element(lengths.begin(), lengths.begin() + kMostBars, lengths.end(), std::greater<>());
    const double shortest = lengths[kMostBars];
    left_out = std::erase_if(bars, [&](const Bar& bar) { return bar.until - bar.from <= shortest; });
  }
  std::vector<int> first, lanes;
  int total = 0;
  for (const auto& node : run.view.nodes) {
    first.push_back(total);
    lanes.push_back(std::max(1, node.capacity.cores));
    total += lanes.back();
  }
  if (lanes.empty()) {
    for (const Bar& bar : bars) total = std::max(total, bar.cores);
    first.push_back(0), lanes.push_back(total);
  }
  choose_lanes(bars, first, lanes);
  std::set<std::int64_t> rungs;
  for (const Bar& bar : bars) rungs.insert(bar.task->trial->rung);
  const bool by_rung = rungs.size() > 1;
  double busy = 0;
  for (const Bar& bar : bars) busy += (bar.until - bar.from) * static_cast<double>(bar.lanes.size());
  const double span = std::max((run.until - run.from).value, 1e-9);
  std::string caption = fmt::format(
      "{} cores, in use {:.0f} % of the time. One bar an epoch, numbered by trial, {}; the best trial is "
      "outlined. "
      "How many cores an epoch had is measured; on which line it is drawn is not.",
      total, 100 * std::min(1.0, busy / (span * total)),
      by_rung ? "coloured by the highest rung the trial reached" : "colours only keep trials apart");
  if (left_out > 0) caption += fmt::format(" {} of the shortest bars are left out.", left_out);
  if (run.found.tuning.value > 0 && span > 1.2 * run.found.tuning.value)
    caption += fmt::format(" Tandem was at work on this for {} of the {} shown.", text(run.found.tuning),
                           text(Seconds{span}));
  const std::string key = gantt_key(bars, by_rung);
  return section("cores", title,
                 key + figure(Gantt(run, std::move(bars), total, by_rung).svg(), caption, true));
}

}  // namespace tandem::report
