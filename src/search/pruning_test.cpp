#include "search/pruning.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "search/schedule_testing.h"
#include "search/straight.h"

namespace tandem::search {
namespace {

using Log = std::vector<std::string>;

TEST(Straight, RunsEveryTrialToTheEnd) {
  const auto searcher = with_fake_sampler<Straight>(2, 3);
  EXPECT_EQ(searcher->expected_trials(), 2);
  EXPECT_EQ(searcher->expected_epochs(), 6);
  World world(1, losses({0.5, 0.6}));
  world.run_in_order(*searcher);
  EXPECT_EQ(world.log, (Log{"b0r0 #0 >3 stop", "b0r0 #1 >3 stop"}));
  EXPECT_EQ(world.epochs, 6);
}

TEST(Straight, ExpectsLessOnceATrialHasFailed) {
  const auto searcher = with_fake_sampler<Straight>(2, 3);
  searcher->ask();
  searcher->tell(0, 1, {0.5});
  EXPECT_EQ(searcher->expected_epochs(), 6);
  searcher->left(0);
  EXPECT_EQ(searcher->expected_epochs(), 1 + 3);
  EXPECT_EQ(searcher->expected_trials(), 2);
}

TEST(HalvingPruning, StopsAtRungsWhoIsNotOneInSoMany) {
  HalvingPruner pruner(9, 3);
  const auto report = [&](TrialId trial, std::int64_t epoch, double loss) {
    const bool out = pruner.prunes(trial, epoch, {loss});
    pruner.told(trial, epoch, {loss});
    return out;
  };
  EXPECT_FALSE(report(0, 1, 0.5)) << "the first is the best so far";
  EXPECT_TRUE(report(1, 1, 0.6));
  EXPECT_FALSE(report(2, 1, 0.4));
  EXPECT_TRUE(report(3, 1, 0.4)) << "a tie: the lower trial is before";
  EXPECT_TRUE(report(4, 1, 0.45)) << "second of five, one goes on";
  EXPECT_FALSE(report(5, 1, 0.39)) << "first of six";
  EXPECT_TRUE(report(6, 1, 0.41)) << "fourth of seven, two go on";
  EXPECT_FALSE(report(7, 1, 0.395)) << "second of eight";
  EXPECT_FALSE(report(0, 2, 99)) << "no rung";
  EXPECT_FALSE(report(0, 3, 0.5));
  EXPECT_TRUE(report(2, 3, 0.6));
  EXPECT_FALSE(report(0, 9, 99)) << "the end is no rung";
}

TEST(HalvingPruning, TheFailedAreTheWorstOfTheRungTheyDidNotReach) {
  HalvingPruner pruner(9, 3);
  for (TrialId id = 0; id < 4; ++id) pruner.told(id, 1, {static_cast<double>(id)});
  EXPECT_TRUE(pruner.prunes(9, 1, {0.5})) << "second of five";
  for (TrialId id : {4, 5}) pruner.left(id);  // never reported: on their way to epoch 1
  EXPECT_FALSE(pruner.prunes(9, 1, {0.5})) << "second of seven";
  pruner.told(0, 3, {0.0});
  pruner.told(1, 3, {1.0});
  pruner.told(6, 2, {1.0});
  EXPECT_TRUE(pruner.prunes(9, 3, {0.5})) << "second of three";
  for (TrialId id : {2, 3, 6}) pruner.left(id);  // on their way to epoch 3
  EXPECT_FALSE(pruner.prunes(9, 3, {0.5})) << "second of six";
}

TEST(Pruning, CountsTheFailedToo) {
  const auto searcher = with_fake_sampler<Straight>(6, 9, make_pruner("halving", 9, 3));
  for (int i = 0; i < 6; ++i) searcher->ask();
  searcher->tell(0, 1, {0.5});
  for (TrialId id = 1; id < 5; ++id) searcher->left(id);
  EXPECT_EQ(searcher->tell(5, 1, {0.6}), Verdict::go_on) << "second of six, four of which failed";
}

TEST(HalvingPruning, SeveralGoalsPruneByRank) {
  HalvingPruner pruner(9, 3);
  pruner.told(0, 1, {1, 9});
  pruner.told(1, 1, {9, 1});
  pruner.told(2, 1, {4, 4});
  EXPECT_FALSE(pruner.prunes(3, 1, {3, 6})) << "on the front";
  EXPECT_TRUE(pruner.prunes(3, 1, {5, 5})) << "behind it, and one of four goes on";
}

TEST(MedianPruning, StopsWhoIsWorseThanHalfOfTheOthersAtTheirBest) {
  MedianPruner pruner;
  for (TrialId id = 0; id < 5; ++id) {
    pruner.told(id, 1, {0.5});
    pruner.told(id, 2, {0.1 * static_cast<double>(id)});  // 0, 0.1, 0.2, 0.3, 0.4
    pruner.told(id, 3, {0.9});                            // their best stays as it was
  }
  EXPECT_FALSE(pruner.prunes(5, 1, {99})) << "grace";
  EXPECT_FALSE(pruner.prunes(5, 2, {0.2})) << "as good as the median";
  EXPECT_TRUE(pruner.prunes(5, 2, {0.21}));
  EXPECT_TRUE(pruner.prunes(5, 3, {0.21}));
  EXPECT_FALSE(pruner.prunes(5, 4, {99})) << "nobody got there";
  pruner.told(5, 1, {0.05});
  EXPECT_FALSE(pruner.prunes(5, 2, {0.9})) << "its own best counts too";
}

TEST(MedianPruning, WaitsForAFewTrials) {
  MedianPruner pruner;
  for (TrialId id = 0; id < 3; ++id) pruner.told(id, 2, {0.1});
  EXPECT_FALSE(pruner.prunes(9, 2, {0.2}));
  pruner.told(3, 2, {0.1});
  EXPECT_TRUE(pruner.prunes(9, 2, {0.2}));
}

TEST(MedianPruning, SeveralGoalsStopWhoIsDominatedByMoreThanHalf) {
  MedianPruner pruner;
  pruner.told(0, 2, {1, 1});
  pruner.told(1, 2, {2, 2});
  pruner.told(2, 2, {3, 3});
  pruner.told(3, 2, {0, 9});
  EXPECT_FALSE(pruner.prunes(9, 2, {2.5, 2.5})) << "by two of four";
  EXPECT_TRUE(pruner.prunes(9, 2, {3.5, 3.5})) << "by three";
  EXPECT_FALSE(pruner.prunes(9, 2, {99, 0})) << "on the front";
}

TEST(Pruning, AStoppedTrialFreesItsEpochs) {
  const auto searcher = with_fake_sampler<Straight>(3, 9, make_pruner("halving", 9, 3));
  EXPECT_EQ(searcher->expected_epochs(), 27);
  World world(1, losses({0.5, 0.6, 0.4}));
  world.run_in_order(*searcher);
  EXPECT_EQ(world.log, (Log{"b0r0 #0 >9 stop", "b0r0 #1 >9 stop", "b0r0 #2 >9 stop"}));
  EXPECT_EQ(world.trials[1].epoch, 1);
  EXPECT_EQ(world.epochs, 19);
  EXPECT_EQ(searcher->expected_epochs(), 19);
}

TEST(Pruning, UnknownRulesAreNamed) {
  EXPECT_EQ(make_pruner("none", 9, 3), nullptr);
  try {
    make_pruner("medain", 9, 3);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'median'?"), std::string::npos) << error.what();
  }
}

TEST(Straight, TakesTheVerdictsOfHistory) {
  const auto searcher = with_fake_sampler<Straight>(2, 9, make_pruner("halving", 9, 3));
  searcher->asked({0, {{"x", 0.0}}, 9, 0, 0, {}});
  searcher->asked({1, {{"x", 1.0}}, 9, 0, 0, {}});
  searcher->told(0, 1, {0.1}, Verdict::stop);   // the best
  searcher->told(1, 1, {0.9}, Verdict::go_on);  // the worst
  EXPECT_FALSE(searcher->finished());
  for (std::int64_t epoch = 2; epoch < 9; ++epoch) EXPECT_EQ(searcher->tell(1, epoch, {0.9}), Verdict::go_on);
  EXPECT_EQ(searcher->tell(1, 9, {0.9}), Verdict::stop);
  EXPECT_TRUE(searcher->finished());
}

}  // namespace
}  // namespace tandem::search
