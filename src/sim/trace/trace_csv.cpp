#include "sim/trace/trace_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <chrono>
#include <cmath>
#include <numeric>
#include <system_error>

#include "base/error.h"
#include "base/text.h"

namespace tandem::sim {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr const char* kTooLong = "the line is longer than 64 KiB";
constexpr const char* kTooMany = "the line has more than 256 fields";
constexpr std::size_t kShown = 40;  // bytes of a field in a message

// From the opening quote at `at`; leaves `at` behind the closing one.
bool unquote(std::string_view line, std::size_t& at, std::string& field) {
  for (++at; at < line.size(); ++at) {
    if (line[at] != '"') {
      field += line[at];
    } else if (at + 1 < line.size() && line[at + 1] == '"') {
      field += '"';
      ++at;
    } else {
      ++at;
      return true;
    }
  }
  return false;
}

const char* split_words(std::string_view line, std::vector<std::string>& fields) {
  for (auto at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    if (fields.size() == kMostFields) return kTooMany;
    const auto end = std::min(line.find_first_of(kBlanks, at), line.size());
    fields.emplace_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return nullptr;
}

// Quotes mean something in CSV only: commands in a TSV are full of them.
const char* split_separated(std::string_view line, char separator, std::vector<std::string>& fields) {
  const bool quotes = separator == ',';
  for (std::size_t at = 0;; ++at) {
    if (fields.size() == kMostFields) return kTooMany;
    std::string& field = fields.emplace_back();
    if (quotes && at < line.size() && line[at] == '"') {
      if (!unquote(line, at, field)) return "a quote is not closed";
    } else {
      const auto end = std::min(line.find(separator, at), line.size());
      field = line.substr(at, end - at);
      if (quotes && field.find('"') != std::string::npos) return "a quote is inside a field";
      at = end;
    }
    if (at == line.size()) return nullptr;
    if (line[at] != separator) return "text follows a closing quote";
  }
}

// -1 when it is not digits alone.
int digits(std::string_view written) {
  int value = 0;
  for (const char c : written) {
    if (c < '0' || c > '9') return -1;
    value = 10 * value + (c - '0');
  }
  return value;
}

std::string quoted(std::string_view written) {
  return "'" + printable(written, kShown) + "'";
}

std::vector<std::string> header_of(std::string_view line) {
  std::vector<std::string> fields;
  if (split_line(line, CsvSeparator::comma, fields) != nullptr) fields.clear();
  for (auto& field : fields) field = std::string(trimmed(field));
  return fields;
}

}  // namespace

CsvLines::CsvLines(std::string_view text, char comment) : rest_(text), comment_(comment) {
  if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
}

bool CsvLines::next() {
  while (!rest_.empty()) {
    const auto end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    const auto first = line_.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) continue;
    if (comment_ == '\0' || line_[first] != comment_) return true;
  }
  line_ = {};
  return false;
}

const char* split_line(std::string_view line, CsvSeparator separator, std::vector<std::string>& fields) {
  fields.clear();
  if (line.size() > kLongestLine) return kTooLong;
  return separator == CsvSeparator::blanks ? split_words(line, fields)
                                           : split_separated(line, static_cast<char>(separator), fields);
}

std::string_view trimmed(std::string_view written) {
  const auto first = written.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return written.substr(first, written.find_last_not_of(kBlanks) - first + 1);
}

bool is_hole(std::string_view written) {
  constexpr std::array<std::string_view, 7> kHoles{"", "nan", "NaN", "NA", "None", "null", "Unknown"};
  return std::find(kHoles.begin(), kHoles.end(), trimmed(written)) != kHoles.end();
}

std::optional<double> parse_finite(std::string_view written) {
  written = trimmed(written);
  const char* const end = written.data() + written.size();
  double value = 0;
  const auto parsed = std::from_chars(written.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> parse_date(std::string_view written) {
  written = trimmed(written);
  if (written.size() != 19 || written[4] != '-' || written[7] != '-' || written[13] != ':' ||
      written[16] != ':' || (written[10] != ' ' && written[10] != 'T'))
    return std::nullopt;
  const int year = digits(written.substr(0, 4)), month = digits(written.substr(5, 2));
  const int day = digits(written.substr(8, 2)), hour = digits(written.substr(11, 2));
  const int minute = digits(written.substr(14, 2)), second = digits(written.substr(17, 2));
  if (std::min({year, month, day, hour, minute, second}) < 0) return std::nullopt;
  if (year < 1970 || year > 2200 || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
  return static_cast<double>(days) * 86400 + 3600 * hour + 60 * minute + second;
}

bool has_columns(std::string_view text, std::span<const std::string_view> columns) {
  CsvLines lines(text);
  if (!lines.next()) return false;
  const auto header = header_of(lines.line());
  return std::all_of(columns.begin(), columns.end(), [&](std::string_view column) {
    return std::find(header.begin(), header.end(), column) != header.end();
  });
}

CsvTable::CsvTable(CsvLines lines, CsvSeparator separator, std::span<const std::string_view> columns)
    : lines_(lines),
      separator_(separator),
      columns_(columns),
      places_(columns.size()),
      width_(columns.size()) {
  std::iota(places_.begin(), places_.end(), std::size_t{0});
}

CsvTable CsvTable::with_header(std::string_view text, std::string_view file,
                               std::span<const std::string_view> columns) {
  CsvTable table(CsvLines(text), CsvSeparator::comma, columns);
  if (!table.lines_.next()) throw UserError(fmt::format("{}: it is empty; give a job trace", file));
  const auto header = header_of(table.lines_.line());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto found = std::find(header.begin(), header.end(), columns[i]);
    if (found == header.end())
      throw UserError(fmt::format("{}: line {} is to be the header, but has no column '{}'; needed are {}",
                                  file, table.line(), columns[i],
                                  join(std::vector<std::string>(columns.begin(), columns.end()))));
    table.places_[i] = static_cast<std::size_t>(found - header.begin());
  }
  table.width_ = header.size();
  return table;
}

CsvTable CsvTable::without_header(std::string_view text, CsvSeparator separator,
                                  std::span<const std::string_view> columns, char comment) {
  return CsvTable(CsvLines(text, comment), separator, columns);
}

bool CsvTable::next() {
  trouble_.reset();
  if (!lines_.next()) return false;
  const char* why = split_line(lines_.line(), separator_, fields_);
  if (why == nullptr && fields_.size() == width_) return true;
  if (why != nullptr)
    trouble_ = TraceTrouble{why, ""};
  else
    trouble_ =
        TraceTrouble{fields_.size() < width_ ? "the line has too few fields" : "the line has too many fields",
                     fmt::format("{} instead of {}", fields_.size(), width_)};
  fields_.clear();
  return true;
}

std::string_view CsvTable::text(std::size_t column) const {
  assert(column < places_.size());
  const std::size_t place = places_[column];
  return place < fields_.size() ? trimmed(fields_[place]) : std::string_view{};
}

std::string CsvTable::label(std::size_t column) const {
  return is_hole(text(column)) ? std::string() : std::string(text(column));
}

double CsvTable::number(std::size_t column, double low, double high) {
  const auto value = number_or_hole(column, low, high);
  if (!value) complain(column, "is missing");  // not heard where it is there but wrong
  return value.value_or(0);
}

std::optional<double> CsvTable::number_or_hole(std::size_t column, double low, double high) {
  if (is_hole(text(column))) return std::nullopt;
  const auto value = parse_finite(text(column));
  if (!value)
    complain(column, "is not a number");
  else if (*value < low || *value > high)
    complain(column, "is out of range");
  else
    return value;
  return std::nullopt;
}

int CsvTable::whole(std::size_t column, int high) {
  const double value = number(column, 0, high);
  if (value == std::floor(value)) return static_cast<int>(value);
  complain(column, "is not a whole number");
  return 0;
}

double CsvTable::date(std::size_t column) {
  const auto value = parse_date(text(column));
  if (!value) complain(column, is_hole(text(column)) ? "is missing" : "is not a date and time");
  return value.value_or(0);
}

void CsvTable::complain(std::size_t column, std::string_view what) {
  if (trouble_) return;
  trouble_ = TraceTrouble{fmt::format("{} {}", columns_[column], what), quoted(text(column))};
}

}  // namespace tandem::sim
