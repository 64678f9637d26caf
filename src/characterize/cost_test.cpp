#include "characterize/cost.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/complaint_for_test.h"
#include "characterize/study_for_test.h"

namespace tandem::characterize {
namespace {

TEST(Dollars, AreTheChapters) {  // 5.3.4: 8 cores for $0.46 an hour, $0.05 a GB out
  EXPECT_NEAR(dollars(3600, 8, 0), 0.46, 1e-12);
  EXPECT_NEAR(dollars(1800, 4, 2e9), 0.46 / 4 + 0.1, 1e-12);
  EXPECT_EQ(dollars(0, 0, 0), 0);
  EXPECT_NEAR(dollars(3600, 1, 0, {2, 1, 0}), 2, 1e-12);
}

TEST(Dollars, OfNonsenseAreRefused) {
  const auto said = [](auto... of) { return complaint([&] { dollars(of...); }); };
  EXPECT_TRUE(mentions(said(-1.0, 1.0, 0.0), "a time of -1"));
  EXPECT_TRUE(mentions(said(1.0, std::numeric_limits<double>::quiet_NaN(), 0.0), "cores of nan"));
  EXPECT_TRUE(mentions(said(1.0, 1.0, 0.0, Prices{1, 0, 0}), "with 0 cores"));
}

// Large batches are fast and inaccurate; cores buy time for money.
Metrics traded(double batch, double cores, Random&) {
  const double seconds = 64000 / batch / (0.5 + cores / 2);
  return {
      {"seconds", seconds}, {"accuracy", batch < 200 ? 0.9 : 0.7}, {"dollars", dollars(seconds, cores, 0)}};
}

TEST(Threefold, TakesTheFastestAndTheCheapestThatAreGoodEnough) {
  const auto study = batch_and_cores("full", 1, traded);
  const auto found = threefold(study, {"accuracy", "seconds", "dollars", 0.8});
  EXPECT_EQ(found.settings, 9U);
  EXPECT_EQ(found.good_enough, 6U);
  EXPECT_EQ(found.fastest->at, (Values{{"batch", 128}, {"cores", 4}}));
  EXPECT_EQ(found.cheapest->at, (Values{{"batch", 128}, {"cores", 1}}));
  ASSERT_EQ(found.front.size(), 3U);  // batch 128: four, two and one core
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_GT(found.front[i].time.value, found.front[i - 1].time.value);
    EXPECT_LT(found.front[i].cost.value, found.front[i - 1].cost.value);
  }
  EXPECT_EQ(found.compromise->at.at("batch"), Value(128));
}

TEST(Threefold, OfOneLevelOnlyIsNoBetter) {
  const auto study = batch_and_cores("full", 1, traded);
  const Threefold goal{"accuracy", "seconds", "dollars", 0.8};
  EXPECT_EQ(threefold(study, goal, Strategy::hyper_only).good_enough, 2U);
  EXPECT_GT(threefold(study, goal, Strategy::hyper_only).fastest->time.value,
            threefold(study, goal).fastest->time.value);
}

TEST(Threefold, ThatNobodyMeetsNamesTheNearestMiss) {
  const auto study = batch_and_cores("full", 1, traded);
  const auto found = threefold(study, {"accuracy", "seconds", "dollars", 0.99});
  EXPECT_EQ(found.good_enough, 0U);
  EXPECT_FALSE(found.fastest || found.cheapest || found.compromise);
  EXPECT_EQ(found.best_quality->at, (Values{{"batch", 128}, {"cores", 4}}));  // the fastest of the best
  EXPECT_TRUE(mentions(complaint([&] {
                         threefold(study, {"accuracy", "seconds", "seconds"});
                       }),
                       "three different"));
  EXPECT_TRUE(mentions(complaint([&] {
                         threefold(study, {"acc", "seconds", "dollars"});
                       }),
                       "no response 'acc'"));
}

}  // namespace
}  // namespace tandem::characterize
