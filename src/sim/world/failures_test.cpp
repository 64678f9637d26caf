#include "sim/world/failures.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace tandem::sim {
namespace {

constexpr Seconds kForGood{std::numeric_limits<double>::infinity()};

TEST(Failures, ThereAreNoneUnlessAskedFor) {
  Failures none;
  EXPECT_FALSE(none.next(3, Seconds{0}));
  EXPECT_FALSE(none.endless());
}

TEST(Failures, ANodeDrawsTheSameWhateverTheOthersDo) {
  auto alone = Failures::drawn(Seconds{1000}, Seconds{10}, 7);
  auto among = Failures::drawn(Seconds{1000}, Seconds{10}, 7);
  auto other = Failures::drawn(Seconds{1000}, Seconds{10}, 8);
  Seconds now;
  for (int i = 0; i < 20; ++i) {
    const auto expected = alone.next(5, now).value();
    for (NodeId node : {9, 0, 2}) among.next(node, now);
    const auto outage = among.next(5, now).value();
    EXPECT_EQ(outage.from, expected.from);
    EXPECT_EQ(outage.until, expected.until);
    EXPECT_NE(other.next(5, now).value().from, expected.from);
    EXPECT_GE(outage.from, now);
    EXPECT_GE(outage.until, outage.from);
    now = outage.until;
  }
}

TEST(Failures, TheirMeansAreThoseAskedFor) {
  auto failures = Failures::drawn(Seconds{1000}, Seconds{10}, 1);
  double up = 0, down = 0;
  Seconds now;
  for (int i = 0; i < 20'000; ++i) {
    const auto outage = failures.next(0, now).value();
    up += (outage.from - now).value;
    down += (outage.until - outage.from).value;
    now = outage.until;
  }
  EXPECT_NEAR(up / 20'000, 1000, 30);
  EXPECT_NEAR(down / 20'000, 10, 0.3);
}

TEST(Failures, ListedOnesComeInOrderOnceEach) {
  auto failures = Failures::listed({{1, Seconds{50}, kForGood}, {1, Seconds{10}, Seconds{20}}});
  EXPECT_EQ(failures.nodes_named(), 2u);
  EXPECT_FALSE(failures.next(0, Seconds{0}));
  EXPECT_EQ(failures.next(1, Seconds{0}).value().from, Seconds{10});
  EXPECT_EQ(failures.next(1, Seconds{20}).value().until, kForGood);
  EXPECT_FALSE(failures.next(1, Seconds{60}));
}

TEST(Failures, AListedOneThatIsOverIsLeftOutAndOneThatGoesOnBeginsNow) {
  auto failures = Failures::listed({{0, Seconds{10}, Seconds{20}}, {0, Seconds{30}, Seconds{40}}});
  const auto outage = failures.next(0, Seconds{35}).value();
  EXPECT_EQ(outage.from, Seconds{35});
  EXPECT_EQ(outage.until, Seconds{40});
}

TEST(Failures, WhatCannotBeIsAnError) {
  EXPECT_THROW(Failures::drawn(Seconds{0}, Seconds{10}, 1), UserError);
  EXPECT_THROW(Failures::drawn(Seconds{10}, kForGood, 1), UserError);
  EXPECT_THROW(Failures::listed({{0, Seconds{10}, Seconds{5}}}), UserError);
  EXPECT_THROW(Failures::listed({{-1, Seconds{1}, Seconds{5}}}), UserError);
  EXPECT_THROW(Failures::listed({{0, Seconds{1}, Seconds{5}}, {0, Seconds{4}, Seconds{6}}}), UserError);
}

}  // namespace
}  // namespace tandem::sim
