#include "base/value.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tandem {
namespace {

using nlohmann::json;

TEST(Value, TextIsAsInYaml) {
  EXPECT_EQ(text(Value(true)), "true");
  EXPECT_EQ(text(Value(false)), "false");
  EXPECT_EQ(text(Value(std::int64_t{64})), "64");
  EXPECT_EQ(text(Value(0.05)), "0.05");
  EXPECT_EQ(text(Value(1.0)), "1.0") << "a real number must not read as a whole one";
  EXPECT_EQ(text(Value(1e300)), "1e+300");
  EXPECT_EQ(text(Value("sgd")), "sgd");
}

TEST(Value, OnlyNumbersAreNumbers) {
  EXPECT_EQ(as_number(Value(std::int64_t{3})), 3.0);
  EXPECT_EQ(as_number(Value(0.5)), 0.5);
  EXPECT_FALSE(as_number(Value(true)));
  EXPECT_FALSE(as_number(Value("3")));
}

TEST(Value, SurvivesJsonWithItsKind) {
  const Values values{{"flag", true}, {"whole", std::int64_t{-7}}, {"real", 2.0}, {"word", std::string("7")}};
  int refused = -1;
  EXPECT_EQ(values_from_json(json::parse(to_json(values).dump()), &refused), values);
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(values_from_json(json::from_cbor(json::to_cbor(to_json(values)))), values);
}

TEST(Value, NullListsAndMapsAreValuesToo) {
  const auto value = [](const char* text) { return *value_from_json(json::parse(text)); };
  const Values values{
      {"none", value("null")}, {"list", value("[64, 64]")}, {"map", value(R"({"units": 32})")}};
  EXPECT_EQ(text(values.at("none")), "null");
  EXPECT_EQ(text(values.at("list")), "[64,64]");
  EXPECT_EQ(text(values.at("map")), R"({"units":32})");
  EXPECT_EQ(value(R"({"b": 1, "a": 2})"), value(R"({"a": 2, "b": 1})"));
  EXPECT_NE(value("null"), Value("null"));
  EXPECT_FALSE(as_number(value("[1]")));
  int refused = -1;
  EXPECT_EQ(values_from_json(json::parse(to_json(values).dump()), &refused), values);
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(to_json(values).dump(), R"({"list":[64,64],"map":{"units":32},"none":null})");
}

TEST(Value, JsonThatIsNoValueIsRefused) {
  EXPECT_FALSE(value_from_json(json::array({std::string(kLargestStructure, 'x')}))) << "too large";
  EXPECT_FALSE(value_from_json(json::binary({1, 2})));
  EXPECT_EQ(value_from_json(INT64_MAX), Value(INT64_MAX));
  EXPECT_FALSE(value_from_json(std::uint64_t{INT64_MAX} + 1)) << "must not wrap around";
}

TEST(Value, RefusedOnesAreCounted) {
  int refused = 0;
  const auto kept = values_from_json(json{{"a", 1}, {"b", UINT64_MAX}, {"c", json::binary({1})}}, &refused);
  EXPECT_EQ(kept, (Values{{"a", std::int64_t{1}}}));
  EXPECT_EQ(refused, 2);
  EXPECT_TRUE(values_from_json(json{1, 2}, &refused).empty());
  EXPECT_EQ(refused, 1) << "a list is one thing that is not an object";
  EXPECT_TRUE(values_from_json(nullptr, &refused).empty());
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace tandem
