#include "spec/expression.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace tandem::spec {
namespace {

Expression good(const std::string& text) {
  auto parsed = Expression::parse(text);
  if (const auto* problem = std::get_if<std::string>(&parsed)) ADD_FAILURE() << text << ": " << *problem;
  return std::holds_alternative<Expression>(parsed) ? std::get<Expression>(parsed) : Expression();
}

bool holds(const std::string& text, const Values& values = {}) {
  return good(text).holds(values);
}

std::string problem(const std::string& text) {
  auto parsed = Expression::parse(text);
  const auto* found = std::get_if<std::string>(&parsed);
  return found != nullptr ? *found : "";
}

const Values kPoint{{"batch_size", std::int64_t{64}},  {"cores", std::int64_t{2}}, {"dropout", 0.25},
                    {"optimizer", std::string("sgd")}, {"nesterov", true},         {"memory", kGiB * 2},
                    {"zero", std::int64_t{0}},         {"model.depth", 3.0}};

TEST(Expression, SaysWhetherAPointWillDo) {
  EXPECT_TRUE(holds("batch_size % cores == 0", kPoint));
  EXPECT_FALSE(holds("batch_size % cores == 1", kPoint));
  EXPECT_TRUE(holds("cores < 3 or dropout > 0.5", kPoint));
  EXPECT_FALSE(holds("cores < 2 or dropout > 0.5", kPoint));
  EXPECT_TRUE(holds("model.depth == 3", kPoint));
  EXPECT_TRUE(holds("nesterov", kPoint));
  EXPECT_FALSE(holds("not nesterov", kPoint));
}

TEST(Expression, KeepsItsTextAndNames) {
  const auto expression = good(" batch_size %cores==0 and 'cores' != \"and\" and true");
  EXPECT_EQ(expression.text(), " batch_size %cores==0 and 'cores' != \"and\" and true");
  EXPECT_EQ(expression.names(), (std::set<std::string>{"batch_size", "cores"}));
  EXPECT_EQ(expression, good(expression.text()));
  EXPECT_FALSE(expression == good("true"));
}

TEST(Expression, BindsAsInArithmetic) {
  EXPECT_TRUE(holds("1 + 2 * 3 == 7"));
  EXPECT_TRUE(holds("(1 + 2) * 3 == 9"));
  EXPECT_TRUE(holds("10 - 4 - 3 == 3"));
  EXPECT_TRUE(holds("16 / 4 / 2 == 2"));
  EXPECT_TRUE(holds("7 * 3 % 4 == 1"));
  EXPECT_TRUE(holds("-2 * -3 == 6"));
  EXPECT_TRUE(holds("--2 == 2"));
  EXPECT_TRUE(holds("2 - -2 == 4"));
  EXPECT_TRUE(holds("1 / 2 == 0.5")) << "division is of real numbers";
  EXPECT_TRUE(holds("1 + 1 < 2 + 1"));
  EXPECT_TRUE(holds("not 1 == 2")) << "not is looser than a comparison";
  EXPECT_TRUE(holds("true or true and false")) << "and is tighter than or";
  EXPECT_FALSE(holds("(true or true) and false"));
  EXPECT_TRUE(holds("not false and true")) << "not is tighter than and";
  EXPECT_FALSE(holds("not (false or true)"));
  EXPECT_TRUE(holds("not not true"));
}

TEST(Expression, ComparesNumbersWordsAndFlags) {
  for (const char* yes :
       {"1 < 2", "2 <= 2", "3 > 2", "2 >= 2", "2 == 2.0", "1 != 2", "'a' < 'b'", "'a' == \"a\"", "'a' != 'b'",
        "true == true", "true != false", "1e3 == 1000", ".5 == 0.5"})
    EXPECT_TRUE(holds(yes)) << yes;
  for (const char* no :
       {"2 < 2", "3 <= 2", "2 > 2", "1 >= 2", "1 == 2", "1 != 1", "'b' < 'a'", "'a' == 'A'", "true == false"})
    EXPECT_FALSE(holds(no)) << no;
  EXPECT_TRUE(holds("optimizer == 'sgd'", kPoint));
  EXPECT_FALSE(holds("optimizer == 'adam'", kPoint));
}

TEST(Expression, KnowsUnits) {
  EXPECT_TRUE(holds("memory >= 2GiB", kPoint));
  EXPECT_FALSE(holds("memory > 2 GiB", kPoint));
  EXPECT_TRUE(holds("1.5KiB == 1536"));
  EXPECT_TRUE(holds("2min == 120s and 1kW == 1000W and 1Wh == 3.6kJ"));
  EXPECT_TRUE(holds("0.5 == 50%"));
  EXPECT_TRUE(holds("50% < 0.6 and 10% + 10% == 20%"));
  EXPECT_TRUE(holds("(50%) == 0.5 or false"));
  EXPECT_TRUE(holds("7%4 == 3")) << "a remainder, because a value follows";
  EXPECT_TRUE(holds("7% -4 == -1"));
  EXPECT_TRUE(holds("7%(4) == 3"));
}

TEST(Expression, RemaindersHaveTheSignOfTheDivisor) {
  EXPECT_TRUE(holds("-7 % 4 == 1"));
  EXPECT_TRUE(holds("7 % -4 == -1"));
  EXPECT_TRUE(holds("-8 % 4 == 0"));
  EXPECT_TRUE(holds("7.5 % 2 == 1.5"));
}

TEST(Expression, WhatHasNoAnswerDoesNotHold) {
  for (const char* no :
       {"1 / zero > 0", "1 / zero <= 0", "1 % zero == 0", "not 1 % zero == 0", "1 / zero > 0 or true",
        "optimizer > 3", "optimizer != 3", "not optimizer == 3", "nesterov == 1", "nesterov < true",
        "optimizer + 1 == 2", "-optimizer == 1", "not batch_size", "batch_size", "optimizer",
        "batch_size or true", "nesterov == 'true'", "1e308 * 10 > 1", "1e308 * 10 - 1e308 * 10 != 0"})
    EXPECT_FALSE(holds(no, kPoint)) << no;
  EXPECT_TRUE(holds("zero == 0 or 1 / zero > 1", kPoint)) << "what comes first can guard the rest";
  EXPECT_FALSE(holds("zero != 0 and 1 / zero > 1", kPoint));
}

TEST(Expression, SaysNothingOfWhatDoesNotExist) {
  EXPECT_TRUE(holds("momentum > 0.5", kPoint));
  EXPECT_TRUE(holds("cores == 99 and momentum > 0.5", kPoint));
  EXPECT_TRUE(holds("1 / zero > momentum", kPoint));
  EXPECT_TRUE(Expression().holds({})) << "the empty condition";
}

TEST(Expression, ErrorsNameTheColumn) {
  const std::vector<std::pair<const char*, const char*>> bad{
      {"", "is empty; write a condition such as batch_size % cores == 0"},
      {"   ", "is empty; write a condition such as batch_size % cores == 0"},
      {"batch_size % == 0", "expected a value after '%' at column 14"},
      {"batch_size %", "expected a value after '%' at column 13"},
      {"== 3", "expected a value at column 1"},
      {"a and", "expected a value after 'and' at column 6"},
      {"a or or b", "expected a value after 'or' at column 6"},
      {"a == not b", "expected a value after '==' at column 6"},
      {"(a == 1", "expected ')' at column 8"},
      {"()", "expected a value after '(' at column 2"},
      {"a == 1)", "unexpected ')' at column 7"},
      {"a == 1 b", "unexpected 'b' at column 8"},
      {"a == b c", "unexpected 'c' at column 8"},
      {"a == 'b' 'c'", "unexpected 'c' at column 10"},
      {"a = 1", "unexpected '=' at column 3: write == to compare"},
      {"a && b", "unexpected '&' at column 3: write and"},
      {"a || b", "unexpected '|' at column 3: write or"},
      {"!a", "unexpected '!' at column 1: write not"},
      {"a < 1 < 2", "unexpected '<' at column 7: comparisons do not chain; write a < b and b < c"},
      {"a == 'sgd", "the word that begins at column 6 has no closing quote"},
      {"a == 3parsecs", "'parsecs' at column 7 is not a unit"},
      {"a == 3and b", "'and' at column 7 is not a unit"},
      {"a == 1e999", "the number at column 6 is too large or too small"},
      {"a == 1e308TiB", "the number at column 6 is too large or too small"},
      {"a == 1.2.3", "unexpected '.3' at column 9"},
      {"a == $", "unexpected '$' at column 6"},
      {"a == \xc3\xa9", "unexpected '\xc3\xa9' at column 6"},
      {"a == \xff", "unexpected '?' at column 6"},
      {"batch_size % cores", "is a number, not a condition: compare it with something, such as ... == 0"},
      {"'sgd'", "is a word, not a condition: compare it with something, such as ... == 0"},
      {"a == 1 and 2", "expected a condition at column 12, not a number"},
      {"2 + 2 or a", "expected a condition at column 1, not a number"},
      {"not 'x'", "expected a condition at column 5, not a word"},
  };
  for (const auto& [text, says] : bad) EXPECT_EQ(problem(text), says) << text;
}

TEST(Expression, ProblemsAreOneLine) {
  for (const char* text : {"a == 'x\ny", "a ==\x1b[31m", "a\n==", "\n\n", "a == 1\t\x01"}) {
    const std::string says = problem(text);
    EXPECT_FALSE(says.empty()) << text;
    for (const char c : says) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << text;
  }
}

TEST(Expression, IsLimitedInLengthAndDepth) {
  EXPECT_EQ(problem(std::string(100'000, '(') + "1" + std::string(100'000, ')')),
            "has 200001 bytes; a condition has at most 4096");
  const auto nested = [](std::size_t levels, const std::string& open, const std::string& close) {
    std::string text;
    for (std::size_t i = 0; i < levels; ++i) text += open;
    text += "true";
    for (std::size_t i = 0; i < levels; ++i) text += close;
    return text;
  };
  EXPECT_TRUE(holds(nested(50, "(", ")")));
  EXPECT_EQ(problem(nested(2000, "(", ")")), "is nested deeper than 100 levels at column 101");
  EXPECT_NE(problem(nested(500, "not ", "")), "");
  EXPECT_NE(problem(std::string(4000, '-') + "1 == 1"), "");
}

TEST(Expression, LongChainsAreFine) {
  std::string sum = "1";
  for (int i = 0; i < 1000; ++i) sum += "+1";
  EXPECT_TRUE(holds(sum + " == 1001"));
  std::string either = "false";
  for (int i = 0; i < 400; ++i) either += " or false";
  EXPECT_FALSE(holds(either));
  EXPECT_TRUE(holds(either + " or true"));
}

TEST(Expression, CopiesShareTheirTree) {
  Expression copy;
  {
    const auto original = good("cores == 2");
    copy = original;
  }
  EXPECT_TRUE(copy.holds(kPoint));
}

}  // namespace
}  // namespace tandem::spec
