#include "search/points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "search/space_testing.h"

namespace tandem::search {
namespace {

using spec::Domain;
using Kind = Domain::Kind;

TEST(Points, EveryValueOfADomainComesBackFromItsPosition) {
  const std::vector<Domain> domains{choice({"a", "b", "c"}),
                                    choice({true, false}),
                                    choice({1, 2.5, "x"}),
                                    whole(-3, 17),
                                    log_whole(1, 1000),
                                    log_whole(16, 16),
                                    in_steps(real(0, 1), 0.1),
                                    in_steps(whole(-16, 256), 16),
                                    choice({Structure{"null"}, Structure{"[64,64]"}, 3})};
  for (const auto& domain : domains)
    for (std::int64_t i = 0; i < *count(domain); ++i) {
      const Value value = value_of(domain, i);
      const double u = position(domain, value);
      EXPECT_GE(u, 0);
      EXPECT_LT(u, 1);
      EXPECT_EQ(at(domain, u), value);
    }
}

TEST(Points, RealValuesComeBackUpToRoundingAndTheEndsExactly) {
  Random random(1);
  for (const auto& domain : {real(-2, 5), real(0, 1e9), log_real(1e-6, 0.1), log_real(3, 7)}) {
    for (const double end : {domain.low, domain.high})
      EXPECT_EQ(at(domain, position(domain, end)), Value(end));
    for (int i = 0; i < 1000; ++i) {
      const double value = std::get<double>(at(domain, random.uniform()));
      EXPECT_TRUE(spec::contains(domain, value));
      EXPECT_NEAR(std::get<double>(at(domain, position(domain, value))), value,
                  1e-12 * std::abs(value) + 1e-12);
    }
  }
}

TEST(Points, WholeNumbersGivenAsRealOnesAreTheSame) {
  EXPECT_EQ(position(whole(0, 9), 4.0), position(whole(0, 9), std::int64_t{4}));
  EXPECT_EQ(position(choice({1, 2}), 2.0), position(choice({1, 2}), std::int64_t{2}));
}

TEST(Points, EqualSharesOfTheUnitIntervalAreEquallyLikely) {
  std::map<std::string, int> seen;
  for (int i = 0; i < 900; ++i) ++seen[text(at(whole(1, 3), (i + 0.5) / 900))];
  EXPECT_EQ(seen, (std::map<std::string, int>{{"1", 300}, {"2", 300}, {"3", 300}}));
  int below = 0;
  for (int i = 0; i < 1000; ++i) below += std::get<double>(at(log_real(1e-4, 1), (i + 0.5) / 1000)) < 1e-2;
  EXPECT_EQ(below, 500);
}

TEST(Points, StepsAreEquallyLikelyAndNothingElseIsDrawn) {
  std::map<std::string, int> seen;
  for (int i = 0; i < 500; ++i) ++seen[text(at(in_steps(real(0, 1), 0.25), (i + 0.5) / 500))];
  EXPECT_EQ(seen, (std::map<std::string, int>{
                      {"0.0", 100}, {"0.25", 100}, {"0.5", 100}, {"0.75", 100}, {"1.0", 100}}));
}

TEST(Points, WhatAKnownPointLeavesOpenIsDrawn) {
  const auto space = conditional_space();
  Random random(4);
  std::set<Values> different;
  for (int i = 0; i < 50; ++i) {
    const Values point = completed(space, {{"optimizer", std::string("sgd")}, {"rate", 0.5}}, random);
    EXPECT_EQ(point.at("rate"), Value(0.5));
    EXPECT_TRUE(point.contains("momentum"));
    expect_fits(space, point);
    different.insert(point);
  }
  EXPECT_GT(different.size(), 40u);
  EXPECT_FALSE(
      completed(space, {{"optimizer", std::string("adam")}, {"momentum", 0.1}}, random).contains("momentum"));
}

TEST(Points, ADomainOfOneValueGivesIt) {
  for (const auto& domain : {real(2, 2), log_real(2, 2)}) {
    EXPECT_EQ(at(domain, 0.7), Value(2.0));
    EXPECT_EQ(position(domain, 2.0), 0);
  }
}

TEST(Points, OnlyWhatExistsIsInAPoint) {
  const auto space = conditional_space();
  Random random(1);
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const Values point = draw(space, random);
    const auto optimizer = std::get<std::string>(point.at("optimizer"));
    seen.insert(optimizer);
    EXPECT_EQ(point.count("momentum"), optimizer == "sgd" ? 1u : 0u);
    EXPECT_EQ(point.count("nesterov"), point.count("momentum"));
    EXPECT_EQ(point.count("decay"), optimizer == "sgd" && point.at("nesterov") == Value(true) ? 1u : 0u);
    expect_fits(space, point);
  }
  EXPECT_EQ(seen.size(), 3u);
}

TEST(Points, DrawnPointsMeetTheConstraints) {
  const auto space =
      space_of({{"batch", whole(1, 64)}, {"cores", whole(1, 8)}}, {"batch % cores == 0", "cores > 2"});
  Random random(3);
  for (int i = 0; i < 200; ++i) expect_fits(space, draw(space, random));
}

TEST(Points, UnseenPointsAreDrawnWhileThereAreAny) {
  const auto space = space_of({{"a", whole(1, 4)}, {"b", choice({"x", "y"})}});
  Random random(3);
  std::set<Values> seen;
  for (int i = 0; i < 8; ++i) seen.insert(draw_unseen(space, seen, random));
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_EQ(seen.count(draw_unseen(space, seen, random)), 1u);
}

TEST(Points, ImpossibleConstraintsAreTheUsersToFix) {
  const auto space = space_of({{"a", real(0, 1)}, {"b", real(0, 1)}}, {"a < 0.5", "a + b > 3"});
  Random random(3);
  try {
    draw(space, random);
    FAIL() << "drew a point";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("'a + b > 3'"), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find("'a < 0.5'"), std::string::npos) << error.what();
  }
  const auto contradiction = space_of({{"a", real(0, 1)}}, {"a < 0.5", "a > 0.5"});
  try {
    draw(contradiction, random);
    FAIL() << "drew a point";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("'a < 0.5', 'a > 0.5'"), std::string::npos) << error.what();
  }
}

// A point of 100 constraints of 4 096 bytes takes milliseconds to check: 10 000 of them took minutes.
TEST(Points, FewerPointsAreLookedAtWhereEachTakesLong) {
  const auto small = space_of({{"a", real(0, 1)}, {"b", real(0, 1)}}, {"a < b"});
  EXPECT_EQ(most_tries(small), 10'000);
  std::string sum = "a";
  while (sum.size() < 4000) sum += " + a";
  auto large = space_of({{"a", real(0, 1)}}, {sum + " < 0"});
  EXPECT_LT(most_tries(large), 1000);
  for (int i = 0; i < 100; ++i) large.constraints.push_back(large.constraints.front());
  EXPECT_EQ(most_tries(large), 100);
  Random random(3);
  EXPECT_THROW(draw(large, random), UserError);
}

}  // namespace
}  // namespace tandem::search
