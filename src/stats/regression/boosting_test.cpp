#include "stats/regression/boosting.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace tandem::stats {
namespace {

using Kind = BoostingOptions::Kind;

struct Sample {
  std::vector<float> values, targets;
  Table table() const { return {values, 3}; }
};

// y = 3a - 2b + a*b; c is noise.
Sample regression(int rows, std::uint64_t seed) {
  Sample sample;
  Random random(seed);
  for (int i = 0; i < rows; ++i) {
    const float a = random.uniform(-1, 1), b = random.uniform(-1, 1), c = random.uniform(-1, 1);
    sample.values.insert(sample.values.end(), {a, b, c});
    sample.targets.push_back(3 * a - 2 * b + a * b);
  }
  return sample;
}

double rmse(const std::vector<float>& predicted, const std::vector<float>& truth) {
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) sum += std::pow(predicted[i] - truth[i], 2);
  return std::sqrt(sum / truth.size());
}

BoostingOptions options(Kind kind) {
  BoostingOptions chosen;
  chosen.kind = kind;
  chosen.subsample = 0.7;
  chosen.column_sample = 0.7;
  chosen.regularisation = kind == Kind::linear ? 0.001 : 1;
  chosen.learning_rate = 0.3;
  chosen.max_depth = kind == Kind::forest ? 10 : 4;
  return chosen;
}

class EveryKind : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Boosting, EveryKind, testing::Values(Kind::forest, Kind::boosting, Kind::linear));

TEST_P(EveryKind, LearnsARegression) {
  const Sample train = regression(800, 1), test = regression(200, 2);
  Boosting learner(options(GetParam()));
  for (int epoch = 0; epoch < 5; ++epoch) learner.train(train.table(), train.targets, 10);
  const double constant = rmse(std::vector<float>(200, 0.0F), test.targets);
  EXPECT_LT(rmse(learner.predict(test.table()), test.targets), 0.4 * constant);
}

TEST_P(EveryKind, TheSameSeedGivesTheSameBytes) {
  const Sample train = regression(200, 1);
  Boosting first(options(GetParam())), second(options(GetParam()));
  first.train(train.table(), train.targets, 5);
  second.train(train.table(), train.targets, 5);
  EXPECT_EQ(first.serialise(), second.serialise());
}

TEST_P(EveryKind, ARestoredModelTrainsOnAsIfItHadNeverStopped) {
  const Sample train = regression(200, 1);
  Boosting whole(options(GetParam()));
  whole.train(train.table(), train.targets, 5);
  Boosting restored(options(GetParam()), whole.serialise());
  whole.train(train.table(), train.targets, 5);
  restored.train(train.table(), train.targets, 5);
  EXPECT_EQ(whole.serialise(), restored.serialise());
}

TEST(Boosting, AnotherSeedGivesAnotherForest) {
  const Sample train = regression(200, 1);
  BoostingOptions other = options(Kind::forest);
  other.seed = 2;
  Boosting first(options(Kind::forest)), second(other);
  first.train(train.table(), train.targets, 5);
  second.train(train.table(), train.targets, 5);
  EXPECT_NE(first.serialise(), second.serialise());
}

TEST(Boosting, ClassesComeAsProbabilities) {
  Sample train = regression(600, 1);
  for (float& target : train.targets) target = target < -1 ? 0 : target < 1 ? 1 : 2;
  BoostingOptions three = options(Kind::boosting);
  three.classes = 3;
  Boosting learner(three);
  learner.train(train.table(), train.targets, 20);
  const auto predicted = learner.predict(train.table());
  int right = 0;
  for (int row = 0; row < 600; ++row) {
    const float* of = &predicted[row * 3];
    EXPECT_NEAR(of[0] + of[1] + of[2], 1, 1e-5);
    right += std::max_element(of, of + 3) - of == train.targets[row];
  }
  EXPECT_GT(right, 560);
}

TEST(Boosting, BrokenBytesAreRefused) {
  Boosting learner(options(Kind::boosting));
  const Sample train = regression(50, 1);
  learner.train(train.table(), train.targets, 1);
  const std::string good = learner.serialise();
  EXPECT_THROW(Boosting(options(Kind::boosting), good.substr(0, good.size() / 2)), SystemError);
  EXPECT_THROW(Boosting(options(Kind::boosting), good + "x"), SystemError);
  EXPECT_THROW(Boosting(options(Kind::boosting), ""), SystemError);
}

}  // namespace
}  // namespace tandem::stats
