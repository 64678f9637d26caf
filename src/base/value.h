// A hyperparameter's value as a person writes it: a flag, a whole number, a real number or a word; of a
// command's own parameter also nothing (null), a list or a map.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>

namespace tandem {

// Null, a list or a map, as compact JSON with sorted keys: equal ones are equal texts.
struct Structure {
  std::string json;
  auto operator<=>(const Structure&) const = default;
};
inline constexpr std::size_t kLargestStructure = 1 << 16;  // bytes of its JSON

using Value = std::variant<bool, std::int64_t, double, std::string, Structure>;

// Ordered, so that everything derived from them is deterministic.
using Values = std::map<std::string, Value>;
using Metrics = std::map<std::string, double>;

std::string text(const Value&);                 // as in YAML: true, 64, 0.05, sgd, null, [64,64]
std::optional<double> as_number(const Value&);  // only whole and real numbers have one
nlohmann::json to_json(const Value&);
nlohmann::json to_json(const Values&);
// nullopt for what no int64 holds, for bytes, and for lists and maps of more than kLargestStructure.
std::optional<Value> value_from_json(const nlohmann::json&);
// Keeps what is a value; the count of what was none comes back in `refused` when given.
Values values_from_json(const nlohmann::json&, int* refused = nullptr);

}  // namespace tandem
