#include "report/sim_course.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/sim_names.h"
#include "report/html.h"

namespace tandem::report {

using namespace app;
namespace {

constexpr double kWidth = 1060, kLeft = 150, kRight = 12, kTop = 6, kBottom = 40;
constexpr double kRow = 27, kBar = 13, kThin = 5;
constexpr double kPixel = 0.4;  // gaps below this are not seen

std::vector<Interval>& of(DeviceCourse& course, Doing doing) {
  return course[static_cast<std::size_t>(doing)];
}
const std::vector<Interval>& of(const DeviceCourse& course, Doing doing) {
  return course[static_cast<std::size_t>(doing)];
}

std::optional<Doing> doing_of(sim::Purpose purpose) {
  switch (purpose) {
    case sim::Purpose::forward:
      return Doing::forward;
    case sim::Purpose::backward:
      return Doing::backward;
    case sim::Purpose::update:
      return Doing::update;
    case sim::Purpose::read:
    case sim::Purpose::feed:
      return Doing::reading;
    default:
      break;
  }
  return sim::copies(purpose) ? std::optional(Doing::communicating) : std::nullopt;
}

// Adds `worth` times the share of each slice that the intervals fill.
void fill(Points& slices, const std::vector<Interval>& intervals, double width, double worth) {
  for (const auto& one : intervals) {
    const double last = static_cast<double>(slices.size()) - 1;
    auto slice = static_cast<std::size_t>(std::clamp(std::floor(one.from / width), 0.0, last));
    for (; slice < slices.size(); ++slice) {
      const double begin = static_cast<double>(slice) * width;
      if (begin >= one.to) break;
      slices[slice].second += worth * (std::min(one.to, begin + width) - std::max(one.from, begin)) / width;
    }
  }
}

Points empty_slices(int count, double width) {
  Points out;
  for (int i = 0; i < count; ++i) out.emplace_back(i * width, 0);
  return out;
}

std::vector<Interval> computing(const DeviceCourse& course) {
  std::vector<Interval> out;
  for (const Doing doing : {Doing::forward, Doing::backward, Doing::update})
    out.insert(out.end(), of(course, doing).begin(), of(course, doing).end());
  return joined(std::move(out));
}

struct Bars {
  double seconds;  // of the whole chart
  ShortUnit unit;
  double across(double at) const { return kLeft + at / seconds * (kWidth - kLeft - kRight); }

  std::string of_device(const std::string& name, const DeviceCourse& course, double y) const {
    std::string out = fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text><rect class=\"lane\" x=\"{:.1f}\" "
        "y=\"{:.1f}\" "
        "width=\"{:.1f}\" height=\"{:g}\"/>\n",
        kLeft - 8, y + 12, escape(name, 22), kLeft, y, kWidth - kLeft - kRight, kRow - 5);
    const double gap = kPixel * seconds / (kWidth - kLeft - kRight);
    for (std::size_t doing = 0; doing < kDoings; ++doing) {
      const bool computes = doing <= static_cast<std::size_t>(Doing::update);
      const double top =
          computes ? y + 1 : y + kBar + (doing == static_cast<std::size_t>(Doing::reading) ? 5 : 2);
      for (const auto& one : joined(course[doing], gap))
        out += fmt::format(
            "<rect class=\"dot c{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:g}\"{}/>\n",
            kDoingColours[doing], across(one.from), top, std::max(across(one.to) - across(one.from), 0.5),
            computes                                            ? kBar
            : doing == static_cast<std::size_t>(Doing::reading) ? 3.0
                                                                : kThin - 2,
            tip(fmt::format("{}: {}\n{:.4g} to {:.4g} {}", name, kDoingNames[doing],
                            one.from * unit.in_a_second, one.to * unit.in_a_second, unit.name)));
    }
    return out;
  }

  std::string axis(double y) const {
    std::string out =
        fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kLeft, y, kWidth - kRight);
    for (const auto& [value, label] : ticks(0, seconds * unit.in_a_second, false, 9))
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                         across(value / unit.in_a_second), y + 16, escape(label));
    return out +
           fmt::format(
               "<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">time ({})</text>\n",
               (kLeft + kWidth - kRight) / 2, y + 34, unit.name);
  }
};

}  // namespace

std::vector<Interval> joined(std::vector<Interval> intervals, double gap) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.from < b.from; });
  std::vector<Interval> out;
  for (const auto& one : intervals) {
    if (!out.empty() && one.from - out.back().to <= gap)
      out.back().to = std::max(out.back().to, one.to);
    else
      out.push_back(one);
  }
  return out;
}

std::map<sim::DeviceId, DeviceCourse> courses_of(const Beginning& beginning) {
  std::map<sim::DeviceId, DeviceCourse> out;
  for (const auto& span : beginning.spans) {
    const auto doing = doing_of(span.purpose);
    if (!doing) continue;
    of(out[span.device], *doing).push_back({span.from, span.to});
    if (*doing == Doing::communicating) of(out[span.peer], *doing).push_back({span.from, span.to});
  }
  for (auto& [device, course] : out)
    for (auto& intervals : course) intervals = joined(std::move(intervals));
  return out;
}

SharesOverTime shares_over_time(const SimRow& row, const spec::Cluster& cluster, int slices) {
  const auto courses = courses_of(*row.beginning);
  const double width = row.beginning->seconds / slices;
  SharesOverTime out{empty_slices(slices, width), empty_slices(slices, width), empty_slices(slices, width)};
  double idle = 0;
  for (const auto& device : row.result.devices) {
    const auto found = courses.find(device.device);
    const DeviceCourse course = found == courses.end() ? DeviceCourse{} : found->second;
    const auto busy = computing(course);
    if (device.worker) {
      fill(out.computing, busy, width, 100.0 / row.cell.workload.workers);
      fill(out.communicating, of(course, Doing::communicating), width, 100.0 / row.cell.workload.workers);
    }
    const auto* type = cluster.device(device.type);
    if (!device.joules || type == nullptr) {
      out.watts.reset();
    } else if (out.watts) {
      idle += type->idle_watts;
      fill(*out.watts, busy, width, type->max_watts - type->idle_watts);
    }
  }
  if (out.watts)
    for (auto& [at, watts] : *out.watts) watts += idle;
  return out;
}

ShortUnit short_unit(double longest) {
  if (longest < 2e-3) return {"us", 1e6};
  if (longest < 2) return {"ms", 1e3};
  const auto unit = time_unit(Seconds{longest});
  return {unit.name, 1 / unit.seconds};
}

std::string gantt_svg(const SimRow& row, const spec::Cluster& cluster, std::size_t most,
                      std::size_t* left_out) {
  auto courses = courses_of(*row.beginning);
  *left_out = courses.size() > most ? courses.size() - most : 0;
  const auto shown = std::min(courses.size(), most);
  const double height = kTop + kRow * static_cast<double>(shown) + kBottom;
  const Bars bars{std::max(row.beginning->seconds, 1e-12), short_unit(row.beginning->seconds)};
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"what devices did\">\n", kWidth, height);
  double y = kTop;
  for (const auto& [device, course] : courses) {
    if (y >= kTop + kRow * static_cast<double>(shown) - 1) break;
    const auto name = name_of(cluster, device);
    out += bars.of_device(cluster.node_count() == 1 ? name.device : name.full(), course, y);
    y += kRow;
  }
  return out + bars.axis(y) + "</svg>";
}

}  // namespace tandem::report
