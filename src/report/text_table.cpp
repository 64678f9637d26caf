#include "report/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace tandem::report {
using nlohmann::json;

std::string text_table(const std::vector<std::vector<std::string>>& given, std::size_t left) {
  auto rows = given;  // nothing in a cell may begin a line, or act on a terminal
  for (auto& row : rows)
    for (auto& cell : row) cell = printable_line(cell);
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i >= widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += i < left ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string word(const json& value) {
  return value.is_string() ? value.get<std::string>() : "-";
}

std::string columns(const std::vector<std::vector<std::string>>& rows) {
  return text_table(rows, rows.front().size());
}

std::string cut_to(const std::string& text, int columns) {
  std::string cut;
  int used = 0;
  for (const char c : text) {
    const bool starts_character = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (starts_character && ++used > columns) break;
    cut += c;
  }
  return cut;
}

}  // namespace tandem::report
