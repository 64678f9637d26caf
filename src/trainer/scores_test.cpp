#include "trainer/scores.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace tandem::trainer {
namespace {

using Labels = std::vector<std::int64_t>;

// The oracle: sklearn.metrics.precision_recall_fscore_support(y, p, average='macro', zero_division=0).
TEST(ClassScores, AreScikitLearnsMacroAverages) {
  ClassScores scores(3);
  scores.add(Labels{0, 2, 1, 0, 0, 1, 2}, Labels{0, 1, 2, 0, 1, 1, 2});
  const Metrics metrics = scores.metrics();
  EXPECT_DOUBLE_EQ(metrics.at("accuracy"), 4.0 / 7);
  EXPECT_DOUBLE_EQ(metrics.at("precision"), (2.0 / 3 + 1.0 / 2 + 1.0 / 2) / 3);
  EXPECT_DOUBLE_EQ(metrics.at("recall"), (1.0 + 1.0 / 3 + 1.0 / 2) / 3);
  EXPECT_DOUBLE_EQ(metrics.at("f1"), (0.8 + 0.4 + 0.5) / 3);
}

TEST(ClassScores, AClassNobodySawCountsNowhereAndOneNeverPredictedCountsAsZero) {
  ClassScores scores(5);
  scores.add(Labels{0, 0, 0, 3},
             Labels{0, 0, 1, 0});  // 1 is never predicted, 3 never occurs, 2 and 4 neither
  const Metrics metrics = scores.metrics();
  EXPECT_DOUBLE_EQ(metrics.at("accuracy"), 0.5);
  EXPECT_DOUBLE_EQ(metrics.at("precision"), (2.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(metrics.at("recall"), (2.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(metrics.at("f1"), (2.0 / 3) / 3);
}

TEST(ClassScores, PiecesGiveWhatTheWholeGives) {
  const Labels predicted{0, 1, 2, 1, 1, 0, 2, 2}, labels{0, 1, 1, 1, 2, 0, 2, 0};
  ClassScores whole(3), pieces(3);
  whole.add(predicted, labels);
  for (std::size_t i = 0; i < labels.size(); ++i) pieces.add({&predicted[i], 1}, {&labels[i], 1});
  EXPECT_EQ(whole.metrics(), pieces.metrics());
}

TEST(ClassScores, OfNothingThereAreNone) {
  EXPECT_TRUE(ClassScores(3).metrics().empty());
  EXPECT_TRUE(NumberScores().metrics().empty());
}

TEST(NumberScores, AreThoseOfTheDefinition) {
  NumberScores scores;
  scores.add(std::array{2.5F, 0.0F}, std::array{3.0F, -0.5F});
  scores.add(std::array{2.0F, 8.0F}, std::array{2.0F, 7.0F});
  const Metrics metrics = scores.metrics();  // sklearn's own example of r2_score
  EXPECT_NEAR(metrics.at("r2"), 0.9486081370449679, 1e-15);
  EXPECT_DOUBLE_EQ(metrics.at("mae"), 0.5);
  EXPECT_DOUBLE_EQ(metrics.at("rmse"), std::sqrt(0.375));
  EXPECT_NEAR(metrics.at("error") * metrics.at("error"), 1 - metrics.at("r2"), 1e-15);
}

TEST(NumberScores, AUnitScalesWhatHasOneAndNothingElse) {
  NumberScores plain, scaled(10);
  for (NumberScores* scores : {&plain, &scaled}) scores->add(std::array{1.0F, 3.0F}, std::array{2.0F, 5.0F});
  const Metrics one = plain.metrics(), ten = scaled.metrics();
  EXPECT_DOUBLE_EQ(ten.at("rmse"), 10 * one.at("rmse"));
  EXPECT_DOUBLE_EQ(ten.at("mae"), 10 * one.at("mae"));
  EXPECT_DOUBLE_EQ(ten.at("r2"), one.at("r2"));
  EXPECT_DOUBLE_EQ(ten.at("error"), one.at("error"));
}

TEST(NumberScores, TargetsThatAreAllAlikeHaveNoR2) {
  NumberScores scores;
  scores.add(std::array{1.0F, 2.0F}, std::array{5.0F, 5.0F});
  EXPECT_FALSE(scores.metrics().contains("r2"));
  EXPECT_DOUBLE_EQ(scores.metrics().at("mae"), 3.5);
}

TEST(NumberScores, TargetsFarFromZeroKeepTheirSpread) {
  NumberScores scores;
  scores.add(std::array{1'000'000.0F, 1'000'002.0F}, std::array{1'000'000.0F, 1'000'002.0F});
  EXPECT_DOUBLE_EQ(scores.metrics().at("r2"), 1);
  EXPECT_DOUBLE_EQ(scores.metrics().at("error"), 0);
}

}  // namespace
}  // namespace tandem::trainer
