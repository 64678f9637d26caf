// Plots as SVG text: a frame with two axes, and what is drawn into it.
//
// Colours and fonts are classes of the page's style sheet ("c0" … "c9" for series), so that a plot follows
// light and dark. Coordinates are rounded to a tenth to keep pages small; values that are not finite, or not
// above 0 on a logarithmic axis, are left out. Not thread-safe; pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::report {

struct Tick {
  double value = 0;
  std::string label;
};
// About `wanted` round values from low to high; powers of ten, and parts of them, on a logarithmic axis.
std::vector<Tick> ticks(double low, double high, bool log, int wanted, bool whole = false);

struct Axis {
  std::string label;  // with its unit
  double low = 0, high = 1;
  bool log = false;
  std::vector<std::string> names = {};  // words instead of numbers, at 0, 1, 2 …
  bool whole = false;                   // half a core is nothing
};
// An axis that holds all the values with a little room; log only when asked for and all are above 0.
Axis axis_for(std::string label, const std::vector<double>& values, bool log = false, bool from_zero = false);
// An axis of words.
Axis word_axis(std::string label, std::vector<std::string> names);

// Margins grow where labels need more: the left one for long numbers, the one below (and the height) for long
// words.
struct PlotSize {
  double width = 440, height = 270, left = 58, right = 14, top = 12, bottom = 42;
};

// Widens one of two linear axes until a unit is as long on both: for distances in the plane.
void same_scale(Axis& x, Axis& y, const PlotSize&);

using Points = std::vector<std::pair<double, double>>;

class Plot {
 public:
  // `title` is read aloud, not drawn.
  Plot(std::string title, Axis x, Axis y, PlotSize = {});

  void line(const Points&, std::string_view style);
  // Holds each value until the next point.
  void steps(const Points&, std::string_view style);
  void dot(double x, double y, std::string_view style, std::string_view tip, double radius = 3.5);
  // From low to high at x, with caps.
  void whisker(double x, double low, double high, std::string_view style);
  // A box from quartile to quartile with its median, and whiskers; `half` of its width, in the axis' unit.
  struct BoxShape {
    double whisker_low = 0, low = 0, median = 0, high = 0, whisker_high = 0;
  };
  void box(double x, double half, const BoxShape&, std::string_view style, std::string_view tip);
  // A level across the whole plot, with words at its left end.
  void level(double y, std::string_view label);
  // A word beside a point.
  void word(double x, double y, std::string_view text);

  std::string svg() const;

 private:
  bool inside(double x, double y) const;
  double across(double x) const;
  double up(double y) const;
  std::vector<Tick> x_ticks() const;
  std::vector<Tick> y_ticks() const;
  void make_room();
  std::string x_labels() const;
  std::string y_labels() const;
  std::string frame() const;

  std::string title_, body_;
  Axis x_, y_;
  PlotSize size_;
  std::vector<std::string> y_lines_{};  // the label of y, broken where it is longer than the axis
  bool slanted_ = false;                // names below x do not fit side by side
};

// Grey to blue below the row's mean, grey to red above it.
struct HeatRow {
  std::string name;
  std::vector<double> values;      // NaN: not measured
  std::vector<std::string> texts;  // of each value, with its unit
};
// Rows are standardised one by one; a row that does not vary stays grey.
std::string heat_map(std::string_view title, const std::vector<std::string>& columns,
                     const std::vector<HeatRow>& rows, std::string_view column_label);

}  // namespace tandem::report
