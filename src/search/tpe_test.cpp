#include "search/tpe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "search/pareto.h"
#include "search/sampler_testing.h"

namespace tandem::search {
namespace {

class BothTpe : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Tpe, BothTpe, testing::Values("tpe", "tpe-multivariate"), [](const auto& named) {
  return std::string(named.param) == "tpe" ? "Univariate" : "Multivariate";
});

double median_best(const std::string& sampler, const spec::Space& space, const Loss& loss, int trials) {
  std::vector<double> best;
  for (std::uint64_t seed = 1; seed <= 7; ++seed)
    best.push_back(best_loss(sampler, space, loss, trials, seed));
  std::sort(best.begin(), best.end());
  return best[3];
}

TEST_P(BothTpe, BeatsRandomByFarOnASphere) {
  const auto space =
      space_of({{"a", real(-4, 8)}, {"b", real(-4, 8)}, {"c", real(-4, 8)}, {"d", real(-4, 8)}});
  const Loss sphere = [](const Values& point) {
    double sum = 0;
    for (const auto& [name, value] : point) sum += *as_number(value) * *as_number(value);
    return sum;
  };
  EXPECT_LT(median_best(GetParam(), space, sphere, 100), 0.15 * median_best("random", space, sphere, 100));
}

TEST_P(BothTpe, LearnsChoicesWholeNumbersAndConditions) {
  const auto space = conditional_space();
  const Loss loss = [](const Values& point) {
    double out =
        std::abs(std::log10(number(point, "rate")) + 2) + 0.5 * std::abs(number(point, "layers") - 3);
    if (point.count("momentum")) out += std::abs(number(point, "momentum") - 0.9);
    if (point.count("decay")) out += 0.1 * std::abs(std::log10(number(point, "decay")) + 4);
    return out + (point.at("optimizer") == Value(std::string("sgd")) ? 0 : 1);
  };
  EXPECT_LT(median_best(GetParam(), space, loss, 100), 0.5 * median_best("random", space, loss, 100));
  int sgd = 0, three = 0;
  const auto points = search_points(GetParam(), space, loss, 100);
  for (std::size_t i = 60; i < 100; ++i) {
    sgd += points[i].at("optimizer") == Value(std::string("sgd"));
    three += points[i].at("layers") == Value(std::int64_t{3});
  }
  EXPECT_GT(sgd, 28);    // of 40; a third by chance
  EXPECT_GT(three, 20);  // a quarter by chance
}

TEST_P(BothTpe, LearnsLogarithmicWholeNumbersAndSteps) {
  const auto space = space_of({{"width", log_whole(16, 4096)}, {"keep", in_steps(real(0, 1), 0.05)}});
  const Loss loss = [](const Values& point) {
    return std::abs(std::log2(number(point, "width")) - 7) + 5 * std::abs(number(point, "keep") - 0.35);
  };
  EXPECT_LT(median_best(GetParam(), space, loss, 80), 0.5 * median_best("random", space, loss, 80));
  for (const auto& point : search_points(GetParam(), space, loss, 80)) expect_fits(space, point);
}

TEST_P(BothTpe, SpreadsItsFirstPointsEvenly) {
  const auto space = space_of({{"x", real(0, 1)}});
  const auto points = search_points(
      GetParam(), space, [](const Values& p) { return number(p, "x"); }, 8);
  std::set<int> eighths;
  for (const auto& point : points) eighths.insert(static_cast<int>(8 * number(point, "x")));
  EXPECT_EQ(eighths.size(), 8u);
}

TEST_P(BothTpe, TriesNoPointTwiceWhileThereAreOthers) {
  const auto space = space_of({{"a", whole(0, 5)}, {"b", choice({"x", "y", "z"})}});
  const auto points = search_points(
      GetParam(), space, [](const Values& p) { return number(p, "a"); }, 18);
  EXPECT_EQ(std::set<Values>(points.begin(), points.end()).size(), 18u);
  const auto more = search_points(
      GetParam(), space, [](const Values& p) { return number(p, "a"); }, 25);
  EXPECT_EQ(more.size(), 25u);  // then it repeats
}

TEST_P(BothTpe, FollowsANarrowConstraint) {
  const auto space = space_of({{"a", real(0, 1)}, {"b", real(0, 1)}}, {"a + b < 0.3"});
  const Loss loss = [](const Values& p) { return std::abs(number(p, "a") - 0.2) - number(p, "b"); };
  const auto points = search_points(GetParam(), space, loss, 80);
  double best = 1;
  for (const auto& point : points) {
    expect_fits(space, point);
    best = std::min(best, loss(point));
  }
  EXPECT_LT(best, -0.05);  // -0.1 at (0.2, 0.1)
}

// Trials in flight count as bad: nobody else need go where so many are looking already.
TEST_P(BothTpe, KeepsAwayFromTrialsInFlight) {
  const auto space = space_of({{"x", real(0, 1)}, {"y", real(0, 1)}});
  const auto near_the_best = [&](int in_flight) {
    Asker asker(GetParam(), space);
    Values best;
    double best_distance = 1;
    for (int i = 0; i < 60; ++i) {
      const auto point = *asker.ask();
      const double distance = std::hypot(number(point, "x") - 0.3, number(point, "y") - 0.7);
      asker.sampler->observe(i, 1, {distance});
      if (distance < best_distance) best_distance = distance, best = point;
    }
    for (int i = 0; i < in_flight; ++i) asker.sampler->began(asker.asked++, best);
    int near = 0;
    for (std::uint64_t i = 0; i < 100; ++i) {
      Random random(2, i);
      const auto point = *asker.sampler->sample(asker.asked, random);
      near +=
          std::hypot(number(point, "x") - number(best, "x"), number(point, "y") - number(best, "y")) < 0.05;
    }
    return near;
  };
  EXPECT_GT(near_the_best(0), 20);
  EXPECT_LT(near_the_best(30), near_the_best(0) / 2);
}

TEST_P(BothTpe, ComesNearTheFrontOfTwoGoals) {
  const auto space = space_of({{"a", real(0, 1)}, {"b", real(0, 1)}, {"c", real(0, 1)}});
  const auto two = [](const Values& p) {
    const double a = number(p, "a"), rest = number(p, "b") + number(p, "c");
    return Losses{a + rest, 1 - a + rest};
  };
  Asker asker(GetParam(), space, {.goals = 2});
  std::vector<Losses> late;
  for (int i = 0; i < 150; ++i) {
    const auto losses = two(*asker.ask());
    asker.sampler->observe(i, 1, losses);
    if (i >= 100) late.push_back(losses);
  }
  double excess = 0, low = 1, high = 0;
  for (const auto& losses : late) {
    excess += (losses[0] + losses[1] - 1) / 2 / 50;
    low = std::min(low, losses[0]);
    high = std::max(high, losses[0]);
  }
  EXPECT_LT(excess, 0.5);      // 1 by chance
  EXPECT_GT(high - low, 0.6);  // both ends of the front
}

// BOHB: what one epoch says is worth less than what nine say, once enough trials have run nine.
TEST_P(BothTpe, BelievesLongRunsMoreThanShortOnes) {
  const auto space = space_of({{"x", real(0, 1)}});
  Asker asker(GetParam(), space);
  for (int i = 0; i < 60; ++i) {
    const double x = number(*asker.ask(), "x");
    asker.sampler->observe(i, 1, {x});  // after one epoch low x looks good; it is bad after nine
    if (i % 2 == 0)
      for (std::int64_t epoch = 2; epoch <= 9; ++epoch) asker.sampler->observe(i, epoch, {1 - x});
  }
  double mean = 0;
  for (int i = 0; i < 20; ++i) mean += number(*asker.ask(), "x") / 20;
  EXPECT_GT(mean, 0.65);
}

// A program can report well and then fail: its point is no example to follow.
TEST_P(BothTpe, ForgetsAGoodReportWhenTheTrialFails) {
  const auto space = space_of({{"x", real(0, 1)}});
  const auto mean = [&](bool fail) {
    Asker asker(GetParam(), space);
    Random history(1);
    for (TrialId i = 0; i < 60; ++i) {
      const double x = i % 6 == 0 ? 0.1 : history.uniform(0.3, 1);
      asker.sampler->began(asker.asked++, {{"x", x}});
      asker.sampler->observe(i, 1, {std::abs(x - 0.1)});
      if (fail && i % 6 == 0) asker.sampler->failed(i);
    }
    double sum = 0;
    for (std::uint64_t i = 0; i < 50; ++i) {
      Random random(2, i);
      sum += number(*asker.sampler->sample(60, random), "x");
    }
    return sum / 50;
  };
  EXPECT_LT(mean(false), 0.25);
  EXPECT_GT(mean(true), 0.25);
}

// Good where both are low or both are high: one density a parameter cannot know that.
TEST(Tpe, OnlyTheMultivariateOneKnowsWhatGoesTogether) {
  const auto space = space_of({{"a", real(0, 1)}, {"b", real(0, 1)}});
  const auto together = [&](bool multivariate) {
    Tpe sampler(space, {}, multivariate);
    Random history(1);
    for (TrialId i = 0; i < 200; ++i) {
      const double off = 0.05 * history.uniform();
      const bool good = i % 10 == 0, low = i % 20 == 0;
      const Values point = !good ? Values{{"a", history.uniform()}, {"b", history.uniform()}}
                           : low ? Values{{"a", 0.1 + off}, {"b", 0.1 - off}}
                                 : Values{{"a", 0.9 - off}, {"b", 0.9 + off}};
      sampler.began(i, point);
      sampler.observe(i, 1, {good ? 0.0 : 1.0});
    }
    int count = 0;
    for (TrialId i = 200; i < 300; ++i) {
      Random random(1, static_cast<std::uint64_t>(i));
      const auto point = *sampler.sample(200, random);
      count += std::abs(number(point, "a") - number(point, "b")) < 0.4;
    }
    return count;
  };
  EXPECT_GT(together(true), 90);
  EXPECT_LT(together(false), 75);
}

}  // namespace
}  // namespace tandem::search
