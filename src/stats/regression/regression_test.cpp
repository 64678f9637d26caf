#include "stats/regression/regression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace tandem::stats {
namespace {

const std::vector<std::string> kColumns = {"batch", "cores", "jobs"};

// Times of training that every model can learn something of.
struct Runs {
  std::vector<double> rows, seconds;
};

Runs runs(std::size_t count, std::uint64_t seed) {
  Runs out;
  Random random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const double batch = 32 << random.below(5), cores = 1 << random.below(4);
    const double jobs = 1 + static_cast<double>(random.below(5));
    out.rows.insert(out.rows.end(), {batch, cores, jobs});
    out.seconds.push_back(20000 / batch * (1 + jobs * cores / 20) + 300 / cores + random.uniform(0, 1));
  }
  return out;
}

class EveryRegression : public testing::TestWithParam<std::string> {};

TEST_P(EveryRegression, IsBetterThanTheMean) {
  const Runs train = runs(150, 1), test = runs(50, 2);
  const auto model = make_regression(GetParam(), kColumns);
  model->fit(train.rows, train.seconds);
  double mean = 0, error = 0, spread = 0;
  for (const double seconds : train.seconds) mean += seconds / 150;
  const auto said = model->predict_rows(test.rows, 3);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(said[i], model->predict(std::span(test.rows).subspan(3 * i, 3)));
    error += std::pow(said[i] - test.seconds[i], 2);
    spread += std::pow(mean - test.seconds[i], 2);
  }
  EXPECT_LT(error, 0.6 * spread);
}

TEST_P(EveryRegression, WrittenAndReadPredictsTheSame) {
  const Runs train = runs(60, 1), test = runs(20, 2);
  const auto model = make_regression(GetParam(), kColumns);
  model->fit(train.rows, train.seconds);
  const auto again = read_regression(nlohmann::json::parse(model->written().dump()));
  EXPECT_EQ(model->predict_rows(test.rows, 3), again->predict_rows(test.rows, 3));
  EXPECT_EQ(model->written(), again->written());
}

TEST_P(EveryRegression, LearnsAnewAndTheSame) {
  const Runs first = runs(40, 1), second = runs(40, 2);
  const auto model = make_regression(GetParam(), kColumns), fresh = make_regression(GetParam(), kColumns);
  model->fit(first.rows, first.seconds);
  model->fit(second.rows, second.seconds);
  fresh->fit(second.rows, second.seconds);
  EXPECT_EQ(model->written(), fresh->written());
}

TEST_P(EveryRegression, OneRowOrConstantsGiveThatNumber) {
  for (const std::size_t count : {1, 2, 7}) {
    const auto model = make_regression(GetParam(), kColumns);
    std::vector<double> rows;
    for (std::size_t i = 0; i < count; ++i) rows.insert(rows.end(), {64, 2, 1});
    model->fit(rows, std::vector<double>(count, 120.0));
    EXPECT_NEAR(model->predict(std::vector<double>{64, 2, 1}), 120, 0.1);
    EXPECT_TRUE(std::isfinite(model->predict(std::vector<double>{256, 8, 5})));
  }
}

TEST_P(EveryRegression, ADuplicatedColumnDoesNoHarm) {
  const Runs train = runs(80, 1);
  std::vector<double> rows;
  for (std::size_t i = 0; i < 80; ++i)
    rows.insert(rows.end(),
                {train.rows[3 * i], train.rows[3 * i + 1], train.rows[3 * i + 2], train.rows[3 * i]});
  const auto model = make_regression(GetParam(), {"batch", "cores", "jobs", "again"});
  model->fit(rows, train.seconds);
  EXPECT_TRUE(std::isfinite(model->predict(std::span(rows).first(4))));
}

TEST_P(EveryRegression, RefusesWhatDoesNotFit) {
  const auto model = make_regression(GetParam(), kColumns);
  const std::vector<double> one = {1, 2, 3}, two = {1, 2, 3, 4, 5, 6};
  EXPECT_THROW(model->fit(one, std::vector<double>{1, 2}), UserError);
  EXPECT_THROW(model->fit(two, std::vector<double>{1}), UserError);
  EXPECT_THROW(model->fit({}, {}), UserError);
  EXPECT_THROW(model->fit(two, std::vector<double>{1, NAN}), UserError);
  EXPECT_THROW(model->fit(std::vector<double>{1, 2, INFINITY}, std::vector<double>{1}), UserError);
  EXPECT_THROW(model->set("no such option", 1), UserError);
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& entry : regressions()) out.push_back(entry.name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, EveryRegression, testing::ValuesIn(names()),
                         [](const auto& each) { return each.param; });

TEST(Regression, LinearFindsAPlaneAndGoesBeyondIt) {
  std::vector<double> rows, targets;
  Random random(1);
  for (int i = 0; i < 40; ++i) {
    const double a = random.uniform(0, 10), b = random.uniform(-3, 3);
    rows.insert(rows.end(), {a, 7.0, b, 2 * b});  // one that never changes, one that says the same again
    targets.push_back(4 + 2 * a - 3 * b);
  }
  auto linear = make_regression("linear", {"a", "constant", "b", "twice b"});
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
  auto forest = make_regression("forest", {"x"});
  forest->fit(rows, targets);
  EXPECT_NEAR(forest->predict(std::vector<double>{2}), 1, 1);
  EXPECT_NEAR(forest->predict(std::vector<double>{8}), 100, 1);
}

TEST(Regression, OptionsAreNamedAndChecked) {
  const Runs train = runs(60, 1);
  const auto usual = make_regression("boosting", kColumns),
             few = make_regression("boosting:rounds=5:depth=2:rate=0.5", kColumns);
  usual->fit(train.rows, train.seconds), few->fit(train.rows, train.seconds);
  EXPECT_NE(usual->predict(std::span(train.rows).first(3)), few->predict(std::span(train.rows).first(3)));
  for (const char* wrong :
       {"linaer", "boosting:rounds", "boosting:rounds=x", "boosting:rounds=0", "boosting:depth=2.5",
        "boosting:rate=2", "boosting:speed=3", "linear:trees=3", ""})
    EXPECT_THROW(make_regression(wrong, kColumns), UserError) << wrong;
}

TEST(Regression, RefusesToReadWhatIsNotAModel) {
  for (const char* wrong : {"{}", "3", R"({"regression": "lineal", "columns": []})",
                            R"({"regression": "linear", "columns": ["a"], "constant": 1, "slopes": [1, 2]})",
                            R"({"regression": "linear", "columns": ["a"], "constant": "x", "slopes": [1]})",
                            R"({"regression": "boosting", "columns": ["a"], "xgboost": "zz"})",
                            R"({"regression": "boosting", "columns": ["a"], "xgboost": "0100"})"})
    EXPECT_THROW(read_regression(nlohmann::json::parse(wrong)), UserError) << wrong;
}

}  // namespace
}  // namespace tandem::stats
