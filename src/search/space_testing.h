// Spaces in a few words, and what the tests of samplers ask of every point.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/value.h"
#include "spec/space.h"

namespace tandem::search {

struct AnyValue {  // so that {1, 2.5, "x"} is a list of values
  AnyValue(bool v) : value(v) {}
  AnyValue(int v) : value(std::int64_t{v}) {}
  AnyValue(double v) : value(v) {}
  AnyValue(const char* v) : value(std::string(v)) {}
  AnyValue(Structure v) : value(std::move(v)) {}
  Value value;
};

inline spec::Domain choice(const std::vector<AnyValue>& values) {
  spec::Domain out{spec::Domain::Kind::choice};
  for (const auto& each : values) out.choices.push_back(each.value);
  return out;
}
inline spec::Domain real(double low, double high) {
  return {spec::Domain::Kind::real, {}, low, high};
}
inline spec::Domain log_real(double low, double high) {
  return {spec::Domain::Kind::log_real, {}, low, high};
}
inline spec::Domain whole(double low, double high) {
  return {spec::Domain::Kind::whole, {}, low, high};
}
inline spec::Domain log_whole(double low, double high) {
  return {spec::Domain::Kind::log_whole, {}, low, high};
}

inline spec::Domain in_steps(spec::Domain domain, double step) {
  domain.step = step;
  return domain;
}

inline spec::Space space_of(std::vector<spec::Parameter> parameters,
                            const std::vector<std::string>& constraints = {}) {
  spec::Space out{std::move(parameters), {}};
  for (const auto& text : constraints)
    out.constraints.push_back(std::get<spec::Expression>(spec::Expression::parse(text)));
  return out;
}

// Parameters below parameters: momentum and nesterov exist for sgd only, decay for sgd with nesterov only.
inline spec::Space conditional_space() {
  return space_of({{"optimizer", choice({"sgd", "adam", "lion"})},
                   {"rate", log_real(1e-5, 1)},
                   {"momentum", real(0, 0.99), spec::Condition{"optimizer", {std::string("sgd")}}},
                   {"nesterov", choice({true, false}), spec::Condition{"optimizer", {std::string("sgd")}}},
                   {"decay", log_real(1e-6, 1e-2), spec::Condition{"nesterov", {true}}},
                   {"layers", whole(1, 4)}});
}

// Exactly the parameters that exist, each in its domain, and every constraint met.
inline void expect_fits(const spec::Space& space, const Values& point) {
  Values so_far;
  for (const auto& parameter : space.parameters) {
    const auto found = point.find(parameter.name);
    ASSERT_EQ(found != point.end(), spec::exists(parameter, so_far)) << parameter.name;
    if (found == point.end()) continue;
    EXPECT_TRUE(spec::contains(parameter.domain, found->second))
        << parameter.name << " " << text(found->second);
    so_far.insert(*found);
  }
  EXPECT_EQ(so_far.size(), point.size());
  EXPECT_TRUE(spec::allowed(space, point));
}

}  // namespace tandem::search
