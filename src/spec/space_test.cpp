#include "spec/space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tandem::spec {
namespace {

using nlohmann::json;
using Kind = Domain::Kind;

Value word(const char* text) {
  return std::string(text);
}
Value whole(std::int64_t number) {
  return number;
}
Domain choice(std::vector<Value> choices) {
  return {.kind = Kind::choice, .choices = std::move(choices)};
}
Domain between(Kind kind, double low, double high) {
  return {.kind = kind, .choices = {}, .low = low, .high = high};
}

Domain in_steps(Domain domain, double step) {
  domain.step = step;
  return domain;
}

Space full_space() {
  Space space;
  space.parameters = {
      {"optimizer", choice({word("sgd"), word("adam")}), {}},
      {"momentum", between(Kind::real, 0, 0.99), Condition{"optimizer", {word("sgd")}}},
      {"rate", between(Kind::log_real, 1e-5, 1), {}},
      {"layers", between(Kind::whole, -3, 9007199254740989), {}},
      {"width", between(Kind::log_whole, 1, 1024), Condition{"layers", {whole(2), whole(3)}}},
      {"mixed",
       choice({true, whole(3), 0.1, word("3"), word("\xc3\xa9"), Structure{"null"}, Structure{"[64,64]"}}),
       {}},
      {"tenths", in_steps(between(Kind::real, 0, 1), 0.1), {}},
  };
  for (const char* text : {"layers < 3 or rate > 0.1", "momentum  !=  0.5"})
    space.constraints.push_back(std::get<Expression>(Expression::parse(text)));
  return space;
}

TEST(Space, OneAndOnePointZeroAreTheSameNumber) {
  EXPECT_TRUE(same(whole(1), 1.0));
  EXPECT_TRUE(same(-0.0, whole(0)));
  EXPECT_TRUE(same(word("a"), word("a")));
  EXPECT_FALSE(same(whole(1), 1.5));
  EXPECT_FALSE(same(whole(1), true));
  EXPECT_FALSE(same(whole(1), word("1")));
  EXPECT_FALSE(same(whole(9007199254740993), 9007199254740992.0));
  EXPECT_FALSE(same(whole(INT64_MAX), 9223372036854775808.0));
  EXPECT_EQ(canonical(1e300), Value(1e300));
}

TEST(Space, DomainsKnowTheirValues) {
  const Domain few = choice({word("sgd"), whole(2), 0.5, true});
  for (const Value& in : {word("sgd"), whole(2), Value(2.0), Value(0.5), Value(true)})
    EXPECT_TRUE(contains(few, in));
  for (const Value& out : {word("adam"), whole(1), word("2"), Value(false)}) EXPECT_FALSE(contains(few, out));
  for (const Kind kind : {Kind::real, Kind::log_real, Kind::whole, Kind::log_whole}) {
    const Domain domain = between(kind, 1, 8);
    for (const Value& in : {whole(1), whole(8), Value(3.0)}) EXPECT_TRUE(contains(domain, in));
    for (const Value& out : {whole(0), whole(9), word("3"), Value(true), Value(std::nan(""))})
      EXPECT_FALSE(contains(domain, out));
    EXPECT_EQ(contains(domain, 2.5), kind == Kind::real || kind == Kind::log_real);
  }
}

TEST(Space, StepsAreCountedAndWrittenAsPeopleDo) {
  const auto tenths = in_steps(between(Kind::real, -1, 1), 0.1);
  ASSERT_EQ(count(tenths), 21);
  for (std::int64_t i = 0; i <= 20; ++i) {
    const Value value = value_of(tenths, i);
    EXPECT_EQ(value, Value(static_cast<double>(i - 10) / 10)) << i;
    EXPECT_TRUE(contains(tenths, value));
    EXPECT_EQ(index_of(tenths, value), i);
  }
  EXPECT_FALSE(contains(tenths, 0.05));
  EXPECT_TRUE(contains(tenths, 0.1 + 0.2)) << "what a program rounded otherwise";
  const auto sixteen = in_steps(between(Kind::whole, 16, 256), 16);
  EXPECT_EQ(count(sixteen), 16);
  EXPECT_EQ(value_of(sixteen, 15), whole(256));
  EXPECT_TRUE(contains(sixteen, 32.0));
  EXPECT_FALSE(contains(sixteen, whole(33)));
  const auto tiny = in_steps(between(Kind::real, 0, 1e-300), 1e-301);
  EXPECT_EQ(value_of(tiny, 10), Value(1e-300));
  EXPECT_EQ(count(in_steps(between(Kind::real, 0, 0.3), 0.1)), 4);
}

TEST(Space, NamesTheFirstValueOutside) {
  const Domain few = choice({word("sgd"), whole(2), 0.5});
  EXPECT_EQ(first_outside(few, {Value(2.0), word("sgd"), 0.5}), std::nullopt);
  EXPECT_EQ(first_outside(few, {}), std::nullopt);
  EXPECT_EQ(first_outside(few, {word("sgd"), word("a"), word("b")}), word("a"));
  EXPECT_EQ(first_outside(between(Kind::whole, 1, 3), {whole(1), 1.5, whole(4)}), Value(1.5));
}

TEST(Space, ConditionalParametersExistWhereTheirConditionHolds) {
  const Parameter momentum = full_space().parameters[1], width = full_space().parameters[4];
  EXPECT_TRUE(exists(full_space().parameters[0], {}));
  EXPECT_TRUE(exists(momentum, {{"optimizer", word("sgd")}}));
  EXPECT_FALSE(exists(momentum, {{"optimizer", word("adam")}}));
  EXPECT_FALSE(exists(momentum, {})) << "what it depends on does not exist itself";
  EXPECT_TRUE(exists(width, {{"layers", whole(3)}}));
  EXPECT_FALSE(exists(width, {{"layers", whole(4)}}));
}

TEST(Space, AllConstraintsMustHold) {
  const Space space = full_space();
  EXPECT_TRUE(allowed(space, {{"layers", whole(2)}, {"rate", 0.01}, {"momentum", 0.9}}));
  EXPECT_FALSE(allowed(space, {{"layers", whole(4)}, {"rate", 0.01}, {"momentum", 0.9}}));
  EXPECT_FALSE(allowed(space, {{"layers", whole(2)}, {"rate", 0.01}, {"momentum", 0.5}}));
  EXPECT_TRUE(allowed(space, {{"layers", whole(2)}, {"rate", 0.01}})) << "no momentum, nothing to say of it";
  EXPECT_TRUE(allowed({}, {}));
}

TEST(Space, SurvivesTheJournal) {
  for (const auto& space : {Space{}, full_space()}) {
    EXPECT_EQ(space_from_json(json::parse(to_json(space).dump())), space);
    EXPECT_EQ(space_from_json(json::from_cbor(json::to_cbor(to_json(space)))), space);
  }
  EXPECT_EQ(space_from_json(json::object()), Space{});
  const Space back = space_from_json(to_json(full_space()));
  EXPECT_FALSE(allowed(back, {{"layers", whole(4)}, {"rate", 0.01}}))
      << "constraints work, not only their text";
}

TEST(Space, NonsenseIsASystemError) {
  for (const char* bad : {"null", "[]", "7", R"({"parameters":{}})", R"({"constraints":1})"})
    EXPECT_THROW(space_from_json(json::parse(bad)), SystemError) << bad;
  const std::vector<std::pair<const char*, const char*>> damage{
      {"/parameters/0", "7"},
      {"/parameters/0/name", R"("")"},
      {"/parameters/0/name", "[]"},
      {"/parameters/2/name", R"("optimizer")"},
      {"/parameters/0/domain", "null"},
      {"/parameters/0/domain", "{}"},
      {"/parameters/0/domain/kind", R"("chance")"},
      {"/parameters/0/domain/kind", "0"},
      {"/parameters/0/domain/choices", "[]"},
      {"/parameters/0/domain/choices", R"("sgd")"},
      {"/parameters/0/domain/choices/0", "18446744073709551615"},
      {"/parameters/6/domain/step", "0"},
      {"/parameters/6/domain/step", "-0.1"},
      {"/parameters/6/domain/step", "0.3"},
      {"/parameters/6/domain/step", "1e-12"},
      {"/parameters/6/domain/step", "null"},
      {"/parameters/2/domain/step", "0.1"},
      {"/parameters/0/domain/choices/0", R"("adam")"},
      {"/parameters/5/domain/choices/2", "3.0"},
      {"/parameters/2/domain/low", "0"},
      {"/parameters/2/domain/low", "2"},
      {"/parameters/2/domain/low", R"("x")"},
      {"/parameters/2/domain", R"({"kind":"real","low":0})"},
      {"/parameters/2/domain", R"({"kind":"real","low":-1e308,"high":1e308})"},
      {"/parameters/3/domain/low", "0.5"},
      {"/parameters/3/domain/high", "9007199254740993"},
      {"/parameters/3/domain/high", "9007199254740992"},
      {"/parameters/3/domain/high", "1e300"},
      {"/parameters/4/domain/low", "0"},
      {"/parameters/1/when", "[]"},
      {"/parameters/1/when/parameter", R"("rate")"},
      {"/parameters/1/when/parameter", R"("momentum")"},
      {"/parameters/1/when/parameter", "null"},
      {"/parameters/1/when/values", "[]"},
      {"/parameters/1/when/values/0", R"("rmsprop")"},
      {"/constraints/0", "7"},
      {"/constraints/0", R"("layers <")"},
  };
  for (const auto& [where, what] : damage) {
    json damaged = to_json(full_space());
    damaged[json::json_pointer(where)] = json::parse(what);
    EXPECT_THROW(space_from_json(damaged), SystemError) << where << " " << what;
  }
  json not_a_number = to_json(full_space());
  not_a_number["parameters"][2]["domain"]["low"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(space_from_json(not_a_number), SystemError);
  not_a_number = to_json(full_space());
  not_a_number["parameters"][5]["domain"]["choices"][2] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(space_from_json(not_a_number), SystemError);
}

TEST(Space, TooMuchIsASystemError) {
  json parameters = json::array();
  for (std::size_t i = 0; i <= kMostParameters; ++i)
    parameters.push_back(
        {{"name", "p" + std::to_string(i)}, {"domain", {{"kind", "real"}, {"low", 0}, {"high", 1}}}});
  EXPECT_THROW(space_from_json({{"parameters", parameters}}), SystemError);
  parameters.erase(0);
  EXPECT_EQ(space_from_json({{"parameters", parameters}}).parameters.size(), kMostParameters);
  json choices = json::array();
  for (std::size_t i = 0; i <= kMostChoices; ++i) choices.push_back(i);
  EXPECT_THROW(
      space_from_json(
          {{"parameters",
            json::array({{{"name", "x"}, {"domain", {{"kind", "choice"}, {"choices", choices}}}}})}}),
      SystemError);
  EXPECT_THROW(
      space_from_json({{"constraints", json(std::vector<std::string>(kMostConstraints + 1, "true"))}}),
      SystemError);
}

}  // namespace
}  // namespace tandem::spec
