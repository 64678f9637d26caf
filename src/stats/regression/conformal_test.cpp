#include "stats/regression/conformal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace tandem::stats {
namespace {

struct Data {
  std::vector<double> rows, targets;
  Examples examples() const { return {rows, targets, 2}; }
};
const std::vector<std::string> kColumns = {"x", "z"};

// Times whose spread grows with x: a few per cent at 1, a third at 10.
Data times(std::size_t count, std::uint64_t seed) {
  Data out;
  Random random(seed, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = random.uniform(1, 10), z = random.uniform(0, 1);
    out.rows.insert(out.rows.end(), {x, z});
    out.targets.push_back((50 + 10 * x) * std::exp(0.033 * x * random.normal()));
  }
  return out;
}

// May be negative; the spread has nothing to do with the prediction.
Data differences(std::size_t count, std::uint64_t seed) {
  Data out;
  Random random(seed, 2);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = random.uniform(1, 10), z = random.uniform(0, 1);
    out.rows.insert(out.rows.end(), {x, z});
    out.targets.push_back(4 * z + x * random.normal());
  }
  return out;
}

struct Coverage {
  double inside = 0, below_quantile = 0, of_small = 0, of_large = 0, probability = 0;
};

// Pooled over seeds: learnt from `count` rows, asked 50 others.
Coverage coverage(Data (*draw)(std::size_t, std::uint64_t), const char* name, std::size_t count, int seeds) {
  Coverage out;
  double asked = 0, small = 0, large = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Data train = draw(count, static_cast<std::uint64_t>(seed)),
               test = draw(50, 1000 + static_cast<std::uint64_t>(seed));
    Conformal model(maker(name, kColumns));
    model.fit(train.examples());
    for (std::size_t i = 0; i < 50; ++i) {
      const auto row = std::span(test.rows).subspan(2 * i, 2);
      const Outcome said = model.at(row);
      const auto [low, high] = said.interval(0.9);
      const double is = test.targets[i];
      const bool inside = low <= is && is <= high;
      asked += 1, out.inside += inside;
      out.below_quantile += is <= said.quantile(0.8);
      out.probability += said.probability_at_most(is);
      if (row[0] < 4) small += 1, out.of_small += inside;
      if (row[0] > 7) large += 1, out.of_large += inside;
    }
  }
  out.inside /= asked, out.below_quantile /= asked, out.probability /= asked;
  out.of_small /= small, out.of_large /= large;
  return out;
}

TEST(Conformal, CoversAsOftenAsItSays) {
  for (const auto draw : {times, differences})
    for (const char* name : {"linear", "forest:trees=20"}) {
      const Coverage found = coverage(draw, name, 60, 60);
      EXPECT_NEAR(found.inside, 0.9, 0.03) << name;
      EXPECT_NEAR(found.below_quantile, 0.8, 0.03) << name;
      EXPECT_NEAR(found.probability, 0.5, 0.03) << name;  // uniform where the distribution is right
    }
}

TEST(Conformal, NarrowWhereErrorsAreSmallAndWideWhereTheyAreLarge) {
  for (const auto draw : {times, differences}) {
    const Coverage found = coverage(draw, "linear", 300, 20);
    EXPECT_NEAR(found.of_small, 0.9, 0.07);
    EXPECT_NEAR(found.of_large, 0.9, 0.07);
  }
  const Data train = times(300, 1);
  Conformal model(maker("linear", kColumns));
  model.fit(train.examples());
  const auto width = [&](double x) {
    const auto [low, high] = model.at(std::vector<double>{x, 0.5}).interval(0.9);
    return (high - low) / model.at(std::vector<double>{x, 0.5}).estimate();
  };
  EXPECT_GT(width(9), 2.5 * width(2));
}

TEST(Conformal, FewRowsAreHonest) {
  for (const std::size_t count : {1, 2, 5, 8}) {
    const Data train = times(count, 1);
    Conformal model(maker("linear", kColumns));
    model.fit(train.examples());
    const Outcome said = model.at(std::span(train.rows).first(2));
    EXPECT_TRUE(std::isfinite(said.estimate()));
    EXPECT_TRUE(std::isinf(said.interval(0.9).high)) << count;
    EXPECT_LE(said.interval(0.9).low, 0) << count;
    EXPECT_LE(said.probability_at_most(1e300), static_cast<double>(count) / (static_cast<double>(count) + 1));
  }
  const Data train = times(12, 1);
  Conformal model(maker("linear", kColumns));
  model.fit(train.examples());
  EXPECT_TRUE(std::isfinite(model.at(std::vector<double>{5, 0.5}).interval(0.9).high));
  EXPECT_TRUE(std::isinf(model.at(std::vector<double>{5, 0.5}).interval(0.99).high));
  EXPECT_TRUE(std::isinf(model.at(std::vector<double>{5, 0.5}).quantile(0.95)));
}

TEST(Conformal, SmallSamplesCoverToo) {
  const Coverage found = coverage(times, "linear", 12, 200);  // intervals of absolute errors
  EXPECT_GT(found.inside, 0.87);
  EXPECT_LT(found.inside, 0.96);
}

TEST(Conformal, IntervalQuantileAndProbabilityAgree) {
  const Data train = times(99, 3);
  Conformal model(maker("forest:trees=20", kColumns));
  model.fit(train.examples());
  const Outcome said = model.at(std::vector<double>{3, 0.2});
  double last = 0;
  for (double share = 0.02; share < 0.99; share += 0.05) {
    EXPECT_NEAR(said.probability_at_most(said.quantile(share)), share, 1e-9);
    EXPECT_GT(said.quantile(share), last);
    last = said.quantile(share);
  }
  EXPECT_DOUBLE_EQ(said.interval(0.9).low, said.quantile(0.05));
  EXPECT_DOUBLE_EQ(said.interval(0.9).high, said.quantile(0.95));
  EXPECT_EQ(said.probability_at_most(-5), 0);
  EXPECT_EQ(said.probability_at_most(INFINITY), 0.99);  // 99 of 100: the largest share that 99 rows can tell
}

TEST(Conformal, ExactModelsGiveNoWidth) {
  std::vector<double> rows, targets;
  for (int i = 0; i < 30; ++i) rows.insert(rows.end(), {double(i), 1}), targets.push_back(7);
  Conformal model(maker("forest:trees=5", kColumns));
  model.fit({rows, targets, 2});
  const auto [low, high] = model.at(std::vector<double>{3, 1}).interval(0.9);
  EXPECT_EQ(low, 7);
  EXPECT_EQ(high, 7);
  EXPECT_EQ(model.at(std::vector<double>{3, 1}).probability_at_most(6.9), 0);
}

TEST(Conformal, APredictionThatCannotBeATimePromisesNothing) {
  Data train = times(60, 1);
  Conformal model(maker("linear", kColumns));
  model.fit(train.examples());
  const Outcome said = model.at(std::vector<double>{-1000, 0});
  ASSERT_LT(said.estimate(), 0);
  EXPECT_EQ(said.interval(0.9).low, 0);
  EXPECT_TRUE(std::isinf(said.interval(0.9).high));
  EXPECT_EQ(said.probability_at_most(1e9), 0);
}

TEST(Conformal, GroupsKeepReplicationsApart) {
  // Each of 15 runs four times: a forest would look perfect if it had seen the other three.
  Data train;
  Folding folding;
  Random random(3);
  for (std::uint32_t i = 0; i < 15; ++i) {
    const double x = random.uniform(1, 10), z = random.uniform(), is = 100 * std::exp(0.4 * random.normal());
    for (int k = 0; k < 4; ++k) {
      train.rows.insert(train.rows.end(), {x, z});
      train.targets.push_back(is + 0.01 * k);
      folding.groups.push_back(i);
    }
  }
  Conformal apart(maker("forest:trees=20", kColumns)), mixed(maker("forest:trees=20", kColumns));
  apart.fit(train.examples(), folding);
  mixed.fit(train.examples());
  const auto width = [&](const Conformal& model) {
    const auto [low, high] = model.at(std::span(train.rows).first(2)).interval(0.8);
    return high - low;
  };
  EXPECT_GT(width(apart), 5 * width(mixed));
}

TEST(Conformal, WrittenAndReadSaysTheSame) {
  const Data train = times(80, 4);
  Conformal model(maker("linear", kColumns));
  model.fit(train.examples());
  const Conformal again = Conformal::read(nlohmann::json::parse(model.written().dump()));
  const auto before = model.at_rows(train.rows, 2), after = again.at_rows(train.rows, 2);
  ASSERT_EQ(before.size(), 80u);
  for (std::size_t i = 0; i < 80; ++i) {
    EXPECT_EQ(before[i].interval(0.9).high, after[i].interval(0.9).high);
    EXPECT_EQ(before[i].quantile(0.3), model.at(std::span(train.rows).subspan(2 * i, 2)).quantile(0.3));
  }
  EXPECT_THROW(Conformal::read(nlohmann::json::parse("{}")), UserError);
}

TEST(Conformal, RefusesSharesThatCannotBe) {
  const Data train = times(30, 4);
  Conformal model(maker("linear", kColumns));
  model.fit(train.examples());
  const Outcome said = model.at(std::vector<double>{3, 1});
  for (const double wrong : {0.0, 1.0, -1.0, 2.0, double(NAN)}) {
    EXPECT_THROW(said.interval(wrong), UserError);
    EXPECT_THROW(said.quantile(wrong), UserError);
  }
  EXPECT_THROW(said.probability_at_most(NAN), UserError);
}

}  // namespace
}  // namespace tandem::stats
