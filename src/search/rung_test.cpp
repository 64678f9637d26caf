#include "search/rung.h"

#include <gtest/gtest.h>

namespace tandem::search {
namespace {

using Trials = std::vector<TrialId>;

TEST(Rung, RanksByLossAndTiesByTrialWhateverTheOrderOfReports) {
  Rung rung;
  rung.report(4, {0.5});
  rung.report(2, {0.5});
  rung.report(3, {0.1});
  rung.report(1, {0.9});
  EXPECT_EQ(rung.best_first(), (Trials{3, 2, 4, 1}));
  EXPECT_EQ(rung.size(), 4);
}

TEST(Rung, TheLostCountButAreRankedNowhere) {
  Rung rung;
  rung.report(0, {0.5});
  rung.report(1, {0.4});
  rung.lose(2);  // never came
  rung.lose(1);  // came and failed since
  EXPECT_EQ(rung.best_first(), Trials{0});
  EXPECT_EQ(rung.size(), 3);
  EXPECT_EQ(rung.ahead_of(0), 0);
}

TEST(Rung, ASecondReportReplacesTheFirst) {
  Rung rung;
  rung.report(0, {0.5});
  rung.report(1, {0.4});
  rung.report(1, {0.6});
  EXPECT_EQ(rung.best_first(), (Trials{0, 1}));
  EXPECT_EQ(rung.size(), 2);
  EXPECT_EQ(rung.ahead_of(1), 1);
  EXPECT_EQ(rung.ahead_of(0), 0);
}

TEST(Rung, WithOneGoalAheadIsThePlace) {
  Rung rung;
  rung.report(3, {0.5});
  rung.report(1, {0.5});
  rung.report(2, {0.1});
  EXPECT_EQ(rung.ahead_of(2), 0);
  EXPECT_EQ(rung.ahead_of(1), 1);
  EXPECT_EQ(rung.ahead_of(3), 2);
}

TEST(Rung, WithSeveralGoalsOnlyDominationIsForGood) {
  Rung rung;
  rung.report(0, {1, 5});
  rung.report(1, {5, 1});
  rung.report(2, {3, 3});
  rung.report(3, {4, 4});
  EXPECT_EQ(rung.best_first().back(), 3) << "dominated by trial 2";
  EXPECT_EQ(rung.ahead_of(2), 0) << "in the same front nobody is ahead for good";
  EXPECT_EQ(rung.ahead_of(3), 1);
  rung.report(4, {3, 3});
  EXPECT_EQ(rung.ahead_of(4), 0) << "equal losses: crowding may still turn them";
}

}  // namespace
}  // namespace tandem::search
