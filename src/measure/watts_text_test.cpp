#include "measure/watts_text.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"

namespace tandem::measure {
namespace {

double watts(const std::string& answer) {
  return watts_from(answer).value;
}

TEST(WattsFrom, ABareNumber) {
  EXPECT_DOUBLE_EQ(watts("123.5\r\n"), 123.5);
  EXPECT_DOUBLE_EQ(watts(" 0 "), 0);
}

TEST(WattsFrom, Json) {
  EXPECT_DOUBLE_EQ(watts(R"({"watts": 87.25})"), 87.25);
  EXPECT_DOUBLE_EQ(watts(R"({"power": "61.5", "voltage": 230})"), 61.5);
  EXPECT_DOUBLE_EQ(watts(R"({"meters":[{"power":41.2,"is_valid":true,"total":99}]})"), 41.2);
  EXPECT_DOUBLE_EQ(watts(R"({"StatusSNS":{"ENERGY":{"Power":12,"Voltage":230}}})"), 12);
  EXPECT_DOUBLE_EQ(watts(R"({"watts": 5, "power": 6})"), 5) << "the one that names its unit";
}

TEST(WattsFrom, Text) {
  EXPECT_DOUBLE_EQ(watts("Voltage: 230.1 V, Current: 0.52 A, Power: 119.6 W\n"), 119.6);
  EXPECT_DOUBLE_EQ(watts("P1 0.52A 1.2kW"), 1200);
  EXPECT_DOUBLE_EQ(watts("<td>Power</td><td>88 Watts</td>"), 88);
  EXPECT_DOUBLE_EQ(watts("outlet1 power=45"), 45);
  EXPECT_DOUBLE_EQ(watts("5000mW"), 5);
}

TEST(WattsFrom, NothingIsGuessed) {
  for (const char* bad : {"", "hello", "{", "[]", "{}", R"({"power": null})", "nan", "inf", "-5", "1e300",
                          "2000000", "10 W and 20 W", R"([{"power":1},{"power":2}])", "230 V", "12 Wh",
                          "Power: -3 W", R"({"watts": "many"})"})
    EXPECT_THROW(watts_from(bad), SystemError) << bad;
}

TEST(WattsFrom, HostileAnswersOnlyThrow) {
  EXPECT_THROW(watts_from(std::string(60000, '[')), SystemError);
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += R"({"a":)";
  deep += R"({"power":1})" + std::string(5000, '}');
  EXPECT_THROW(watts_from(deep), SystemError);
  Random random(5);
  const std::string letters = "0123456789.-+eEWkm {}[]\":,powerats\n\xff";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (auto n = random.below(30); n > 0; --n) text += letters[random.below(letters.size())];
    try {
      const double value = watts(text);
      EXPECT_GE(value, 0);
      EXPECT_LE(value, 1e6);
    } catch (const SystemError&) {
      continue;
    }
  }
}

}  // namespace
}  // namespace tandem::measure
