// Text tables from outside: CSV, TSV and columns of words, a line at a time. Nothing is trusted: lines and
// fields have limits, numbers are finite and in the range the reader names, and whatever is wrong with a line
// becomes its trouble, never an exception, so that one bad line costs no more than itself.
//
// A line ends with "\n" or "\r\n", the last one also without. A field of a CSV line may be in quotes ("a,b",
// "" for a quote in it) but not go over several lines. They hold views of the text; one owner; pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::sim {

inline constexpr std::size_t kLongestLine = std::size_t{64} << 10;  // bytes
inline constexpr std::size_t kMostFields = 256;

// What is wrong with a line: one of few reasons, and what stood there.
struct TraceTrouble {
  std::string reason, detail;
};

// The lines that are not blank and no comments; a byte order mark is passed over.
class CsvLines {
 public:
  explicit CsvLines(std::string_view text, char comment = '\0');
  bool next();
  std::string_view line() const { return line_; }  // without its end
  std::size_t number() const { return number_; }   // from 1, blank lines and comments counted

 private:
  std::string_view rest_, line_;
  std::size_t number_ = 0;
  char comment_;
};

// Blanks: any number of spaces and tabs.
enum class CsvSeparator : char { comma = ',', tab = '\t', blanks = ' ' };

// nullptr, or why the line cannot be split.
const char* split_line(std::string_view line, CsvSeparator, std::vector<std::string>& fields);

std::string_view trimmed(std::string_view);
bool is_hole(std::string_view);                        // "", nan, NA, None, null, Unknown
std::optional<double> parse_finite(std::string_view);  // the whole text, a finite number
std::optional<double> parse_date(std::string_view);    // "2020-06-09 18:41:01": s since 1970, as if in UTC
// Whether the first line names all of them.
bool has_columns(std::string_view text, std::span<const std::string_view> columns);

// A table whose columns the reader knows by their place in its own list. Reading never fails: a field that is
// not as asked gives 0 or nothing, and the line's first trouble is kept, so that a reader looks once, at the
// end.
//
//     while (table.next()) builder.add(job_of(table), table.trouble());
class CsvTable {
 public:
  // Comma separated; finds the columns in the header, wherever they are. UserError when one is missing.
  static CsvTable with_header(std::string_view text, std::string_view file,
                              std::span<const std::string_view> columns);
  // Field i is column i. `columns` must outlive the table, here and above.
  static CsvTable without_header(std::string_view text, CsvSeparator,
                                 std::span<const std::string_view> columns, char comment = '\0');

  bool next();
  std::size_t line() const { return lines_.number(); }
  const std::optional<TraceTrouble>& trouble() const { return trouble_; }

  std::string_view text(std::size_t column) const;  // without blanks around it
  std::string label(std::size_t column) const;      // the same, a hole being ""
  double number(std::size_t column, double low, double high);
  std::optional<double> number_or_hole(std::size_t column, double low, double high);
  int whole(std::size_t column, int high);  // 0 and above
  double date(std::size_t column);

 private:
  CsvTable(CsvLines, CsvSeparator, std::span<const std::string_view> columns);
  void complain(std::size_t column, std::string_view what);

  CsvLines lines_;
  CsvSeparator separator_;
  std::span<const std::string_view> columns_;
  std::vector<std::size_t> places_;  // of the columns among the fields
  std::size_t width_;                // fields a line has
  std::vector<std::string> fields_;
  std::optional<TraceTrouble> trouble_;
};

}  // namespace tandem::sim
