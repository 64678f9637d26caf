#include "stats/regression/cross_validation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/random.h"

namespace tandem::stats {
namespace {

struct Data {
  std::vector<double> rows, targets;
  Examples examples(std::size_t columns) const { return {rows, targets, columns}; }
};

// The second column says nothing.
Data line(std::size_t count, std::uint64_t seed) {
  Data out;
  Random random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = random.uniform(1, 10);
    out.rows.insert(out.rows.end(), {x, random.uniform()});
    out.targets.push_back(3 * x + random.normal());
  }
  return out;
}

const std::vector<std::string> kTwo = {"x", "noise"};

TEST(CrossValidation, FoldsAreEvenSeededAndCoverAll) {
  const auto fold = deal_folds(47, {});
  std::vector<int> sizes(10, 0);
  for (const std::size_t f : fold) ++sizes.at(f);
  for (const int size : sizes) EXPECT_TRUE(size == 4 || size == 5);
  EXPECT_EQ(fold, deal_folds(47, {}));
  EXPECT_NE(fold, deal_folds(47, {.seed = 2}));
}

TEST(CrossValidation, MoreFoldsThanRowsIsLeaveOneOut) {
  const auto fold = deal_folds(3, {});
  EXPECT_EQ(std::set<std::size_t>(fold.begin(), fold.end()).size(), 3u);
  EXPECT_THROW(deal_folds(1, {}), UserError);
  EXPECT_THROW(deal_folds(10, {.folds = 1}), UserError);
  EXPECT_THROW(deal_folds(4, {.groups = {7, 7, 7, 7}}), UserError);
}

TEST(CrossValidation, AGroupStandsOnOneSide) {
  Folding folding{.folds = 4};
  for (std::uint32_t i = 0; i < 60; ++i) folding.groups.push_back(i % 13);
  const auto fold = deal_folds(60, folding);
  for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(fold[i], fold[i % 13]);
}

// A model that answers what it was told for a row it has seen, and -1 for others: it shows any leak.
class Memory final : public Regression {
 public:
  void fit(std::span<const double> rows, std::span<const double> targets) override {
    rows_.assign(rows.begin(), rows.end());
    targets_.assign(targets.begin(), targets.end());
  }
  double predict(std::span<const double> row) const override {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i] == row[0]) return targets_[i];
    return -1;
  }
  nlohmann::json written() const override { return {}; }
  void read(const nlohmann::json&) override {}

 private:
  std::vector<double> rows_, targets_;
};

TEST(CrossValidation, NoModelHasSeenWhatItPredicts) {
  Data data;
  for (int i = 0; i < 23; ++i) data.rows.push_back(i), data.targets.push_back(5);
  const MakeRegression memory = [] { return std::make_unique<Memory>(); };
  EXPECT_EQ(cross_predict(memory, data.examples(1)), std::vector<double>(23, -1.0));
  // Duplicated rows leak, unless they are one group.
  Folding folding;
  for (std::uint32_t i = 0; i < 23; ++i) data.rows[i] = i / 2, folding.groups.push_back(i / 2);
  EXPECT_NE(cross_predict(memory, data.examples(1)), std::vector<double>(23, -1.0));
  EXPECT_EQ(cross_predict(memory, data.examples(1), folding), std::vector<double>(23, -1.0));
}

TEST(CrossValidation, MetricsByHand) {
  const std::vector<double> truth = {1, 2, 4}, said = {1, 3, 2};
  const Metrics found = metrics(truth, said);
  EXPECT_DOUBLE_EQ(found.mse, 5.0 / 3);
  EXPECT_NEAR(found.r2, 1 - 5 / (42.0 / 9), 1e-12);
  EXPECT_DOUBLE_EQ(found.mape, 1.0 / 3);
  EXPECT_DOUBLE_EQ(found.median_ape, 0.5);
  EXPECT_TRUE(std::isnan(metrics(std::vector<double>{2, 2}, std::vector<double>{1, 2}).r2));
  EXPECT_TRUE(std::isinf(metrics(std::vector<double>{0, 2}, std::vector<double>{1, 2}).mape));
  EXPECT_EQ(metrics(std::vector<double>{0}, std::vector<double>{0}).mape, 0);
  EXPECT_THROW(metrics({}, {}), UserError);
  EXPECT_THROW(metrics(truth, std::vector<double>{1}), UserError);
}

TEST(CrossValidation, RepeatsDealAnew) {
  const Data data = line(40, 1);
  const auto all = repeated_metrics(maker("linear", kTwo), data.examples(2), {}, 3);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_NE(all[0].mse, all[1].mse);
  EXPECT_NEAR(mean(all).mse, (all[0].mse + all[1].mse + all[2].mse) / 3, 1e-12);
  EXPECT_NEAR(mean(all).mse, 1, 0.5);  // the noise, which no model can know
}

TEST(CrossValidation, ImportanceFindsTheColumnThatMatters) {
  const Data data = line(80, 3);
  for (const char* name : {"linear", "forest"}) {
    const auto found = permutation_importance(maker(name, kTwo), data.examples(2));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_GT(found[0], 1) << name;
    EXPECT_NEAR(found[1], 0, 0.1) << name;
  }
}

TEST(CrossValidation, GridSearchPrefersWhatFits) {
  Data data;  // a step that a stump can take and no more
  Random random(5);
  for (int i = 0; i < 120; ++i) {
    data.rows.push_back(random.uniform());
    data.targets.push_back((data.rows.back() > 0.5 ? 10 : 0) + random.normal());
  }
  const auto found =
      grid_search("forest", {"x"}, {{"trees", {20}}, {"depth", {1, 0}}}, data.examples(1), {.folds = 5});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].regression, "forest:trees=20:depth=1");
  EXPECT_LT(found[0].mse, found[1].mse);
  EXPECT_THROW(grid_search("forest", {"x"}, {{"tree", {20}}}, data.examples(1)), UserError);
  EXPECT_EQ(grid_search("linear", {"x"}, usual_grid("linear"), data.examples(1)).size(), 1u);
}

TEST(CrossValidation, RefusesWhatDoesNotFit) {
  const Data data = line(10, 1);
  EXPECT_THROW(cross_predict(maker("linear", kTwo), data.examples(3)), UserError);
  EXPECT_THROW(cross_predict(maker("linear", kTwo), {}), UserError);
  EXPECT_THROW(cross_predict(maker("linear", kTwo), data.examples(2), {.groups = {1, 2}}), UserError);
}

}  // namespace
}  // namespace tandem::stats
