// What may vary in a tuning job: parameters with their domains, when each exists, and what must hold between
// them. Plain values; parse.h makes them from YAML, search/ draws from them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"
#include "spec/expression.h"

namespace tandem::spec {

// {choice: [...]}, {range: [a, b]}, {log: [a, b]} or {int: [a, b]}; the second and the last may have a step.
struct Domain {
  enum class Kind {
    choice,     // one of `choices`, no order implied
    real,       // uniform in [low, high]
    log_real,   // its logarithm is uniform; low > 0
    whole,      // a whole number in [low, high]
    log_whole,  // the same, small ones as likely as large: {log: ..., int: true}, or of a whole
                // hyperparameter
  };
  Kind kind = Kind::real;
  std::vector<Value> choices;  // at least one, all different
  double low = 0, high = 1;    // both ends included
  double step = 0;  // of real and whole ones: low, low + step, ... to high, which is among them; 0: none
  bool operator==(const Domain&) const = default;
};

// The parameter exists only where `parameter` exists and has one of these values: {…, when: {optimizer: sgd}}
// or {…, when: {layers: [2, 3]}}.
struct Condition {
  std::string parameter;
  std::vector<Value> values;
  bool operator==(const Condition&) const = default;
};

struct Parameter {
  std::string name;
  Domain domain;
  std::optional<Condition> when;
  bool operator==(const Parameter&) const = default;
};

// Parameters in the order written, each after the one its condition names (the parser sees to it).
struct Space {
  std::vector<Parameter> parameters;
  std::vector<Expression> constraints;  // all must hold; one that names an absent parameter does
  bool operator==(const Space&) const = default;
};

inline constexpr std::size_t kMostParameters = 500, kMostChoices = 10'000, kMostConstraints = 100;
// Together: every point is held against all of them.
inline constexpr std::size_t kMostConstraintBytes = 8192, kMostConditionValues = 10'000;
inline constexpr double kLargestWhole = 9007199254740992;  // 2^53

// 1 and 1.0 are the same number: equal numbers become equal Values.
Value canonical(const Value&);
bool same(const Value&, const Value&);

// How many values it has; nothing when it is continuous. value_of: the index-th, from 0; index_of: of the
// value that is nearest, within the domain. The last two are for those that are not continuous.
std::optional<std::int64_t> count(const Domain&);
Value value_of(const Domain&, std::int64_t index);
std::int64_t index_of(const Domain&, const Value&);
// Does the step lead from one end to the other, in at most kMostSteps?
bool step_fits(const Domain&);
inline constexpr double kMostSteps = 1e9;

// Are the ends whole numbers, at most kLargestWhole from 0 and from each other?
bool whole_ends(const Domain&);
// Is it a value of this domain?
bool contains(const Domain&, const Value&);
// The first that is not; quick for long lists of values and choices.
std::optional<Value> first_outside(const Domain&, const std::vector<Value>&);
// Does the parameter exist, given the values of those before it?
bool exists(const Parameter&, const Values& so_far);
// Do all constraints hold?
bool allowed(const Space&, const Values&);

nlohmann::json to_json(const Space&);
Space space_from_json(const nlohmann::json&);  // SystemError on nonsense

}  // namespace tandem::spec
