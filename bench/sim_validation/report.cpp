#include "bench/sim_validation/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>

namespace tandem::bench {
namespace {

constexpr std::size_t kWidth = 118;

// In characters, not bytes: "×" is one.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool is_number(const std::string& cell) {
  return cell.empty() || cell == "–" || cell.find_first_of("0123456789") <= 1;
}

// Of each column: whether it is set to the right.
std::vector<bool> numeric_columns(const Table& table) {
  std::vector<bool> out(table.header.size(), true);
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size() && i < out.size(); ++i) out[i] = out[i] && is_number(row[i]);
  return out;
}

std::string table_text(const Table& table) {
  std::vector<std::size_t> widths;
  for (const auto& name : table.header) widths.push_back(width(name));
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i)
      widths[i] = std::max(widths[i], width(row[i]));
  const auto right = numeric_columns(table);
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out = " ";
    for (std::size_t i = 0; i < cells.size() && i < widths.size(); ++i) {
      const std::string blanks(widths[i] - width(cells[i]), ' ');
      out += ' ' + (right[i] ? blanks + cells[i] : cells[i] + blanks);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + '\n';
  };
  std::string out = table.caption.empty() ? "" : table.caption + ":\n";
  out += line(table.header);
  for (const auto& row : table.rows) out += line(row);
  return out;
}

std::string table_markdown(const Table& table) {
  const auto right = numeric_columns(table);
  const auto line = [](const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
  };
  std::string out = table.caption.empty() ? "" : table.caption + ":\n\n";
  out += line(table.header) + '|';
  for (std::size_t i = 0; i < table.header.size(); ++i) out += right[i] ? "--:|" : "---|";
  out += '\n';
  for (const auto& row : table.rows) out += line(row);
  return out;
}

std::string wrapped(const std::string& paragraph) {
  std::istringstream words(paragraph);
  std::string out, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && width(line) + 1 + width(word) > kWidth) {
      out += line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + line + '\n';
}

std::string without_marks(std::string text) {
  for (auto at = text.find("**"); at != std::string::npos; at = text.find("**", at)) text.erase(at, 2);
  return text;
}

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::held:
      return "held";
    case Verdict::missed:
      return "MISSED";
    case Verdict::not_judged:
      return "not judged";
    case Verdict::absent:
      return "SKIPPED";
  }
  return "?";
}

}  // namespace

std::string summary_line(const Section& section) {
  return fmt::format("{}: {}: {}", section.title, section.summary, word(section.verdict));
}

std::string as_text(const Section& section) {
  std::string out = fmt::format("== {} ==\n", section.title);
  for (const auto& part : section.parts) {
    const auto* table = std::get_if<Table>(&part);
    out += (table ? table_text(*table) : wrapped(without_marks(std::get<std::string>(part)))) + '\n';
  }
  return out + summary_line(section) + "\n\n";
}

std::string as_markdown(const Section& section) {
  std::string out = fmt::format("## {}\n\n**{}**\n\n", section.title, summary_line(section));
  for (const auto& part : section.parts) {
    const auto* table = std::get_if<Table>(&part);
    if (table && table->long_one) continue;
    out += (table ? table_markdown(*table) : wrapped(std::get<std::string>(part))) + '\n';
  }
  return out;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Spread spread(const std::vector<double>& errors) {
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  return {sizes.size(), median(sizes), sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end())};
}

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", std::abs(share) < 5e-4 ? 0.0 : 100 * share);
}

std::string percent(double share, int digits) {
  return fmt::format("{:.{}f} %", 100 * share, digits);
}

std::string plain(double value, int digits) {
  return fmt::format("{:.{}f}", value, digits);
}

std::string short_number(double value) {
  return plain(value, value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

}  // namespace tandem::bench
