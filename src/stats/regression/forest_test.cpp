#include "stats/regression/forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"
#include "stats/regression/cross_validation.h"
#include "stats/regression/regression_tree.h"

namespace tandem::stats {
namespace {

struct Data {
  std::vector<double> rows, targets, weights;
};

Data drawn(std::size_t count, std::uint64_t seed) {
  Data out;
  Random random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const double a = std::floor(random.uniform(0, 6)), b = random.uniform(-1, 1);
    out.rows.insert(out.rows.end(), {a, b, 5.0});
    out.targets.push_back(a * a + (b > 0.2 ? 7 : 0) + random.normal());
    out.weights.push_back(static_cast<double>(random.below(3)));
  }
  out.weights[0] = 1;
  return out;
}

// Squared deviations from the means on both sides, the slow way.
double left_over(const Data& data, std::size_t column, double threshold) {
  double sum[2] = {0, 0}, weight[2] = {0, 0}, out = 0;
  const auto side = [&](std::size_t i) { return data.rows[3 * i + column] > threshold ? 1 : 0; };
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    sum[side(i)] += data.weights[i] * data.targets[i];
    weight[side(i)] += data.weights[i];
  }
  for (std::size_t i = 0; i < data.targets.size(); ++i)
    out += data.weights[i] * std::pow(data.targets[i] - sum[side(i)] / weight[side(i)], 2);
  return weight[0] > 0 && weight[1] > 0 ? out : std::numeric_limits<double>::infinity();
}

TEST(RegressionTree, SplitsWhereTryingEverythingWould) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Data data = drawn(25, seed);
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t i = 0; i < 25; ++i) best = std::min(best, left_over(data, c, data.rows[3 * i + c]));
    Random random(seed);
    const auto tree =
        grow_tree(SortedColumns(data.rows, 3), data.targets, data.weights, {.depth = 1}, random);
    ASSERT_EQ(tree.column.size(), 3u);
    EXPECT_NEAR(left_over(data, static_cast<std::size_t>(tree.column[0]), tree.value[0]), best, 1e-9 * best);
  }
}

TEST(RegressionTree, GrownOutItRemembersEveryRow) {
  Data data = drawn(60, 3);
  for (std::size_t i = 0; i < 60; ++i)
    data.rows[3 * i + 1] = 0.001 * static_cast<double>(i);  // all different
  data.weights.assign(60, 1.0);
  Random random(1);
  const auto tree = grow_tree(SortedColumns(data.rows, 3), data.targets, data.weights, {}, random);
  for (std::size_t i = 0; i < 60; ++i)
    EXPECT_DOUBLE_EQ(tree.predict(std::span(data.rows).subspan(3 * i, 3)), data.targets[i]);
}

TEST(RegressionTree, KeepsToItsLimits) {
  Data data = drawn(200, 4);
  data.weights.assign(200, 1.0);
  Random random(1);
  const auto tree = grow_tree(SortedColumns(data.rows, 3), data.targets, data.weights, {.leaf = 20}, random);
  std::vector<int> rows_at(tree.column.size(), 0);
  for (std::size_t i = 0; i < 200; ++i) {
    std::uint32_t at = 0;
    while (tree.column[at] >= 0)
      at = tree.left[at] + (data.rows[3 * i + static_cast<std::size_t>(tree.column[at])] > tree.value[at]);
    ++rows_at[at];
  }
  for (std::size_t i = 0; i < rows_at.size(); ++i)
    if (tree.column[i] < 0) {
      EXPECT_GE(rows_at[i], 20);
    }
  const auto shallow =
      grow_tree(SortedColumns(data.rows, 3), data.targets, data.weights, {.depth = 3}, random);
  EXPECT_LE(shallow.column.size(), 15u);
}

TEST(RegressionTree, ValuesWithNothingBetweenThemAreToldApart) {
  const double one = 1, next = std::nextafter(1, 2);
  const std::vector<double> rows = {one, next}, targets = {3, 8}, weights = {1, 1};
  Random random(1);
  const auto tree = grow_tree(SortedColumns(rows, 1), targets, weights, {}, random);
  EXPECT_EQ(tree.predict(std::vector<double>{one}), 3);
  EXPECT_EQ(tree.predict(std::vector<double>{next}), 8);
}

TEST(Forest, AveragingBeatsOneTree) {
  const Data data = drawn(120, 5);
  const Examples examples{data.rows, data.targets, 3};
  const std::vector<std::string> columns = {"a", "b", "constant"};
  const double forest = metrics(data.targets, cross_predict(maker("forest", columns), examples)).mse,
               tree = metrics(data.targets, cross_predict(maker("forest:trees=1", columns), examples)).mse;
  EXPECT_LT(forest, 0.8 * tree);
  EXPECT_LT(forest, 2.5);  // the noise alone is 1
}

TEST(Forest, LargeOffsetsCostNothing) {
  Data data = drawn(120, 6);
  const MakeRegression make = maker("forest", {"a", "b", "c"});
  const auto error = [&] {
    return metrics(data.targets, cross_predict(make, {data.rows, data.targets, 3})).mse;
  };
  const double near = error();
  for (double& target : data.targets) target += 1e9;
  EXPECT_NEAR(error(), near, 0.05 * near);
}

TEST(Forest, NeverLeavesTheTargetsItSaw) {
  const Data data = drawn(50, 7);
  const auto forest = make_regression("forest", {"a", "b", "c"});
  forest->fit(data.rows, data.targets);
  const auto [least, most] = std::minmax_element(data.targets.begin(), data.targets.end());
  for (const double absurd : {-1e300, 0.0, 1e300}) {
    const double said = forest->predict(std::vector<double>{absurd, -absurd, absurd});
    EXPECT_GE(said, *least - 1e-9);
    EXPECT_LE(said, *most + 1e-9);
  }
}

TEST(Forest, OptionsAndStoredOnesAreChecked) {
  const auto forest = make_regression("forest", {"a"});
  for (const auto& [option, value] :
       {std::pair{"trees", 0.0}, {"depth", -1}, {"features", 0}, {"features", 1.1}, {"leaf", 0}, {"tree", 5}})
    EXPECT_THROW(forest->set(option, value), UserError) << option;
  const auto stored = [](const char* trees) {
    return nlohmann::json{
        {"regression", "forest"}, {"columns", {"a"}}, {"mean", 0}, {"trees", nlohmann::json::parse(trees)}};
  };
  EXPECT_NO_THROW(read_regression(stored(R"([{"column": [-1], "value": [1], "left": [0]}])")));
  for (const char* wrong :
       {"[]", R"([{"column": [0], "value": [1], "left": [0]}])",                // in circles
        R"([{"column": [0, -1], "value": [1, 1], "left": [1, 0]}])",            // one child
        R"([{"column": [4, -1, -1], "value": [1, 1, 1], "left": [1, 0, 0]}])",  // no such column
        R"([{"column": [-1], "value": [], "left": [0]}])"})
    EXPECT_THROW(read_regression(stored(wrong)), UserError) << wrong;
}

}  // namespace
}  // namespace tandem::stats
