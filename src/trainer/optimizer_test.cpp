#include "trainer/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem::trainer {
namespace {

using Kind = OptimizerOptions::Kind;

TEST(Optimizer, SgdFollowsTheGradientWithMomentumAndDecay) {
  Optimizer optimizer({Kind::sgd, 0.1, 0.5, 0.01}, 1);
  std::vector<float> weights{1.0F}, gradients{2.0F};
  optimizer.step(weights, gradients);
  EXPECT_FLOAT_EQ(weights[0], 1 - 0.1 * (2 + 0.01));
  EXPECT_EQ(gradients[0], 0.0F);
  const double before = weights[0], velocity = 2.01;
  gradients[0] = 1;
  optimizer.step(weights, gradients);
  EXPECT_FLOAT_EQ(weights[0], before - 0.1 * (0.5 * velocity + 1 + 0.01 * before));
}

TEST(Optimizer, AdamsFirstStepIsTheLearningRateWhateverTheGradient) {
  for (const float gradient : {1e-3F, 5.0F, -40.0F}) {
    Optimizer optimizer({Kind::adam, 0.1, 0.9, 0}, 1);
    std::vector<float> weights{0.0F}, gradients{gradient};
    optimizer.step(weights, gradients);
    EXPECT_NEAR(weights[0], gradient > 0 ? -0.1 : 0.1, 1e-5);
    EXPECT_EQ(gradients[0], 0.0F);
  }
}

TEST(Optimizer, BothFindTheBottomOfABowl) {
  for (const Kind kind : {Kind::sgd, Kind::adam}) {
    Optimizer optimizer({kind, 0.05, 0.9, 0}, 2);
    std::vector<float> weights{3.0F, -2.0F}, gradients(2);
    for (int i = 0; i < 500; ++i) {
      gradients = {2 * (weights[0] - 1), 2 * (weights[1] + 1)};
      optimizer.step(weights, gradients);
    }
    EXPECT_NEAR(weights[0], 1, 1e-2);
    EXPECT_NEAR(weights[1], -1, 1e-2);
  }
}

}  // namespace
}  // namespace tandem::trainer
