#include "stats/regression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace tandem::stats {
namespace {

TEST(Regression, LinearFindsAPlaneAndGoesBeyondIt) {
  std::vector<double> rows, targets;
  Random random(1);
  for (int i = 0; i < 40; ++i) {
    const double a = random.uniform(0, 10), b = random.uniform(-3, 3);
    rows.insert(rows.end(), {a, 7.0, b, 2 * b});  // one that never changes, one that says the same again
    targets.push_back(4 + 2 * a - 3 * b);
  }
  auto linear = make_regression("linear");
  linear->fit(rows, targets);
  EXPECT_NEAR(linear->predict(std::vector<double>{100, 7, 1, 2}), 201, 1e-4);
}

TEST(Regression, AForestLearnsASteepCurveInsideWhatItSaw) {
  std::vector<double> rows, targets;
  Random random(2);
  for (int i = 0; i < 400; ++i) {
    rows.push_back(random.uniform(0, 10));
    targets.push_back(rows.back() > 5 ? 100 : 1);
  }
  auto forest = make_regression("forest");
  forest->fit(rows, targets);
  EXPECT_NEAR(forest->predict(std::vector<double>{2}), 1, 1);
  EXPECT_NEAR(forest->predict(std::vector<double>{8}), 100, 1);
}

TEST(Regression, RefusesWhatDoesNotFit) {
  for (const auto& entry : regressions()) {
    auto model = entry.make();
    EXPECT_THROW(model->fit(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2}), UserError);
    EXPECT_THROW(model->fit(std::vector<double>{1, NAN}, std::vector<double>{1, 2}), UserError);
    EXPECT_THROW(model->fit({}, {}), UserError);
  }
  EXPECT_THROW(make_regression("linaer"), UserError);
}

}  // namespace
}  // namespace tandem::stats
