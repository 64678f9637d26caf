// What a part of the validation has to say, as text for a terminal or as Markdown for docs/validation.md.
// Plain values; pure.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace tandem::bench {

struct Table {
  std::string caption{};
  std::vector<std::string> header{};
  std::vector<std::vector<std::string>> rows{};
  bool long_one = false;  // left out of the Markdown
};

enum class Verdict {
  held,
  missed,
  not_judged,  // nothing is asked of it
  absent,      // its data is not on this machine
};

struct Section {
  std::string title{};
  std::vector<std::variant<std::string, Table>> parts{};  // paragraphs and tables
  std::string summary{};                                  // one line
  Verdict verdict = Verdict::not_judged;
  void say(std::string paragraph) { parts.emplace_back(std::move(paragraph)); }
  void show(Table table) { parts.emplace_back(std::move(table)); }
};

std::string as_text(const Section&);
std::string as_markdown(const Section&);
std::string summary_line(const Section&);  // "TITLE: summary: held"

double median(std::vector<double>);  // 0 of none
// Of relative errors, whatever their signs.
struct Spread {
  std::size_t count = 0;
  double median = 0, worst = 0;
};
Spread spread(const std::vector<double>& errors);

std::string signed_percent(double share);           // "+5.6 %"
std::string percent(double share, int digits = 1);  // "5.6 %"
std::string plain(double value, int digits);        // "5.60"
std::string short_number(double value);             // three or four digits that count

}  // namespace tandem::bench
