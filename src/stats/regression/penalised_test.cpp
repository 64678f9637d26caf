#include "stats/regression/penalised.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/complaint_for_test.h"
#include "base/random.h"
#include "stats/regression/product_regression.h"

namespace tandem::stats {
namespace {

const Columns kColumns{{64, 128, 256, 512, 64, 128, 256, 512, 64, 128, 256, 512},
                       {1, 1, 2, 2, 4, 4, 8, 8, 1, 2, 4, 1},
                       {1, 3, 5, 1, 3, 5, 1, 3, 5, 1, 3, 5}};
const std::vector<double> kTargets{493.5, 316.1, 228.5, 121.8, 538.8, 387.3,
                                   153.9, 105.8, 547.8, 284.8, 172.5, 212.3};

std::vector<double> rows_of(const Columns& columns) {
  std::vector<double> out;
  for (std::size_t r = 0; r < columns[0].size(); ++r)
    for (const auto& column : columns) out.push_back(column[r]);
  return out;
}

void expect_fit(Penalty penalty, double lambda, double constant, const std::vector<double>& slopes) {
  const auto found = fit_penalised(kColumns, kTargets, penalty, lambda);
  EXPECT_NEAR(found.constant, constant, 1e-7 * std::abs(constant));
  for (std::size_t c = 0; c < slopes.size(); ++c)
    EXPECT_NEAR(found.slopes[c], slopes[c], 1e-7 * std::abs(slopes[c])) << c;
}

// scikit-learn 1.2 on Z = (X - X.mean(0)) / X.std(0): Ridge(alpha=lambda * 12, tol=1e-14),
// Lasso(alpha=lambda, tol=1e-14); slopes divided by X.std(0), the intercept less slopes @ X.mean(0).
TEST(Penalised, AgreeWithScikitLearn) {
  expect_fit(Penalty::ridge, 0.01, 450.2776310791521,
             {-0.68304329063791, -12.010327722582533, 16.20348770959699});
  expect_fit(Penalty::ridge, 0.5, 410.6835391007504,
             {-0.4614916759164172, -11.403438298235669, 11.036783687867565});
  expect_fit(Penalty::ridge, 5, 329.4024913572604,
             {-0.12009644394777862, -4.127012858119676, 3.1381764136395986});
  expect_fit(Penalty::lasso, 0.1, 451.27753386282507,
             {-0.6895331686038093, -11.94812873109493, 16.32372252796325});
  expect_fit(Penalty::lasso, 10, 448.077529977713,
             {-0.6411002255169199, -9.569190525753108, 11.0046536037442});
  expect_fit(Penalty::lasso, 60, 389.79630638880656, {-0.3869637766200273, 0, 0});
}

TEST(Penalised, PathsBeginWhereNothingIsLeft) {
  const auto path = penalty_path(kColumns, kTargets, Penalty::lasso);
  for (const double slope : fit_penalised(kColumns, kTargets, Penalty::lasso, path[0]).slopes)
    EXPECT_NEAR(slope, 0, 1e-12);
  EXPECT_NE(fit_penalised(kColumns, kTargets, Penalty::lasso, path[1]).slopes[0], 0);
  EXPECT_TRUE(std::is_sorted(path.rbegin(), path.rend()));
}

TEST(Penalised, LeaveOutWhatDoesNotMatterAndShareWhatIsDoubled) {
  Random random(5);
  Columns columns(12, std::vector<double>(200));
  std::vector<double> y(200);
  for (std::size_t r = 0; r < 200; ++r) {
    for (auto& column : columns) column[r] = random.normal();
    columns[11][r] = columns[0][r];  // the same again
    columns[10][r] = 3;              // never changes
    y[r] = 5 * columns[0][r] - 2 * columns[1][r] + random.normal();
  }
  const double lambda = choose_lambda(columns, y, Penalty::lasso);
  const auto lasso = fit_penalised(columns, y, Penalty::lasso, lambda);
  EXPECT_NEAR(lasso.slopes[0] + lasso.slopes[11], 5, 0.3);
  EXPECT_NEAR(lasso.slopes[1], -2, 0.3);
  for (std::size_t c = 2; c < 10; ++c) EXPECT_NEAR(lasso.slopes[c], 0, 0.2) << c;
  EXPECT_EQ(lasso.slopes[10], 0);
  const auto ridge = fit_penalised(columns, y, Penalty::ridge, choose_lambda(columns, y, Penalty::ridge));
  EXPECT_NEAR(ridge.slopes[0], ridge.slopes[11], 1e-3);
  EXPECT_NEAR(ridge.slopes[0] + ridge.slopes[11], 5, 0.3);
}

TEST(Penalised, NoiseIsShrunkAway) {  // nothing to learn: cross-validation prefers (nearly) the mean
  Random random(6);
  Columns columns(5, std::vector<double>(30));
  std::vector<double> y(30);
  for (std::size_t r = 0; r < 30; ++r) {
    for (auto& column : columns) column[r] = random.normal();
    y[r] = 100 + random.normal();
  }
  for (const auto penalty : {Penalty::ridge, Penalty::lasso}) {
    const auto fit = fit_penalised(columns, y, penalty, choose_lambda(columns, y, penalty));
    for (const double slope : fit.slopes) EXPECT_LT(std::abs(slope), 0.25);
  }
}

const std::vector<std::string> kNames{"batch", "cores", "jobs"};

TEST(ProductRegressions, WithPairsPredictAsNumpysLeastSquares) {  // numpy.linalg.lstsq of 1, x, and pairs
  const auto model = make_regression("anova:order=2", kNames);
  const auto rows = rows_of(kColumns);
  std::vector<double> twice(rows), targets(kTargets);  // twice the rows: two for each of the seven terms
  twice.insert(twice.end(), rows.begin(), rows.end()),
      targets.insert(targets.end(), kTargets.begin(), kTargets.end());
  model->fit(twice, targets);
  EXPECT_NEAR(model->predict(std::vector<double>{100, 3, 2}), 376.51265634269106, 1e-8);
}

TEST(ProductRegressions, LearnInteractionsAndAreReadBackDigitForDigit) {
  Random random(7);
  std::vector<double> rows, targets;
  for (int i = 0; i < 120; ++i) {
    const double a = random.uniform(1, 9), b = random.uniform(0, 4), c = random.uniform(1e6, 2e6);
    rows.insert(rows.end(), {a, b, c});
    targets.push_back(3 + a - 2 * b + 4 * a * b + 1e-6 * c);
  }
  const std::vector<double> unseen{12, -1, 1.5e6};
  for (const char* name : {"anova", "ridge", "lasso"}) {
    const auto model = make_regression(name, kNames);
    model->fit(rows, targets);
    EXPECT_NEAR(model->predict(unseen), 3 + 12 + 2 - 48 + 1.5, std::string(name) == "anova" ? 1e-6 : 0.5)
        << name;
    const auto again = read_regression(nlohmann::json::parse(model->written().dump()));
    EXPECT_EQ(again->predict(unseen), model->predict(unseen)) << name;
  }
}

TEST(ProductRegressions, TakeConstantDoubledAndSingleRowsInTheirStride) {
  for (const char* name : {"anova", "ridge", "lasso"}) {
    SCOPED_TRACE(name);
    const auto model = make_regression(name, kNames);
    model->fit(std::vector<double>{64, 1, 1}, std::vector<double>{10});  // one row: its mean everywhere
    EXPECT_NEAR(model->predict(std::vector<double>{512, 8, 5}), 10, 1e-9);
    std::vector<double> rows, targets;
    for (int i = 0; i < 20; ++i)
      rows.insert(rows.end(), {5.0, i * 1.0, i * 2.0}), targets.push_back(7.0 + 3 * i);
    model->fit(rows, targets);
    EXPECT_NEAR(model->predict(std::vector<double>{900, 30, 60}), 97, 0.5);  // a constant column says nothing
    model->fit(rows, std::vector(20, 4.0));
    EXPECT_NEAR(model->predict(std::vector<double>{1, 2, 4}), 4, 1e-9);
  }
}

TEST(ProductRegressions, DoNotFitMoreThanTheRowsCanTell) {  // five rows: no interactions, whatever is asked
  const auto model = make_regression("anova", kNames);
  Random random(8);
  std::vector<double> rows, targets{1, 2, 3, 4, 5};
  for (int i = 0; i < 15; ++i) rows.push_back(random.normal());
  model->fit(rows, targets);
  EXPECT_EQ(model->written().at("order"), 1);
}

TEST(ProductRegressions, RefuseNonsense) {
  const auto model = make_regression("ridge", kNames);
  EXPECT_TRUE(mentions(complaint([&] { model->fit({}, {}); }), "no rows"));
  EXPECT_TRUE(mentions(complaint([&] {
                         model->fit(std::vector<double>{1, std::numeric_limits<double>::quiet_NaN(), 1},
                                    std::vector<double>{1});
                       }),
                       "column 'cores'"));
  EXPECT_TRUE(mentions(complaint([] { make_regression("lasso:lambda=-1", kNames); }), "from 0 on"));
  EXPECT_TRUE(mentions(complaint([] { make_regression("anova:lambda=1", kNames); }), "no option 'lambda'"));
  auto written =
      nlohmann::json{{"regression", "ridge"}, {"columns", kNames},   {"order", 2},      {"lambda", 1},
                     {"means", {1, 2, 3}},    {"scales", {1, 1, 1}}, {"slopes", {1, 2}}};
  EXPECT_TRUE(mentions(complaint([&] { read_regression(written); }), "train it anew"));
}

}  // namespace
}  // namespace tandem::stats
