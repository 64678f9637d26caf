// Small pieces of an HTML page: text made safe, numbers with units, tables.
//
// Everything that comes from outside (names, reasons, words, output of programs) goes through `escape`; what
// these functions return is HTML already and goes into a page as it is. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "base/value.h"

namespace tandem::report {

// Safe inside an element and inside a quoted attribute; control characters and broken UTF-8 become '?', and
// what is longer than `most` bytes is cut.
std::string escape(std::string_view, std::size_t most = 4096);
// ` data-t="…"`: what the page shows when a pointer is over the element. Lines are kept.
std::string tip(std::string_view);

std::string number_text(double);       // "0.9745", "1.2e-05", "12 300" never: four digits
std::string short_text(const Value&);  // reals with four digits, words cut at 40 characters; not escaped
std::string count_text(std::int64_t, std::string_view one, std::string_view many);  // "1 epoch", "3 epochs"
// A rate of a profile with its unit: "1.2 MiB/s", "250 MiB", "0.88 CPU s/s", "45 /s".
std::string rate_text(std::string_view counter, double rate);

// A unit that suits times up to `longest`, for an axis.
struct TimeUnit {
  std::string name;  // s, min, h, d
  double seconds = 1;
};
TimeUnit time_unit(Seconds longest);

struct Cell {
  std::string html;
  std::string sort = {};  // the number it is sorted by; empty: its text
  bool right = !sort.empty();
};
Cell number_cell(double);
Cell word_cell(std::string_view);  // escapes
Cell no_number();                  // a dash in a column of numbers

// A table that scrolls inside its box and is sorted by a click on a heading. Headings are escaped here.
// `chosen` is the row that stands out.
std::string table(const std::vector<std::string>& headings, const std::vector<std::vector<Cell>>& rows,
                  std::optional<std::size_t> chosen = {});

// <section id=…><h2>title</h2>body</section>
std::string section(std::string_view id, std::string_view title, const std::string& body);
// What a section says when it has nothing to show: why.
std::string nothing(std::string_view why);
// A figure with its caption; `wide`: as wide as the page, scrolled on a phone.
std::string figure(const std::string& svg, std::string_view caption, bool wide = false);
std::string figures(const std::vector<std::string>&);  // side by side where there is room

}  // namespace tandem::report
