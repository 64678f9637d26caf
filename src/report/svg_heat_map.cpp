#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html.h"
#include "report/svg.h"

namespace tandem::report {

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

}  // namespace tandem::report
