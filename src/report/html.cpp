#include "report/html.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace tandem::report {

std::string escape(std::string_view raw, std::size_t most) {
  std::string out;
  for (const char c : printable(raw, most)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string tip(std::string_view text) {
  std::string out;
  for (const char c : escape(text, 600)) c == '\n' ? out += "&#10;" : out += c;
  return " data-t=\"" + out + "\"";
}

std::string number_text(double value) {
  const double size = std::fabs(value);
  // Whole numbers up to a million are said in full: 12345, not 1.234e+04.
  if (size < 1e6 && (size >= 1e3 || value == std::floor(value))) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string short_text(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return number_text(*real);
  return printable(text(value), 40);
}

std::string count_text(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string rate_text(std::string_view counter, double rate) {
  const auto bytes = [](double count) { return text_bytes(static_cast<Bytes>(std::min(count, 9e18))); };
  if (counter == "resident-bytes") return bytes(rate);
  if (counter == "threads") return fmt::format("{:.3g} threads", rate);
  if (counter == "task-clock") return fmt::format("{:.3g} CPU s/s", rate * 1e-9);
  if (counter.ends_with("-time")) return fmt::format("{:.3g} CPU s/s", rate);
  if (counter.starts_with("pressure-")) return fmt::format("{:.3g} % of the time", rate * 100);
  if (counter.ends_with("-bytes") || counter.ends_with("-chars")) return bytes(rate) + "/s";
  return number_text(rate) + " /s";
}

TimeUnit time_unit(Seconds longest) {
  if (longest.value < 180) return {"s", 1};
  if (longest.value < 3 * 3600) return {"min", 60};
  if (longest.value < 3 * 86400) return {"h", 3600};
  return {"d", 86400};
}

Cell number_cell(double value) {
  return {number_text(value), fmt::format("{:.9g}", value)};
}

Cell word_cell(std::string_view word) {
  return {escape(word), {}};
}

Cell no_number() {
  return {"–", {}, true};
}

std::string table(const std::vector<std::string>& headings, const std::vector<std::vector<Cell>>& rows,
                  std::optional<std::size_t> chosen) {
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const bool right = !rows.empty() && i < rows.front().size() && rows.front()[i].right;
    out += (right ? "<th class=\"n\">" : "<th>") + escape(headings[i]) + "</th>";
  }
  out += "</tr></thead><tbody>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += chosen == i ? "<tr class=\"chosen\">" : "<tr>";
    for (const auto& cell : rows[i])
      out += fmt::format("<td{}{}>{}</td>", cell.right ? " class=\"n\"" : "",
                         cell.sort.empty() ? "" : " data-v=\"" + escape(cell.sort) + "\"", cell.html);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string section(std::string_view id, std::string_view title, const std::string& body) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, escape(title), body);
}

std::string nothing(std::string_view why) {
  return "<p class=\"none\">" + escape(why) + "</p>\n";
}

std::string figure(const std::string& svg, std::string_view caption, bool wide) {
  return fmt::format("<figure{}><div class=\"plot\">{}</div><figcaption>{}</figcaption></figure>\n",
                     wide ? " class=\"wide\"" : "", svg, escape(caption));
}

std::string figures(const std::vector<std::string>& all) {
  std::string out = "<div class=\"figures\">\n";
  for (const auto& one : all) out += one;
  return out + "</div>\n";
}

}  // namespace tandem::report
