#include "spec/token.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem::spec::lexing {
namespace {

using Kind = Token::Kind;

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> out;
  for (const auto& token : tokens(text)) out.push_back(token.text);
  out.pop_back();  // the end
  return out;
}
using Texts = std::vector<std::string>;

std::string problem(std::string_view text) {
  try {
    tokens(text);
  } catch (const Problem& found) {
    return found.message;
  }
  return "none";
}

double number(std::string_view text) {
  const auto found = tokens(text);
  return found.size() == 2 && found[0].kind == Kind::number ? found[0].number : NAN;
}

// Its mistakes, as a person sees them, are in expression_test.cpp.
TEST(Tokens, AreWordsNamesNumbersAndSignsInTheirPlaces) {
  const auto all = tokens(" cores*2 <='a b'");
  ASSERT_EQ(all.size(), 6U);
  const Kind kinds[] = {Kind::name, Kind::sign, Kind::number, Kind::sign, Kind::word, Kind::end};
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].kind, kinds[i]) << i;
  EXPECT_EQ(all[4].text, "a b") << "without its quotes";
  EXPECT_EQ(all[4].at, 11U);
  EXPECT_EQ(all[4].past, 16U) << "with them";
  EXPECT_EQ(all[5].at, 16U);
}

TEST(Tokens, NothingIsAnEnd) {
  for (const char* text : {"", " ", "\t\r\n "}) {
    const auto all = tokens(text);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].kind, Kind::end);
  }
}

TEST(Tokens, TheLongestSignIsTaken) {
  EXPECT_EQ(texts("a<=b==c!=d>=e<f"), (Texts{"a", "<=", "b", "==", "c", "!=", "d", ">=", "e", "<", "f"}));
  EXPECT_EQ(texts("-(a%-2)"), (Texts{"-", "(", "a", "%", "-", "2", ")"})) << "a minus is no part of a number";
}

TEST(Tokens, NamesHaveDotsAndDigits) {
  EXPECT_EQ(texts("hyper.batch_size2 _x"), (Texts{"hyper.batch_size2", "_x"}));
}

TEST(Tokens, NumbersAreInTheirBaseUnit) {
  EXPECT_DOUBLE_EQ(number("2"), 2);
  EXPECT_DOUBLE_EQ(number(".5"), 0.5);
  EXPECT_DOUBLE_EQ(number("1e-3"), 1e-3);
  EXPECT_DOUBLE_EQ(number("2GiB"), 2.0 * (1 << 30));
  EXPECT_DOUBLE_EQ(number("2 GiB"), 2.0 * (1 << 30)) << "a space between is fine";
  EXPECT_DOUBLE_EQ(number("1.5min"), 90);
  EXPECT_DOUBLE_EQ(number("2kJ"), 2000);
  EXPECT_DOUBLE_EQ(number("150W"), 150);
}

TEST(Tokens, AWordAfterANumberIsNoUnitUnlessItIsOne) {
  EXPECT_EQ(texts("2 and cores"), (Texts{"2", "and", "cores"}));
  EXPECT_EQ(problem("2Gib"), "'Gib' at column 2 is not a unit") << "units are written as they are";
}

TEST(Tokens, AValueBeginsWithANumberAWordANameOrASign) {
  for (const char* yes : {"1", "'a'", "a", "not", "(", "-"}) EXPECT_TRUE(tokens(yes)[0].begins_value()) << yes;
  for (const char* no : {"and", "or", ")", "*", "<", ""}) EXPECT_FALSE(tokens(no)[0].begins_value()) << no;
  EXPECT_FALSE(tokens("'and'")[0].is("and")) << "a word in quotes is never a sign";
}

}  // namespace
}  // namespace tandem::spec::lexing
