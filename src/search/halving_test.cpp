#include "search/halving.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "search/hyperband.h"
#include "search/schedule_testing.h"

namespace tandem::search {
namespace {

using Log = std::vector<std::string>;
using Plans = std::vector<BracketPlan>;
using State = World::State;

TEST(HalvingPlan, IsOneBracketFromOneEpochOn) {
  EXPECT_EQ(rung_epochs(9, 3), (std::vector<std::int64_t>{1, 3, 9}));
  EXPECT_EQ(rung_epochs(26, 3), (std::vector<std::int64_t>{1, 3, 26}));
  EXPECT_EQ(rung_epochs(1, 2), std::vector<std::int64_t>{1});
  EXPECT_EQ(halving_plan(9, 3, {}), (BracketPlan{{9, 1}, {3, 3}, {1, 9}}));
  EXPECT_EQ(halving_plan(16, 2, {}), (BracketPlan{{16, 1}, {8, 2}, {4, 4}, {2, 8}, {1, 16}}));
  EXPECT_EQ(halving_plan(9, 3, 20), (BracketPlan{{20, 1}, {6, 3}, {2, 9}}));
  EXPECT_EQ(halving_plan(9, 3, 4), (BracketPlan{{4, 1}, {1, 3}, {1, 9}})) << "one always reaches the end";
}

TEST(Halving, OneBracketIsAsWorkedByHand) {
  const auto searcher = with_fake_sampler<Halving>(Plans{halving_plan(4, 2, {})});
  EXPECT_EQ(searcher->expected_epochs(), 4 * 1 + 2 * 1 + 1 * 2);
  // Trial 1 is best at first, trial 3 later.
  World world(1, [](TrialId id, std::int64_t epoch) {
    static const double first[]{0.5, 0.1, 0.9, 0.3};
    return Losses{id == 1 ? 0.1 * static_cast<double>(epoch) : first[id] / static_cast<double>(epoch)};
  });
  world.run_in_order(*searcher);
  EXPECT_EQ(world.log, (Log{"b0r0 #0 >1 hold", "b0r0 #1 >1 hold", "b0r0 #2 >1 hold", "b0r0 #3 >1 hold",
                            "drop 0 2", "b0r1 #1 >2 hold", "b0r1 #3 >2 hold", "drop 1", "b0r2 #3 >4 stop"}));
}

TEST(Halving, EqualLossesKeepTheLowerTrials) {
  const auto searcher = with_fake_sampler<Halving>(Plans{halving_plan(9, 3, {})});
  World world(9, losses(std::vector<double>(9, 0.5)));
  world.fill(*searcher);
  for (int i = 8; i >= 0; --i) world.advance(*searcher, static_cast<std::size_t>(i), false);
  for (TrialId id : {0, 1, 2}) EXPECT_EQ(searcher->ask()->trial, id);
  EXPECT_EQ(searcher->ask(), std::nullopt);
}

TEST(Halving, FailedTrialsAreTheWorstOfTheirRung) {
  const auto searcher = with_fake_sampler<Halving>(Plans{halving_plan(9, 3, {})});
  World world(9, losses({0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}));
  world.fill(*searcher);
  for (int i = 0; i < 7; ++i) world.leave(*searcher, i);  // all but 7 and 8
  world.advance(*searcher, 1, false);
  EXPECT_EQ(searcher->ask(), std::nullopt) << "trial 7 still runs";
  world.advance(*searcher, 0, false);
  EXPECT_EQ(searcher->ask()->trial, 7);
  EXPECT_EQ(searcher->ask()->trial, 8);
  EXPECT_EQ(searcher->ask(), std::nullopt) << "two are left for three places";
}

TEST(Halving, ARungInWhichAllFailEndsItsBracketAndTheNextGoesOn) {
  const auto searcher = with_fake_sampler<Halving>(Plans{{{2, 1}, {1, 3}}, {{2, 3}}});
  World world(1, losses({0.1, 0.2, 0.3, 0.4}));
  for (int i = 0; i < 2; ++i) {
    world.fill(*searcher);
    world.advance(*searcher, 0, true);
  }
  EXPECT_FALSE(searcher->finished());
  EXPECT_EQ(searcher->expected_epochs(), 6) << "only the second bracket is still to come";
  world.run_in_order(*searcher);
  EXPECT_EQ(world.log, (Log{"b0r0 #0 >1 left", "b0r0 #1 >1 left", "b1r0 #2 >3 stop", "b1r0 #3 >3 stop"}));
}

TEST(Halving, AChosenTrialThatFailsBeforeItIsAskedIsNotWaitedFor) {
  const auto searcher = with_fake_sampler<Halving>(Plans{{{4, 1}, {2, 3}, {1, 9}}});
  World world(4, losses({0.1, 0.2, 0.3, 0.4}));
  world.fill(*searcher);
  for (int i = 0; i < 4; ++i) world.advance(*searcher, 0, false);
  world.leave(*searcher, 0);  // held and chosen
  world.run_in_order(*searcher);
  EXPECT_EQ(world.log.back(), "b0r2 #1 >9 stop");
}

TEST(Halving, AHeldTrialThatFailsIsNotChosen) {
  const auto searcher = with_fake_sampler<Halving>(Plans{{{3, 1}, {1, 3}}});
  World world(3, losses({0.1, 0.2, 0.3}));
  world.fill(*searcher);
  world.advance(*searcher, 0, false);
  world.leave(*searcher, 0);
  world.run_in_order(*searcher);
  EXPECT_EQ(world.log.back(), "b0r1 #1 >3 stop");
}

TEST(Halving, SeveralGoalsPromoteTheFrontAndItsEndsFirst) {
  const std::vector<Losses> of{{4, 4}, {1, 9}, {5, 5}, {9, 1}, {3.9, 4.2}, {6, 6}, {2, 7}, {9, 9}, {7, 2}};
  const auto searcher = compose(std::make_unique<Halving>(Plans{halving_plan(9, 3, {})}),
                                std::make_unique<FakeSampler>(), line(), 2, 1);
  World world(1, [&](TrialId id, std::int64_t) { return of.at(static_cast<std::size_t>(id)); });
  for (int i = 0; i < 9; ++i) {
    world.fill(*searcher);
    world.advance(*searcher, 0, false);
  }
  // 2, 5 and 7 are dominated. Of the front the ends are alone, then 8, whose neighbours are 0 and 3.
  EXPECT_EQ(searcher->ask()->trial, 1);
  EXPECT_EQ(searcher->ask()->trial, 3);
  EXPECT_EQ(searcher->ask()->trial, 8);
  EXPECT_EQ(searcher->ask(), std::nullopt);
}

TEST(Halving, AHeldTrialThatFailsIsRankedNoMore) {
  const std::vector<Losses> of{{1, 1}, {2, 2}, {0.5, 9}};
  const auto searcher = compose(std::make_unique<Halving>(Plans{{{3, 1}, {1, 3}}}),
                                std::make_unique<FakeSampler>(), line(), 2, 1);
  World world(3, [&](TrialId id, std::int64_t) { return of.at(static_cast<std::size_t>(id)); });
  world.fill(*searcher);
  for (int i = 0; i < 2; ++i) world.advance(*searcher, 0, false);
  world.leave(*searcher, 0);
  world.advance(*searcher, 0, false);
  EXPECT_EQ(searcher->ask()->trial, 1) << "nobody that is left dominates it";
}

TEST(Halving, GoesOnWithFewerWhenTheSpaceIsUsedUp) {
  const auto searcher = compose(std::make_unique<Halving>(hyperband_plan(9, 3, {})),
                                std::make_unique<FakeSampler>(11), line(), 1, 1);
  World world(3, [](TrialId id, std::int64_t) { return Losses{static_cast<double>(id)}; });
  world.run_in_order(*searcher);
  EXPECT_EQ(world.trials.size(), 11u);
  EXPECT_EQ(searcher->expected_trials(), 11);
  EXPECT_EQ(searcher->expected_epochs(), world.epochs);
  EXPECT_EQ(world.in_state(State::stopped), (std::vector<TrialId>{0, 9}));
}

// What reached each rung, with what it reported there.
struct Reached {
  std::map<TrialId, Losses> entered;
  std::set<TrialId> held;
};
std::map<std::pair<std::int64_t, std::int64_t>, Reached> rungs_of(const World& world) {
  std::map<std::pair<std::int64_t, std::int64_t>, Reached> out;
  std::map<TrialId, std::pair<std::int64_t, std::int64_t>> at;
  for (const auto& call : world.calls) {
    if (call.kind == Call::Kind::asked) {
      at[call.ask.trial] = {call.ask.bracket, call.ask.rung};
      out[at[call.ask.trial]].entered[call.ask.trial];
    } else if (call.kind == Call::Kind::told) {
      out[at[call.trial]].entered[call.trial] = call.losses;
      if (call.verdict == Verdict::hold) out[at[call.trial]].held.insert(call.trial);
    }
  }
  return out;
}

// Property: whoever fails and in whatever order reports come, rungs keep to their size and promote their
// best.
TEST(Halving, PromotesTheBestOfEachRungWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed, 5);
    const auto most = static_cast<std::int64_t>(1 + random.below(30));
    const auto reduction = static_cast<std::int64_t>(2 + random.below(3));
    const auto trials = random.below(2) == 0 ? std::optional<std::int64_t>{}
                                             : std::optional<std::int64_t>(1 + random.below(40));
    const auto plan = random.below(3) == 0 ? Plans{halving_plan(most, reduction, trials)}
                                           : hyperband_plan(most, reduction, trials);
    const double failing = seed % 3 == 0 ? 0 : random.uniform() * 0.2;
    const auto searcher = with_fake_sampler<Halving>(plan);
    const auto at_most = searcher->expected_epochs();
    World world(
        1 + random.below(20),
        [seed](TrialId id, std::int64_t epoch) {
          Random each(seed, static_cast<std::uint64_t>(id * 1000 + epoch));
          return Losses{static_cast<double>(each.below(10))};  // with many ties
        },
        failing, seed);
    world.run(*searcher);
    ASSERT_LE(world.epochs, at_most);
    ASSERT_TRUE(failing > 0 || world.epochs == at_most);

    const auto rungs = rungs_of(world);
    for (const auto& [place, reached] : rungs) {
      const auto [bracket, rung] = place;
      const auto size = plan.at(static_cast<std::size_t>(bracket)).at(static_cast<std::size_t>(rung)).trials;
      ASSERT_LE(static_cast<std::int64_t>(reached.entered.size()), size) << "seed " << seed;
      ASSERT_TRUE(failing > 0 || static_cast<std::int64_t>(reached.entered.size()) == size)
          << "seed " << seed;
      const auto above = rungs.find({bracket, rung + 1});
      if (above == rungs.end()) continue;
      for (const auto& [winner, unused] : above->second.entered)
        for (TrialId loser : reached.held) {
          if (above->second.entered.contains(loser)) continue;
          if (world.trials[static_cast<std::size_t>(loser)].state == State::left) continue;
          ASSERT_LT(std::pair(reached.entered.at(winner), winner),
                    std::pair(reached.entered.at(loser), loser))
              << "seed " << seed;
        }
    }
  }
}

// History of other code: trial 2 was promoted where this code would have taken 0.
TEST(Halving, TakesThePromotionsOfHistory) {
  const auto searcher = with_fake_sampler<Halving>(Plans{{{4, 1}, {2, 3}, {1, 9}}});
  for (TrialId id = 0; id < 4; ++id) searcher->asked({id, {{"x", 0.0}}, 1, 0, 0, {}});
  for (TrialId id = 0; id < 4; ++id) searcher->told(id, 1, {0.1 * static_cast<double>(id)}, Verdict::hold);
  searcher->asked({3, {{"x", 0.0}}, 3, 0, 1, {}});
  EXPECT_EQ(searcher->dropped(), (std::vector<TrialId>{2, 1})) << "3 goes on, 1 made room for it";
  EXPECT_EQ(searcher->ask()->trial, 0);
  EXPECT_EQ(searcher->ask(), std::nullopt);
  for (TrialId id : {0, 3})
    for (std::int64_t epoch : {2, 3}) searcher->tell(id, epoch, {id == 3 ? 0.0 : 1.0});
  EXPECT_EQ(searcher->dropped(), std::vector<TrialId>{0});
  EXPECT_EQ(searcher->ask()->trial, 3);
}

// History of other code: a trial more than planned.
TEST(Halving, DecidesAgainForATrialThatOnlyHistoryStarted) {
  const auto searcher = with_fake_sampler<Halving>(Plans{{{3, 1}, {1, 3}}});
  for (TrialId id = 0; id < 4; ++id) {
    searcher->asked({id, {{"x", 0.0}}, 1, 0, 0, {}});
    searcher->told(id, 1, {static_cast<double>(id)}, Verdict::hold);
  }
  EXPECT_EQ(searcher->dropped(), (std::vector<TrialId>{1, 2, 3}));
  EXPECT_EQ(searcher->ask()->trial, 0) << "who was chosen stays chosen";
  EXPECT_EQ(searcher->ask(), std::nullopt);
}

TEST(Halving, TakesTheVerdictsOfHistory) {
  const auto searcher = with_fake_sampler<Halving>(Plans{{{3, 1}, {1, 9}}});
  for (TrialId id = 0; id < 3; ++id) searcher->asked({id, {{"x", 0.0}}, 1, 0, 0, {}});
  searcher->told(0, 1, {0.1}, Verdict::stop);  // the best: it would have been held
  searcher->told(1, 1, {0.2}, Verdict::hold);
  searcher->told(2, 1, {0.3}, Verdict::hold);
  EXPECT_EQ(searcher->ask()->trial, 1);
  searcher->told(1, 2, {0.2}, Verdict::stop);
  EXPECT_TRUE(searcher->finished());
}

}  // namespace
}  // namespace tandem::search
