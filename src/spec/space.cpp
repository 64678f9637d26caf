#include "spec/space.h"

#include <algorithm>
#include <array>
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
  return {{"kind", known->second}, {"low", domain.low}, {"high", domain.high}};
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
  return !is_whole(domain.kind) || std::trunc(*number) == *number;
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
