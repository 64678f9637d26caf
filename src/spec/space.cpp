#include "spec/space.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "spec/journalled.h"

namespace tandem::spec {
namespace {

using namespace journalled;
using Kind = Domain::Kind;

constexpr std::array<std::pair<Kind, const char*>, 5> kDomainKinds{{{Kind::choice, "choice"},
                                                                    {Kind::real, "real"},
                                                                    {Kind::log_real, "log_real"},
                                                                    {Kind::whole, "whole"},
                                                                    {Kind::log_whole, "log_whole"}}};

bool is_log(Kind kind) {
  return kind == Kind::log_real || kind == Kind::log_whole;
}
bool is_whole(Kind kind) {
  return kind == Kind::whole || kind == Kind::log_whole;
}

bool one_of(const std::vector<Value>& values, const Value& value) {
  return std::any_of(values.begin(), values.end(), [&](const Value& held) { return same(held, value); });
}

json values_json(const std::vector<Value>& values) {
  auto out = json::array();
  for (const auto& value : values) out.push_back(tandem::to_json(value));
  return out;
}

json domain_json(const Domain& domain) {
  const auto* known = std::find_if(kDomainKinds.begin(), kDomainKinds.end(),
                                   [&](const auto& row) { return row.first == domain.kind; });
  if (domain.kind == Kind::choice) return {{"kind", known->second}, {"choices", values_json(domain.choices)}};
  json out = {{"kind", known->second}, {"low", domain.low}, {"high", domain.high}};
  if (domain.step > 0) out["step"] = domain.step;
  return out;
}

// A number of steps from `low`, as a person would write it: 0.3, not 0.30000000000000004.
double stepped(const Domain& domain, double index) {
  const double exact = domain.low + index * domain.step;
  const double scale = std::max({std::abs(domain.low), std::abs(domain.high), domain.step});
  const double unit = std::pow(10, 14 - std::floor(std::log10(scale)));
  const double rounded = std::isfinite(unit) && unit > 0 ? std::round(exact * unit) / unit : exact;
  return std::clamp(std::isfinite(rounded) ? rounded : exact, domain.low, domain.high);
}

// At least one, finite, all different.
std::vector<Value> domain_values(const json& from, const char* key) {
  std::vector<Value> out;
  std::set<Value> seen;
  for (const auto& item : list(from, key, kMostChoices)) {
    const auto value = value_from_json(item);
    if (!value || (item.is_number_float() && !std::isfinite(item.get<double>())))
      damaged(std::string(key) + " hold " + shown(item));
    if (!seen.insert(canonical(*value)).second) damaged(std::string(key) + " hold one value twice");
    out.push_back(*value);
  }
  if (out.empty()) damaged(std::string(key) + " are empty");
  return out;
}

Domain domain_from_json(const json& from) {
  std::string kind;
  read_word(from, "kind", kind);
  const auto* known = std::find_if(kDomainKinds.begin(), kDomainKinds.end(),
                                   [&](const auto& row) { return kind == row.second; });
  if (known == kDomainKinds.end()) damaged("a domain is of kind " + shown(kind));
  Domain domain{.kind = known->first, .choices = {}};
  if (domain.kind == Kind::choice) {
    domain.choices = domain_values(from, "choices");
    return domain;
  }
  if (!from.contains("low") || !from.contains("high")) damaged("a domain has no ends");
  domain.low = finite(from["low"], "low");
  domain.high = finite(from["high"], "high");
  const double width = domain.high - domain.low;
  const bool ordered = width > 0 && std::isfinite(width) && !(is_log(domain.kind) && domain.low <= 0);
  if (!ordered || (is_whole(domain.kind) && !whole_ends(domain)))
    damaged("the ends of a domain are impossible");
  if (!from.contains("step")) return domain;
  domain.step = finite(from["step"], "step");
  if (is_log(domain.kind) || !step_fits(domain)) damaged("the step of a domain is impossible");
  return domain;
}

Parameter read_parameter(const json& from, const std::map<std::string, const Domain*>& before) {
  if (!from.is_object()) damaged("a parameter is not an object");
  Parameter parameter;
  read_word(from, "name", parameter.name);
  if (parameter.name.empty() || before.contains(parameter.name))
    damaged("a parameter has no name of its own");
  parameter.domain = domain_from_json(part(from, "domain"));
  if (!from.contains("when")) return parameter;
  const json when = part(from, "when");
  Condition condition;
  read_word(when, "parameter", condition.parameter);
  const auto on = before.find(condition.parameter);
  if (on == before.end()) damaged("a condition names a parameter that does not come before it");
  condition.values = domain_values(when, "values");
  if (first_outside(*on->second, condition.values)) damaged("a condition can never hold");
  parameter.when = std::move(condition);
  return parameter;
}

Space read_space(const json& from) {
  if (!from.is_object()) damaged("a space is not an object");
  Space space;
  const json parameters = list(from, "parameters", kMostParameters);
  space.parameters.reserve(parameters.size());  // `before` points into it
  std::map<std::string, const Domain*> before;
  for (const auto& written : parameters) {
    space.parameters.push_back(read_parameter(written, before));
    before.emplace(space.parameters.back().name, &space.parameters.back().domain);
  }
  for (const auto& written : list(from, "constraints", kMostConstraints)) {
    auto parsed = Expression::parse(word(written, "a constraint"));
    if (const auto* problem = std::get_if<std::string>(&parsed)) damaged("a constraint " + *problem);
    space.constraints.push_back(std::get<Expression>(std::move(parsed)));
  }
  return space;
}

}  // namespace

Value canonical(const Value& value) {
  const auto* real = std::get_if<double>(&value);
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63
  const bool whole = real != nullptr && std::trunc(*real) == *real && *real >= -kBeyond && *real < kBeyond;
  return whole ? Value(static_cast<std::int64_t>(*real)) : value;
}

bool same(const Value& a, const Value& b) {
  return a == b || (as_number(a) && as_number(b) && canonical(a) == canonical(b));
}

bool whole_ends(const Domain& domain) {
  const auto fits = [](double end) { return std::abs(end) <= kLargestWhole && std::trunc(end) == end; };
  if (!fits(domain.low) || !fits(domain.high)) return false;
  const auto width = static_cast<std::int64_t>(domain.high) - static_cast<std::int64_t>(domain.low);
  return width <= static_cast<std::int64_t>(kLargestWhole);
}

bool contains(const Domain& domain, const Value& value) {
  if (domain.kind == Kind::choice) return one_of(domain.choices, value);
  const auto number = as_number(value);
  if (!number || !(*number >= domain.low && *number <= domain.high)) return false;
  if (is_whole(domain.kind) && std::trunc(*number) != *number) return false;
  return domain.step == 0 ||
         std::abs(*as_number(value_of(domain, index_of(domain, value))) - *number) <= 1e-6 * domain.step;
}

std::optional<std::int64_t> count(const Domain& domain) {
  if (domain.kind == Kind::choice) return static_cast<std::int64_t>(domain.choices.size());
  if (domain.step > 0) return std::llround((domain.high - domain.low) / domain.step) + 1;
  if (is_whole(domain.kind)) return static_cast<std::int64_t>(domain.high - domain.low) + 1;
  return domain.low == domain.high ? std::optional<std::int64_t>(1) : std::nullopt;
}

Value value_of(const Domain& domain, std::int64_t index) {
  if (domain.kind == Kind::choice) return domain.choices[static_cast<std::size_t>(index)];
  if (is_whole(domain.kind))
    return static_cast<std::int64_t>(domain.low) +
           index * std::max<std::int64_t>(1, static_cast<std::int64_t>(domain.step));
  return domain.step > 0 ? stepped(domain, static_cast<double>(index)) : domain.low;
}

std::int64_t index_of(const Domain& domain, const Value& value) {
  if (domain.kind == Kind::choice) {
    const auto found = std::find_if(domain.choices.begin(), domain.choices.end(),
                                    [&](const Value& each) { return same(each, value); });
    assert(found != domain.choices.end());
    return found - domain.choices.begin();
  }
  const double step = domain.step > 0 ? domain.step : 1;
  const auto index = std::llround((as_number(value).value_or(domain.low) - domain.low) / step);
  return std::clamp<std::int64_t>(index, 0, *count(domain) - 1);
}

bool step_fits(const Domain& domain) {
  const double steps = (domain.high - domain.low) / domain.step;
  if (!(domain.step > 0) || !(steps >= 0.5 && steps <= kMostSteps)) return false;
  if (is_whole(domain.kind) && std::trunc(domain.step) != domain.step) return false;
  return std::abs(std::round(steps) * domain.step - (domain.high - domain.low)) <= 1e-6 * domain.step;
}

std::optional<Value> first_outside(const Domain& domain, const std::vector<Value>& values) {
  std::set<Value> unmet;
  if (domain.kind == Kind::choice) {
    for (const auto& value : values) unmet.insert(canonical(value));
    for (const auto& held : domain.choices) unmet.erase(canonical(held));
  }
  for (const auto& value : values)
    if (domain.kind == Kind::choice ? unmet.contains(canonical(value)) : !contains(domain, value))
      return value;
  return std::nullopt;
}

bool exists(const Parameter& parameter, const Values& so_far) {
  if (!parameter.when) return true;
  const auto on = so_far.find(parameter.when->parameter);
  return on != so_far.end() && one_of(parameter.when->values, on->second);
}

bool allowed(const Space& space, const Values& values) {
  return std::all_of(space.constraints.begin(), space.constraints.end(),
                     [&](const Expression& constraint) { return constraint.holds(values); });
}

nlohmann::json to_json(const Space& space) {
  json parameters = json::array(), constraints = json::array();
  for (const auto& parameter : space.parameters) {
    json written = {{"name", parameter.name}, {"domain", domain_json(parameter.domain)}};
    if (parameter.when)
      written["when"] = {{"parameter", parameter.when->parameter},
                         {"values", values_json(parameter.when->values)}};
    parameters.push_back(std::move(written));
  }
  for (const auto& constraint : space.constraints) constraints.push_back(constraint.text());
  return {{"parameters", parameters}, {"constraints", constraints}};
}

Space space_from_json(const nlohmann::json& from) {
  try {
    return read_space(from);
  } catch (const json::exception& error) {
    damaged(error.what());
  }
}

}  // namespace tandem::spec
