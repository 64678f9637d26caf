#include "measure/watts_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace tandem::measure {
namespace {

constexpr int kDeepest = 16;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto start = text.find_first_not_of(kBlank);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kBlank) - start + 1);
}

std::optional<double> whole_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void collect(const nlohmann::json& node, std::string_view key, int depth, std::vector<double>& found) {
  if (depth > kDeepest || !node.is_structured()) return;
  for (const auto& item : node.items()) {
    const auto& value = item.value();
    if (node.is_object() && lower(item.key()) == key) {
      if (value.is_number()) found.push_back(value.get<double>());
      if (value.is_string())
        if (const auto number = whole_number(trimmed(value.get_ref<const std::string&>())))
          found.push_back(*number);
    }
    collect(value, key, depth + 1, found);
  }
}

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

// A number's scale by the unit that follows it; nullopt when that is not a power.
std::optional<double> power_unit(std::string_view after) {
  if (after.starts_with(' ')) after.remove_prefix(1);
  const auto end = std::find_if_not(after.begin(), after.end(), is_letter);
  const std::string_view unit(after.data(), static_cast<std::size_t>(end - after.begin()));
  if (unit == "W" || lower(unit) == "watt" || lower(unit) == "watts") return 1;
  if (unit == "kW") return 1e3;
  if (unit == "mW") return 1e-3;
  return std::nullopt;
}

// Whether what stands before a number names it: "Power: ", "watts=".
bool named_before(std::string_view before) {
  while (!before.empty() && (before.back() == ' ' || before.back() == ':' || before.back() == '='))
    before.remove_suffix(1);
  const std::string tail = lower(before);
  return tail.ends_with("power") || tail.ends_with("watts");
}

void collect_from_text(std::string_view text, std::vector<double>& with_unit, std::vector<double>& named) {
  for (std::size_t at = 0; at < text.size();) {
    const bool starts =
        std::isdigit(static_cast<unsigned char>(text[at])) ||
        (text[at] == '-' && at + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 1])));
    // A digit inside a word belongs to its name, as in "P1".
    if (!starts || (at > 0 && is_letter(text[at - 1]))) {
      const bool in_word = is_letter(text[at]);
      ++at;
      while (in_word && at < text.size() && std::isalnum(static_cast<unsigned char>(text[at]))) ++at;
      continue;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    const auto next = static_cast<std::size_t>(end - text.data());
    if (error == std::errc()) {
      if (const auto scale = power_unit(text.substr(next)))
        with_unit.push_back(value * *scale);
      else if (named_before(text.substr(0, at)))
        named.push_back(value);
    }
    at = std::max(next, at + 1);
  }
}

std::vector<double> candidates(std::string_view answer) {
  if (const auto number = whole_number(answer)) return {*number};
  std::vector<double> found;
  if (answer.starts_with('{') || answer.starts_with('[')) {
    const auto json = parse_json(answer);
    if (json.is_discarded()) return {};
    collect(json, "watts", 0, found);
    if (found.empty()) collect(json, "power", 0, found);
    return found;
  }
  std::vector<double> named;
  collect_from_text(answer, found, named);
  return found.empty() ? named : found;
}

}  // namespace

Watts watts_from(std::string_view answer) {
  const auto fail = [&](const std::string& why) {
    return SystemError("the power meter's answer " + why + ": '" + printable(answer, 120) + "'");
  };
  const auto found = candidates(trimmed(answer));
  if (found.empty()) throw fail("holds no power");
  if (found.size() > 1)
    throw fail("holds more than one power; use an address that gives this machine's alone");
  constexpr double kMost = 1e6;
  if (!std::isfinite(found[0]) || found[0] < 0 || found[0] > kMost)
    throw fail("is not a power from 0 to 1 MW");
  return Watts{found[0]};
}

}  // namespace tandem::measure
