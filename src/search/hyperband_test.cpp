#include "search/hyperband.h"

#include <gtest/gtest.h>

#include "search/schedule_testing.h"

namespace tandem::search {
namespace {

using Log = std::vector<std::string>;

// n_i * r_i summed as in the paper, where a promoted trial is counted from its beginning.
std::int64_t budget(const BracketPlan& bracket) {
  std::int64_t sum = 0;
  for (const auto& rung : bracket) sum += rung.trials * rung.epochs;
  return sum;
}

// What is run: a promoted trial goes on.
std::int64_t epochs_run(const std::vector<BracketPlan>& plan) {
  std::int64_t sum = 0;
  for (const auto& bracket : plan)
    for (std::size_t i = 0; i < bracket.size(); ++i)
      sum += bracket[i].trials * (bracket[i].epochs - (i == 0 ? 0 : bracket[i - 1].epochs));
  return sum;
}

TEST(HyperbandPlan, IsTheTableOfThePaper) {
  const auto plan = hyperband_plan(81, 3, {});
  const std::vector<BracketPlan> table{
      {{81, 1}, {27, 3}, {9, 9}, {3, 27}, {1, 81}},  // s = 4
      {{34, 3}, {11, 9}, {3, 27}, {1, 81}},          // s = 3
      {{15, 9}, {5, 27}, {1, 81}},
      {{8, 27}, {2, 81}},
      {{5, 81}},
  };
  EXPECT_EQ(plan, table);
  EXPECT_EQ(hyperband_trials(81, 3), 143);
}

TEST(HyperbandPlan, BracketsSpendAboutTheSameAsThePaperSays) {
  const auto plan = hyperband_plan(81, 3, {});
  std::vector<std::int64_t> budgets;
  for (const auto& bracket : plan) budgets.push_back(budget(bracket));
  EXPECT_EQ(budgets, (std::vector<std::int64_t>{405, 363, 351, 378, 405})) << "(s_max + 1) R is 405";
  EXPECT_EQ(epochs_run(plan), 1581);
  EXPECT_EQ(with_fake_sampler<Halving>(plan)->expected_epochs(), 1581);

  const auto small = hyperband_plan(9, 3, {});
  EXPECT_EQ(small, (std::vector<BracketPlan>{{{9, 1}, {3, 3}, {1, 9}}, {{5, 3}, {1, 9}}, {{3, 9}}}));
  budgets.clear();
  for (const auto& bracket : small) budgets.push_back(budget(bracket));
  EXPECT_EQ(budgets, (std::vector<std::int64_t>{27, 24, 27})) << "(s_max + 1) R is 27";
  EXPECT_EQ(epochs_run(small), 21 + 21 + 27);
  EXPECT_EQ(with_fake_sampler<Halving>(small)->expected_trials(), 17);
}

TEST(HyperbandPlan, RoundsToWholeEpochsAndEndsAtTheMost) {
  // R = 10, eta = 3: r = 10/9, 10/3, 10.
  EXPECT_EQ(hyperband_plan(10, 3, {})[0], (BracketPlan{{9, 1}, {3, 3}, {1, 10}}));
  // R = 20, eta = 3: r = 2.22, 6.67, 20.
  EXPECT_EQ(hyperband_plan(20, 3, {})[0], (BracketPlan{{9, 2}, {3, 7}, {1, 20}}));
  EXPECT_EQ(hyperband_plan(1, 3, {}), (std::vector<BracketPlan>{{{1, 1}}}));
  // A logarithm in doubles says 2.9999999999999996 for log5(125).
  EXPECT_EQ(hyperband_plan(125, 5, {}).size(), 4u);
  for (std::int64_t most = 1; most < 400; ++most)
    for (std::int64_t reduction = 2; reduction < 6; ++reduction)
      for (const auto& bracket : hyperband_plan(most, reduction, {})) {
        ASSERT_EQ(bracket.back().epochs, most);
        for (std::size_t i = 1; i < bracket.size(); ++i) {
          ASSERT_GT(bracket[i].epochs, bracket[i - 1].epochs);
          ASSERT_EQ(bracket[i].trials, bracket[i - 1].trials / reduction);
          ASSERT_GE(bracket[i].trials, 1);
        }
      }
}

TEST(HyperbandPlan, StartsExactlyTheTrialsAskedFor) {
  // Fewer: the last of the sequence are cut off; one still reaches the end of a cut bracket.
  EXPECT_EQ(hyperband_plan(9, 3, 12), (std::vector<BracketPlan>{{{9, 1}, {3, 3}, {1, 9}}, {{3, 3}, {1, 9}}}));
  EXPECT_EQ(hyperband_plan(9, 3, 2), (std::vector<BracketPlan>{{{2, 1}, {1, 3}, {1, 9}}}));
  // More: the brackets again.
  const auto twice = hyperband_plan(9, 3, 27);
  ASSERT_EQ(twice.size(), 5u);
  EXPECT_EQ(twice[3], twice[0]);
  EXPECT_EQ(twice[4], (BracketPlan{{1, 3}, {1, 9}}));
  for (std::int64_t trials = 1; trials < 60; ++trials) {
    const auto searcher = with_fake_sampler<Halving>(hyperband_plan(9, 3, trials));
    EXPECT_EQ(searcher->expected_trials(), trials);
    World world(4, [](TrialId id, std::int64_t) { return Losses{static_cast<double>(id * 7 % 11)}; });
    world.run(*searcher);
    ASSERT_EQ(static_cast<std::int64_t>(world.trials.size()), trials);
  }
}

// Worked by hand. Losses: bracket 0 keeps 4, 2, 7 (0.1, 0.2, 0.3), then 4; bracket 1 keeps 10; bracket 2 all.
const std::vector<double> kLosses{0.9, 0.8, 0.2, 0.7, 0.1, 0.6, 0.5, 0.3, 0.4,  // 0 to 8
                                  0.5, 0.1, 0.4, 0.3, 0.2,                      // 9 to 13
                                  0.3, 0.2, 0.1};                               // 14 to 16

TEST(Hyperband, OneAfterTheOtherIsAsWorkedByHand) {
  const auto searcher = with_fake_sampler<Halving>(hyperband_plan(9, 3, {}));
  World world(1, losses(kLosses));
  world.run_in_order(*searcher);
  EXPECT_EQ(world.log, (Log{
                           "b0r0 #0 >1 hold",  "b0r0 #1 >1 hold",  "b0r0 #2 >1 hold",
                           "b0r0 #3 >1 hold",  "b0r0 #4 >1 hold",  "b0r0 #5 >1 hold",
                           "b0r0 #6 >1 hold",  "b0r0 #7 >1 hold",  "b0r0 #8 >1 hold",
                           "drop 8 6 5 3 1 0",                                         //
                           "b0r1 #4 >3 hold",  "b0r1 #2 >3 hold",  "b0r1 #7 >3 hold",  //
                           "drop 2 7",         "b0r2 #4 >9 stop",                      //
                           "b1r0 #9 >3 hold",  "b1r0 #10 >3 hold", "b1r0 #11 >3 hold",
                           "b1r0 #12 >3 hold", "b1r0 #13 >3 hold", "drop 13 12 11 9",
                           "b1r1 #10 >9 stop",  //
                           "b2r0 #14 >9 stop", "b2r0 #15 >9 stop", "b2r0 #16 >9 stop",
                       }));
  EXPECT_EQ(world.epochs, 69);
}

TEST(Hyperband, GivesOutTheNextBracketWhileARungWaits) {
  const auto searcher = with_fake_sampler<Halving>(hyperband_plan(9, 3, {}));
  World world(10, losses(kLosses));
  world.fill(*searcher);
  ASSERT_EQ(world.trials.size(), 10u);
  EXPECT_EQ(world.trials[9].bracket, 1);
  EXPECT_EQ(world.trials[9].until, 3);
  // All of rung 0 but trial 0 report; each frees a slot for a new trial of brackets 1 and 2.
  for (int i = 0; i < 8; ++i) {
    world.advance(*searcher, 1, false);
    world.fill(*searcher);
    ASSERT_EQ(world.running().size(), std::min<std::size_t>(10, 17 - 1 - static_cast<std::size_t>(i)));
  }
  EXPECT_EQ(world.trials.size(), 17u);
  EXPECT_TRUE(world.in_state(World::State::dropped).empty()) << "the rung waits for trial 0";
  // It reports: promotions come, best first, although brackets 1 and 2 are under way.
  world.advance(*searcher, 0, false);
  EXPECT_EQ(searcher->ask()->trial, 4);
  EXPECT_EQ(searcher->ask()->trial, 2);
  EXPECT_EQ(searcher->ask()->trial, 7);
  EXPECT_EQ(searcher->ask(), std::nullopt);
}

TEST(Hyperband, AsksForTheHighestRungFirstAndForPromotionsBeforeNewTrials) {
  const auto searcher = with_fake_sampler<Halving>(
      std::vector<BracketPlan>{{{2, 1}, {1, 3}, {1, 9}}, {{2, 1}, {1, 3}, {1, 9}}, {{3, 9}}});
  for (int i = 0; i < 4; ++i) searcher->ask();  // the first two brackets
  for (TrialId id : {2, 3}) searcher->tell(id, 1, {0.5});
  EXPECT_EQ(searcher->ask()->trial, 2);
  for (std::int64_t epoch : {2, 3}) searcher->tell(2, epoch, {0.5});
  for (TrialId id : {0, 1}) searcher->tell(id, 1, {0.5});
  using Place = std::pair<std::int64_t, std::int64_t>;
  std::vector<Place> places;
  for (int i = 0; i < 3; ++i) {
    const auto ask = searcher->ask();
    places.emplace_back(ask->bracket, ask->rung);
  }
  EXPECT_EQ(places, (std::vector<Place>{{1, 2}, {0, 1}, {2, 0}}));
}

}  // namespace
}  // namespace tandem::search
