#include "base/value.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/json.h"

namespace tandem {

std::string text(const Value& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* structure = std::get_if<Structure>(&value)) return structure->json;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  const auto real = fmt::format("{}", std::get<double>(value));
  return real.find_first_not_of("-0123456789") == std::string::npos ? real + ".0" : real;  // 1.0 is not 1
}

std::optional<double> as_number(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

nlohmann::json to_json(const Value& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, Structure>)
          return parse_json(held.json);
        else
          return nlohmann::json(held);
      },
      value);
}

nlohmann::json to_json(const Values& values) {
  auto object = nlohmann::json::object();
  for (const auto& [name, value] : values) object[name] = to_json(value);
  return object;
}

std::optional<Value> value_from_json(const nlohmann::json& json) {
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return std::nullopt;
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  if (json.is_number()) return Value(json.get<double>());
  if (json.is_string()) return Value(json.get<std::string>());
  if (!json.is_structured() && !json.is_null()) return std::nullopt;
  std::string held = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (held.size() > kLargestStructure) return std::nullopt;
  return Value(Structure{std::move(held)});
}

Values values_from_json(const nlohmann::json& json, int* refused) {
  Values values;
  int others = 0;
  if (json.is_object()) {
    for (const auto& [name, held] : json.items()) {
      if (auto value = value_from_json(held))
        values.emplace(name, *value);
      else
        ++others;
    }
  } else if (!json.is_null()) {
    others = 1;
  }
  if (refused != nullptr) *refused = others;
  return values;
}

}  // namespace tandem
