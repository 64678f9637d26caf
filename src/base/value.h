// A hyperparameter's value as a person writes it: a flag, a whole number, a real number or a word.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>

namespace tandem {

using Value = std::variant<bool, std::int64_t, double, std::string>;

// Ordered, so that everything derived from them is deterministic.
using Values = std::map<std::string, Value>;
using Metrics = std::map<std::string, double>;

std::string text(const Value&);                 // as in YAML: true, 64, 0.05, sgd
std::optional<double> as_number(const Value&);  // flags and words have none
nlohmann::json to_json(const Value&);
nlohmann::json to_json(const Values&);
std::optional<Value> value_from_json(
    const nlohmann::json&);  // nullopt for arrays, objects, null and what no int64 holds
// Keeps the scalars; the count of what was not one comes back in `refused` when given.
Values values_from_json(const nlohmann::json&, int* refused = nullptr);

}  // namespace tandem
