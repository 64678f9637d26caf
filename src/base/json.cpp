#include "base/json.h"

#include <istream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace tandem {

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, false);
}

nlohmann::json parse_json(std::istream& text) {
  return parse_json(std::string(std::istreambuf_iterator<char>(text), {}));
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace tandem
