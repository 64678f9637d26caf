// Words and numbers in columns. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tandem::report {

// Columns as wide as they need to be; the first `left` of them are words, the others numbers.
std::string text_table(const std::vector<std::vector<std::string>>& rows, std::size_t left);
// A word of JSON; "-" where there is none.
std::string word(const nlohmann::json&);
// Words in columns, the first row as headings.
std::string columns(const std::vector<std::vector<std::string>>& rows);
// The text's first `columns` columns.
std::string cut_to(const std::string& text, int columns);

}  // namespace tandem::report
