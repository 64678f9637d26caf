// Reading jobs back from JSON: every reader checks what it takes and throws SystemError on anything else.
//
// Readers leave `to` as it is when the key is absent, so that journals of older versions can be read.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/units.h"

namespace tandem::spec::journalled {

using nlohmann::json;

[[noreturn]] inline void damaged(const std::string& what) {
  throw SystemError("a job in the journal is damaged: " + what);
}

// For messages: never throws, whatever bytes the value holds.
inline std::string shown(const json& held) {
  return held.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 80);
}

template <class Whole>
Whole whole(const json& held, const std::string& what, std::int64_t least,
            std::int64_t most = std::numeric_limits<Whole>::max()) {
  const bool fits = held.is_number_integer() &&
                    (!held.is_number_unsigned() || held.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!fits || held.get<std::int64_t>() < least || held.get<std::int64_t>() > most)
    damaged(what + " is " + shown(held));
  return static_cast<Whole>(held.get<std::int64_t>());
}

inline double finite(const json& held, const std::string& what) {
  if (!held.is_number() || !std::isfinite(held.get<double>())) damaged(what + " is not a finite number");
  return held.get<double>();
}

inline double not_negative(const json& held, const std::string& what) {
  const double number = finite(held, what);
  if (number < 0) damaged(what + " is below 0");
  return number;
}

inline std::string word(const json& held, const std::string& what) {
  if (!held.is_string()) damaged(what + " is not a word");
  return held.get<std::string>();
}

template <class Whole>
void read_whole(const json& from, const char* key, Whole& to, std::int64_t least,
                std::int64_t most = std::numeric_limits<Whole>::max()) {
  if (from.contains(key)) to = whole<Whole>(from[key], key, least, most);
}

template <class Whole>
void read_whole(const json& from, const char* key, std::optional<Whole>& to, std::int64_t least,
                std::int64_t most = std::numeric_limits<Whole>::max()) {
  if (from.contains(key)) to = whole<Whole>(from[key], key, least, most);
}

template <class Unit>
void read_quantity(const json& from, const char* key, std::optional<Quantity<Unit>>& to) {
  if (from.contains(key)) to = Quantity<Unit>{not_negative(from[key], key)};
}

inline void read_word(const json& from, const char* key, std::string& to) {
  if (from.contains(key)) to = word(from[key], key);
}

// A part that must be an object; an empty one when it is absent.
inline const json& part(const json& from, const char* key) {
  static const json none = json::object();
  const auto found = from.find(key);
  if (found == from.end()) return none;
  if (!found->is_object()) damaged(std::string(key) + " is not an object");
  return *found;
}

// A part that must be a list of at most so many; an empty one when it is absent.
inline json list(const json& from, const char* key, std::size_t most) {
  if (!from.contains(key)) return json::array();
  if (!from[key].is_array() || from[key].size() > most)
    damaged(std::string(key) + " is not a list of at most " + std::to_string(most));
  return from[key];
}

}  // namespace tandem::spec::journalled
