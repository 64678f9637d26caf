#include "cli/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/html.h"

namespace tandem::cli {
namespace {

// 1, 2 or 5 times a power of ten: the smallest that is not below `rough`.
double round_step(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= rough * (1 - 1e-9)) return times * power;
  return 10 * power;
}

std::string tick_text(double value, double step) {
  if (std::fabs(value) < step * 1e-6) return "0";
  const double size = std::max(std::fabs(value), step);
  if (size >= 1e6 || size < 1e-3) return fmt::format("{:g}", value);
  const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  return fmt::format("{:.{}f}", value, digits);
}

std::vector<Tick> log_ticks(double low, double high, int wanted) {
  const double decades = std::log10(high / low);
  std::vector<double> parts{1};
  if (decades < 1.5)
    parts = {1, 2, 3, 5};
  else if (decades < 2.5)
    parts = {1, 3};
  const int every = std::max(1, static_cast<int>(std::ceil(decades / (wanted + 2))));
  std::vector<Tick> out;
  for (int power = static_cast<int>(std::floor(std::log10(low))); power <= std::ceil(std::log10(high));
       power += every)
    for (const double part : parts) {
      const double value = part * std::pow(10, power);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9))
        out.push_back({value, fmt::format("{:g}", value)});
    }
  return out;
}

}  // namespace

std::vector<Tick> ticks(double low, double high, bool log, int wanted, bool whole) {
  if (!(high > low)) return {{low, number_text(low)}};
  if (log) {
    auto out = log_ticks(low, high, wanted);
    if (out.size() >= 2) return out;  // else: hardly a factor apart, as good as linear
  }
  const double step = std::max(round_step((high - low) / wanted), whole ? 1.0 : 0.0);
  std::vector<Tick> out;
  for (double value = std::ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step)
    out.push_back({value, tick_text(value, step)});
  return out;
}

Axis axis_for(std::string label, const std::vector<double>& values, bool log, bool from_zero) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool positive = true;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
    positive &= value > 0;
  }
  if (!(low <= high)) return {std::move(label)};
  if (log && positive && high > low) {
    const double room = std::pow(high / low, 0.04);
    return {std::move(label), low / room, high * room, true};
  }
  if (from_zero && low >= 0) return {std::move(label), 0, high > 0 ? high * 1.06 : 1};
  const double room = high > low ? 0.06 * (high - low) : std::max(std::fabs(high) * 0.1, 1e-3);
  // Room below 0 looks as if there could be values.
  return {std::move(label), low >= 0 ? std::max(0.0, low - room) : low - room, high + room};
}

Axis word_axis(std::string label, std::vector<std::string> names) {
  const double last = static_cast<double>(names.size()) - 0.5;
  return {std::move(label), -0.5, last, false, std::move(names)};
}

void same_scale(Axis& x, Axis& y, const PlotSize& size) {
  const double wide = size.width - size.left - size.right, high = size.height - size.top - size.bottom;
  const double unit = std::max((x.high - x.low) / wide, (y.high - y.low) / high);
  for (const auto& [axis, length] : {std::pair(&x, wide), std::pair(&y, high)}) {
    const double room = (unit * length - (axis->high - axis->low)) / 2;
    axis->low -= room;
    axis->high += room;
  }
}

Plot::Plot(std::string title, Axis x, Axis y, PlotSize size)
    : title_(std::move(title)), x_(std::move(x)), y_(std::move(y)), size_(size) {}

bool Plot::inside(double x, double y) const {
  return std::isfinite(x) && std::isfinite(y) && (!x_.log || x > 0) && (!y_.log || y > 0);
}

namespace {

double share(const Axis& axis, double value) {
  if (!(axis.high > axis.low)) return 0.5;
  if (axis.log) return std::log(value / axis.low) / std::log(axis.high / axis.low);
  return (value - axis.low) / (axis.high - axis.low);
}

std::vector<Tick> ticks_of(const Axis& axis, int wanted) {
  if (axis.names.empty()) return ticks(axis.low, axis.high, axis.log, wanted, axis.whole);
  std::vector<Tick> out;
  for (std::size_t i = 0; i < axis.names.size(); ++i) {
    std::string name = axis.names[i];
    if (name.size() > 14) name = name.substr(0, 12) + "..";
    out.push_back({static_cast<double>(i), name});
  }
  return out;
}

}  // namespace

double Plot::across(double x) const {
  return size_.left + share(x_, x) * (size_.width - size_.left - size_.right);
}

double Plot::up(double y) const {
  return size_.height - size_.bottom - share(y_, y) * (size_.height - size_.top - size_.bottom);
}

void Plot::line(const Points& points, std::string_view style) {
  std::string path;
  for (const auto& [x, y] : points)
    if (inside(x, y)) path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", across(x), up(y));
  if (!path.empty()) body_ += fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", style, path);
}

void Plot::steps(const Points& points, std::string_view style) {
  std::string path;
  for (const auto& [x, y] : points) {
    if (!inside(x, y)) continue;
    path += path.empty() ? fmt::format("M{:.1f} {:.1f}", across(x), up(y))
                         : fmt::format("H{:.1f}V{:.1f}", across(x), up(y));
  }
  if (!path.empty()) body_ += fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", style, path);
}

void Plot::dot(double x, double y, std::string_view style, std::string_view about, double radius) {
  if (!inside(x, y)) return;
  body_ += fmt::format("<circle class=\"dot {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.3g}\"{}/>\n", style,
                       across(x), up(y), radius, about.empty() ? "" : tip(about));
}

void Plot::whisker(double x, double low, double high, std::string_view style) {
  if (!inside(x, low) || !inside(x, high)) return;
  body_ += fmt::format(
      "<path class=\"line {0}\" d=\"M{1:.1f} {2:.1f}V{3:.1f}M{4:.1f} {2:.1f}h6M{4:.1f} {3:.1f}h6\"/>\n",
      style, across(x), up(low), up(high), across(x) - 3);
}

void Plot::box(double x, double half, const BoxShape& shape, std::string_view style,
               std::string_view tip_text) {
  if (!inside(x, shape.whisker_low) || !inside(x, shape.whisker_high)) return;
  const double left = across(x - half), right = across(x + half);
  whisker(x, shape.whisker_low, shape.low, style);
  whisker(x, shape.high, shape.whisker_high, style);
  body_ += fmt::format(
      "<rect class=\"dot {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "fill-opacity=\"0.35\"{}/>\n",
      style, left, up(shape.high), right - left, std::max(up(shape.low) - up(shape.high), 0.5),
      tip(tip_text));
  line({{x - half, shape.median}, {x + half, shape.median}}, style);
}

void Plot::level(double y, std::string_view label) {
  if (!inside(x_.low, y) || y < y_.low || y > y_.high) return;
  body_ += fmt::format(
      "<path class=\"level\" d=\"M{:.1f} {:.1f}H{:.1f}\"/><text class=\"note\" x=\"{:.1f}\" "
      "y=\"{:.1f}\">{}</text>\n",
      size_.left, up(y), size_.width - size_.right, size_.left + 6, up(y) - 5, escape(label));
}

void Plot::word(double x, double y, std::string_view text) {
  if (!inside(x, y)) return;
  const bool right = across(x) > size_.width * 0.7;
  body_ +=
      fmt::format("<text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n",
                  across(x) + (right ? -7 : 7), up(y) - 6, right ? " text-anchor=\"end\"" : "", escape(text));
}

std::string Plot::frame() const {
  const double right = size_.width - size_.right, floor = size_.height - size_.bottom;
  std::string out;
  const int columns = static_cast<int>((right - size_.left) / 60), rows = static_cast<int>(floor / 44);
  for (const auto& [value, label] : ticks_of(y_, std::max(2, rows))) {
    out += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/>", size_.left, up(value), right);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", size_.left - 6,
                       up(value) + 4, escape(label));
  }
  const auto below = ticks_of(x_, std::max(2, columns));
  // Many words: only some of them fit.
  const std::size_t every =
      x_.names.empty() ? 1 : 1 + x_.names.size() / static_cast<std::size_t>(columns + 3);
  for (std::size_t i = 0; i < below.size(); i += every)
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                       across(below[i].value), floor + 16, escape(below[i].label));
  out += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", size_.left, size_.top,
                     floor, right);
  out += fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                     (size_.left + right) / 2, size_.height - 6, escape(x_.label));
  out += fmt::format(
      "<text class=\"name\" transform=\"translate(13 {:.1f}) rotate(-90)\" "
      "text-anchor=\"middle\">{}</text>\n",
      (size_.top + floor) / 2, escape(y_.label));
  return out;
}

std::string Plot::svg() const {
  return fmt::format("<svg viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"{}\">\n{}{}</svg>",
                     size_.width, size_.height, escape(title_), frame(), body_);
}

std::string heat_map(std::string_view title, const std::vector<std::string>& columns,
                     const std::vector<HeatRow>& rows, std::string_view column_label) {
  constexpr double kLeft = 150, kWidth = 900, kRow = 17, kTop = 6, kBottom = 36;
  const double cell = std::min(46.0, (kWidth - kLeft - 10) / std::max<std::size_t>(1, columns.size()));
  const double height = kTop + kRow * static_cast<double>(rows.size()) + kBottom;
  const double width = std::max(460.0, kLeft + cell * static_cast<double>(columns.size()) + 10);
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {:g} {:g}\" style=\"max-width:{:g}px;min-width:{:g}px\" role=\"img\" "
      "aria-label=\"{}\">\n",
      width, height, width * 1.15, std::min(680.0, width), escape(title));
  double y = kTop;
  for (const auto& row : rows) {
    double sum = 0, squares = 0, count = 0;
    for (const double value : row.values)
      if (std::isfinite(value)) sum += value, ++count;
    const double mean = count > 0 ? sum / count : 0;
    for (const double value : row.values)
      if (std::isfinite(value)) squares += (value - mean) * (value - mean);
    const double deviation = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6, y + 12.5,
                       escape(row.name, 26));
    for (std::size_t i = 0; i < row.values.size() && i < columns.size(); ++i) {
      if (!std::isfinite(row.values[i])) continue;
      // Below a hundredth of a percent it is rounding.
      const double z = deviation > 1e-4 * std::fabs(mean) ? (row.values[i] - mean) / deviation : 0;
      out += fmt::format(
          "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:g}\" "
          "fill-opacity=\"{:.2f}\"{}/>\n",
          z > 0 ? "hot" : "cold", kLeft + cell * static_cast<double>(i), y, cell - (cell > 8 ? 1 : 0.2),
          kRow - 1, 0.08 + 0.92 * std::min(1.0, std::fabs(z) / 2.2),
          tip(fmt::format("{}, {}\n{} ({:+.1f} deviations)", row.name, columns[i], row.texts[i], z)));
    }
    y += kRow;
  }
  const std::size_t every = 1 + static_cast<std::size_t>(34 / std::max(cell, 1.0));
  for (std::size_t i = 0; i < columns.size(); i += every) {
    const std::string last = columns[i].substr(columns[i].find_last_of(' ') + 1);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                       kLeft + cell * (static_cast<double>(i) + 0.5), y + 14, escape(last, 12));
  }
  out += fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n</svg>", kLeft, y + 30,
                     escape(column_label));
  return out;
}

}  // namespace tandem::cli
