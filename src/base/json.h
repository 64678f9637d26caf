// JSON read from text: the one place where the library's parser is compiled (cmake/common.h says why).
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace tandem {

// Discarded (`is_discarded()`) where the text is no JSON.
nlohmann::json parse_json(std::string_view text);
nlohmann::json parse_json(std::istream& text);

nlohmann::json or_null(const std::optional<double>& value);

}  // namespace tandem
