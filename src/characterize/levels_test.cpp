#include "characterize/levels.h"

#include <gtest/gtest.h>

#include "characterize/study_for_test.h"

namespace tandem::characterize {
namespace {

Metrics together(double batch, double cores, Random& random) {  // cores help large batches only
  return {{"seconds", batch > 100 ? 200 / cores + random.normal() : 300 + random.normal()},
          {"accuracy", 0.9}};
}

TEST(Levels, BothFindWhatNeitherFindsAlone) {
  const auto seconds = compare_levels(batch_and_cores("full", 3, together))[0];
  EXPECT_EQ(seconds.best[0].settings, 3U);
  EXPECT_EQ(seconds.best[1].settings, 3U);
  EXPECT_EQ(seconds.best[2].settings, 9U);
  EXPECT_NEAR(seconds.best[0].mean.value, 200, 3);
  EXPECT_NEAR(seconds.best[1].mean.value, 300, 3);
  EXPECT_NEAR(seconds.best[2].mean.value, 50, 3);
  EXPECT_EQ(seconds.best[2].at.at("cores"), Value(4));
  EXPECT_TRUE(seconds.best[2].mean.reach);
  EXPECT_NEAR(*seconds.best[0].both_better_by, 0.75, 0.02);
  EXPECT_NEAR(*seconds.best[1].both_better_by, 0.833, 0.02);
  EXPECT_LT(*seconds.best[0].p, 1e-4);
}

TEST(Levels, ThatAreAllAlikeAreNotCalledBetter) {
  const auto accuracy = compare_levels(batch_and_cores("full", 3, together))[1];
  EXPECT_EQ(*accuracy.best[0].both_better_by, 0);
  EXPECT_FALSE(accuracy.best[0].p);  // the same setting
}

TEST(Levels, ThatWereNotRunSaySo) {
  auto study = batch_and_cores("full", 2, together);
  study.factors[1].usual = 16;
  const auto seconds = compare_levels(study)[0];
  EXPECT_EQ(seconds.best[0].settings, 0U);
  EXPECT_FALSE(seconds.best[0].both_better_by);
  EXPECT_EQ(seconds.best[1].settings, 3U);
  EXPECT_EQ(only(study, Strategy::hyper_only).runs.size(), 0U);
  EXPECT_EQ(only(study, Strategy::system_only).runs.size(), 6U);
  EXPECT_EQ(compare_levels(study)[2].best[2].settings, 0U);  // no run has dollars
}

TEST(Welch, AgreesWithSciPy) {  // ttest_ind([1, 2, 3, 4], [2, 5, 9], equal_var=False).pvalue
  const std::vector<double> a{1, 2, 3, 4}, b{2, 5, 9}, same{1, 1};
  EXPECT_NEAR(*welch(a, b), 0.2949669396426092, 1e-9);
  EXPECT_FALSE(welch(a, std::vector<double>{1}));
  EXPECT_FALSE(welch(same, same));
}

}  // namespace
}  // namespace tandem::characterize
