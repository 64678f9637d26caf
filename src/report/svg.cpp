#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/text.h"
#include "report/html.h"
#include "report/text_table.h"

namespace tandem::report {
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
    : title_(std::move(title)), x_(std::move(x)), y_(std::move(y)), size_(size) {
  make_room();
}

bool Plot::inside(double x, double y) const {
  return std::isfinite(x) && std::isfinite(y) && (!x_.log || x > 0) && (!y_.log || y > 0);
}

namespace {

// Of the widest usual letters (DejaVu Sans) at 12 pixels: a digit, and the height of a line.
constexpr double kCharacter = 7.6, kLine = 14;
constexpr int kLongestName = 20;
constexpr double kSlant = 40;  // degrees, of names that do not fit side by side

double share(const Axis& axis, double value) {
  if (!(axis.high > axis.low)) return 0.5;
  if (axis.log) return std::log(value / axis.low) / std::log(axis.high / axis.low);
  return (value - axis.low) / (axis.high - axis.low);
}

std::vector<Tick> ticks_of(const Axis& axis, int wanted) {
  if (axis.names.empty()) return ticks(axis.low, axis.high, axis.log, wanted, axis.whole);
  std::vector<Tick> out;
  for (std::size_t i = 0; i < axis.names.size(); ++i)
    out.push_back({static_cast<double>(i), characters(axis.names[i]) > kLongestName
                                               ? cut_to(axis.names[i], kLongestName - 2) + ".."
                                               : axis.names[i]});
  return out;
}

double widest(const std::vector<Tick>& ticks) {
  std::size_t most = 0;
  for (const auto& tick : ticks) most = std::max(most, characters(tick.label));
  return kCharacter * static_cast<double>(most);
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

std::vector<Tick> Plot::y_ticks() const {
  return ticks_of(y_, std::max(2, static_cast<int>((size_.height - size_.bottom) / 44)));
}

std::vector<Tick> Plot::x_ticks() const {
  return ticks_of(x_, std::max(2, static_cast<int>((size_.width - size_.left - size_.right) / 60)));
}

void Plot::make_room() {
  const double high = size_.height - size_.top - size_.bottom;
  if (!y_.label.empty())
    y_lines_ = wrapped(y_.label, static_cast<std::size_t>(std::max(1.0, high / kCharacter)));
  size_.left = std::max(size_.left, kLine * static_cast<double>(y_lines_.size()) + widest(y_ticks()) + 11);
  if (x_.names.empty()) return;
  const double each = (size_.width - size_.left - size_.right) / static_cast<double>(x_.names.size());
  const double longest = widest(x_ticks());
  slanted_ = longest > each;
  if (!slanted_) return;
  const double angle = kSlant * std::numbers::pi / 180, below = longest * std::sin(angle) - kLine / 2;
  size_.height += below, size_.bottom += below;
  size_.left = std::max(size_.left, longest * std::cos(angle) - each / 2);
}

std::string Plot::x_labels() const {
  const double floor = size_.height - size_.bottom, right = size_.width - size_.right;
  const auto below = x_ticks();
  // Even slanted, a name needs a line's height: of very many only some fit.
  const auto most = static_cast<std::size_t>(std::max(1.0, (right - size_.left) / (kLine * 1.5)));
  const std::size_t every = slanted_ ? 1 + (below.size() - 1) / most : 1;
  std::string out;
  for (std::size_t i = 0; i < below.size(); i += every) {
    const double x = across(below[i].value);
    const std::string where =
        slanted_ ? fmt::format("transform=\"translate({:.1f} {:.1f}) rotate(-{:g})\" text-anchor=\"end\"",
                               x + 4, floor + 12, kSlant)
                 : fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\"", x, floor + 16);
    out += fmt::format("<text {}>{}</text>\n", where, escape(below[i].label));
  }
  return out +
         fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                     (size_.left + right) / 2, size_.height - 6, escape(x_.label));
}

std::string Plot::y_labels() const {
  const double right = size_.width - size_.right, floor = size_.height - size_.bottom;
  std::string out;
  for (const auto& [value, label] : y_ticks()) {
    out += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/>", size_.left, up(value), right);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", size_.left - 6,
                       up(value) + 4, escape(label));
  }
  for (std::size_t i = 0; i < y_lines_.size(); ++i)
    out += fmt::format(
        "<text class=\"name\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\" "
        "text-anchor=\"middle\">{}</text>\n",
        kLine * static_cast<double>(i + 1) - 3, (size_.top + floor) / 2, escape(y_lines_[i]));
  return out;
}

std::string Plot::frame() const {
  return y_labels() + x_labels() +
         fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", size_.left, size_.top,
                     size_.height - size_.bottom, size_.width - size_.right);
}

std::string Plot::svg() const {
  return fmt::format("<svg viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"{}\">\n{}{}</svg>",
                     size_.width, size_.height, escape(title_), frame(), body_);
}

}  // namespace tandem::report
