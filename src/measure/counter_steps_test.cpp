#include "measure/counter_steps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace tandem::measure {
namespace {

// A card whose counter is renewed every `step` seconds, and draws 100 W until second 1, then 400 and 600 W in
// turn, a third of a second each.
struct Card {
  double step = 0.1, phase = 0.037;

  static double used(double at) {
    if (at <= 1) return 100 * at;
    const double pairs = std::floor((at - 1) * 1.5), rest = at - 1 - pairs / 1.5;
    return 100 + pairs * 1000 / 3 + 400 * std::min(rest, 1.0 / 3) + 600 * std::max(0.0, rest - 1.0 / 3);
  }
  double shows(double at) const { return used(std::floor((at - phase) / step) * step + phase); }
};

CounterSteps::Search search(CounterSteps& steps, const auto& card, Random& random, double& at) {
  auto found = CounterSteps::Search::goes_on;
  steps.begin(Seconds{at}, card.shows(at));
  for (int poll = 0; found == CounterSteps::Search::goes_on && poll < 1000; ++poll) {
    at += 0.002 + 0.003 * random.uniform();
    found = steps.poll(Seconds{at}, card.shows(at));
  }
  return found;
}

TEST(CounterSteps, JoulesOfAThirdOfASecond) {
  double worst = 0, worst_by_counter = 0, first = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const Card card{.phase = 0.1 * random.uniform()};
    CounterSteps steps;
    double at = 0.4 + 0.1 * random.uniform();
    const double begin = at;
    ASSERT_EQ(search(steps, card, random, at), CounterSteps::Search::found);
    EXPECT_LE(at - begin, 0.21) << "two steps are enough";
    first = std::max(first, std::abs(card.shows(begin) + steps.first_missed() - Card::used(begin)));
    double before = 0, counted = 0;
    for (int epoch = 0; epoch < 25; ++epoch) {
      at = 1 + epoch / 3.0 + 0.002 * random.uniform();
      while (steps.stepping(Seconds{at})) at += 0.003;
      const double now = card.shows(at) + steps.missed(Seconds{at}, card.shows(at));
      const double truly = Card::used(at) - Card::used(1 + (epoch - 1) / 3.0);
      if (epoch > 0) {
        worst = std::max(worst, std::abs(now - before - truly) / truly);
        worst_by_counter = std::max(worst_by_counter, std::abs(card.shows(at) - counted - truly) / truly);
      }
      before = now, counted = card.shows(at);
    }
  }
  EXPECT_LT(first, 1) << "joules that the reading before was short of";
  EXPECT_LT(worst, 0.12);
  EXPECT_GT(worst_by_counter, 0.25) << "else there would be nothing to gain";
}

TEST(CounterSteps, NothingIsAddedToOneThatMovesAllTheTimeOrNever) {
  struct Smooth {
    double shows(double at) const { return 300 * at; }
  };
  struct Still {
    double shows(double) const { return 7; }
  };
  Random random(3);
  CounterSteps smooth, still;
  double at = 5;
  EXPECT_EQ(search(smooth, Smooth{}, random, at), CounterSteps::Search::none);
  EXPECT_LT(at, 5.05) << "that is soon seen";
  EXPECT_EQ(search(still, Still{}, random, at), CounterSteps::Search::none);
  EXPECT_EQ(smooth.missed(Seconds{at}, 1), 0);
}

// Looked for when the program starts and when it is ready, which takes one step only; the clocks differ a
// bit.
TEST(CounterSteps, LookedForAgainTheyAreKnownBetter) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Card card{.step = 0.1003, .phase = 0.1 * random.uniform()};
    CounterSteps steps;
    double at = 0.4;
    ASSERT_EQ(search(steps, card, random, at), CounterSteps::Search::found);
    at = 6.0 + 0.1 * random.uniform();
    steps.missed(Seconds{at - 0.2}, card.shows(at - 0.2));
    const double begin = at;
    ASSERT_EQ(search(steps, card, random, at), CounterSteps::Search::found);
    EXPECT_LE(at - begin, 0.106);
    EXPECT_NEAR(card.shows(begin) + steps.first_missed(), Card::used(begin), 20);
    at = 14.0 + 0.1 * random.uniform();
    while (steps.stepping(Seconds{at})) at += 0.003;
    steps.missed(Seconds{at - 0.3}, card.shows(at - 0.3));
    EXPECT_NEAR(card.shows(at) + steps.missed(Seconds{at}, card.shows(at)), Card::used(at), 20)
        << "of at most 60 that are missing";
  }
}

TEST(CounterSteps, NobodyKnowsAfterAWhile) {
  Random random(3);
  const Card card;
  CounterSteps steps;
  double at = 0.4;
  ASSERT_EQ(search(steps, card, random, at), CounterSteps::Search::found);
  EXPECT_GT(steps.missed(Seconds{5.099}, card.shows(5.099)), 10);
  EXPECT_EQ(steps.missed(Seconds{11.099}, card.shows(11.099)), 0);
}

}  // namespace
}  // namespace tandem::measure
