#include "search/asha.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "search/halving.h"
#include "search/pareto.h"
#include "search/schedule_testing.h"

namespace tandem::search {
namespace {

using Log = std::vector<std::string>;

std::unique_ptr<Searcher> asha(std::int64_t trials, std::int64_t most = 9, std::int64_t reduction = 3) {
  return with_fake_sampler<Asha>(trials, rung_epochs(most, reduction), reduction);
}

TEST(Asha, OneAfterTheOtherIsAsWorkedByHand) {
  const auto searcher = asha(9);
  World world(1, losses({0.5, 0.3, 0.4, 0.2, 0.6, 0.1, 0.7, 0.8, 0.9}));
  world.run_in_order(*searcher);
  EXPECT_EQ(world.log, (Log{
                           "b0r0 #0 >1 hold", "b0r0 #1 >1 hold", "b0r0 #2 >1 hold",
                           "b0r1 #1 >3 hold",              // one of three
                           "b0r0 #3 >1 hold", "drop 0",    // at most 3 of 9 go on, and 3 are before 0
                           "b0r1 #3 >3 hold",              // the best of four
                           "b0r0 #4 >1 hold", "drop 4",    //
                           "b0r0 #5 >1 hold", "drop 2",    //
                           "b0r1 #5 >3 hold", "drop 1",    // two of six
                           "b0r2 #5 >9 stop",              // one of three, and the highest rung first
                           "b0r0 #6 >1 hold", "drop 6 3",  // at most one of five leaves rung 1, and 5 did
                           "b0r0 #7 >1 hold", "drop 7",    //
                           "b0r0 #8 >1 hold", "drop 8",
                       }));
  EXPECT_EQ(world.epochs, 9 + 3 * 2 + 6);
}

TEST(Asha, NeverWaitsWhileThereIsANewTrial) {
  const auto searcher = asha(100);
  for (TrialId id = 0; id < 50; ++id) {
    const auto ask = searcher->ask();
    ASSERT_TRUE(ask);
    EXPECT_EQ(ask->trial, id);
  }
}

TEST(Asha, AsksForTheHighestRungFirstAndForPromotionsBeforeNewTrials) {
  const auto searcher = asha(100);
  const auto report = [&](TrialId id, std::int64_t epoch) {
    return searcher->tell(id, epoch, {static_cast<double>(id)});
  };
  for (TrialId id = 0; id < 12; ++id) searcher->ask();
  for (TrialId id = 0; id < 9; ++id) report(id, 1);
  for (TrialId id : {0, 1, 2}) {
    EXPECT_EQ(searcher->ask()->trial, id);
    for (std::int64_t epoch : {2, 3}) report(id, epoch);
    if (id == 0) report(9, 1);
  }
  for (TrialId id : {10, 11}) report(id, 1);
  // Now 0 may go on to rung 2, and 3 as the fourth of twelve to rung 1.
  auto ask = searcher->ask();
  EXPECT_EQ(ask->trial, 0);
  EXPECT_EQ(ask->rung, 2);
  ask = searcher->ask();
  EXPECT_EQ(ask->trial, 3);
  EXPECT_EQ(ask->rung, 1);
  EXPECT_EQ(searcher->ask()->trial, 12);
}

TEST(Asha, FewTrialsStillBringOneToTheEnd) {
  for (std::int64_t trials = 1; trials < 12; ++trials) {
    const auto searcher = asha(trials, 27);
    World world(2, [](TrialId id, std::int64_t) { return Losses{static_cast<double>(id * 5 % 7)}; });
    world.run(*searcher);
    EXPECT_EQ(world.in_state(World::State::stopped).size(), 1u) << trials;
  }
}

TEST(Asha, FailedTrialsCountInTheirRung) {
  const auto searcher = asha(9);
  World world(3, losses({0.1, 0.2, 0.3}));
  world.fill(*searcher);
  world.leave(*searcher, 0);
  world.leave(*searcher, 1);
  world.advance(*searcher, 0, false);
  const auto ask = searcher->ask();
  EXPECT_EQ(ask->trial, 2) << "the best of three, two of which failed";
  EXPECT_EQ(ask->until, 3);
}

TEST(Asha, EndsWhenAllFail) {
  const auto searcher = asha(9);
  World world(4, losses(std::vector<double>(9, 0.5)), 1.0);
  world.run(*searcher);
  EXPECT_EQ(world.in_state(World::State::left).size(), 9u);
  EXPECT_EQ(searcher->expected_epochs(), 0);
}

TEST(Asha, SeveralGoalsGoOnByRankAndCrowding) {
  const std::vector<Losses> of{{5, 5}, {4, 4}, {1, 9}, {9, 1}, {6, 6}, {7, 7}};
  const auto searcher =
      compose(std::make_unique<Asha>(6, rung_epochs(9, 3), 3), std::make_unique<FakeSampler>(), line(), 2, 1);
  World world(6, [&](TrialId id, std::int64_t) { return of.at(static_cast<std::size_t>(id)); });
  world.fill(*searcher);
  for (int i = 0; i < 6; ++i) world.advance(*searcher, 0, false);
  EXPECT_EQ(searcher->ask()->trial, 2);
  EXPECT_EQ(searcher->ask()->trial, 3);
  EXPECT_EQ(searcher->ask(), std::nullopt);
  EXPECT_EQ(world.in_state(World::State::dropped), (std::vector<TrialId>{0, 1, 4, 5}));
}

// Property: at the moment it is asked for, a promoted trial is among the best 1/reduction of what its rung
// has seen, or nothing more can come to that rung; and no trial is dropped that a look at the end would
// promote.
TEST(Asha, PromotesOnlyTheTopOfARungAndDropsOnlyTheHopeless) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed, 6);
    const std::size_t goals = 1 + seed % 2;
    const auto reduction = static_cast<std::int64_t>(2 + random.below(3));
    const auto most = static_cast<std::int64_t>(1 + random.below(30));
    const auto trials = static_cast<std::int64_t>(1 + random.below(40));
    const double failing = seed % 3 == 0 ? 0 : random.uniform() * 0.2;
    const auto searcher = compose(std::make_unique<Asha>(trials, rung_epochs(most, reduction), reduction),
                                  std::make_unique<FakeSampler>(), line(), goals, 1);
    World world(
        1 + random.below(10),
        [&](TrialId id, std::int64_t epoch) {
          Random each(seed, static_cast<std::uint64_t>(id * 1000 + epoch));
          Losses out;
          for (std::size_t i = 0; i < goals; ++i) out.push_back(static_cast<double>(each.below(12)));
          return out;
        },
        failing, seed);
    world.run(*searcher);

    struct Level {
      std::map<TrialId, Losses> reported;
      std::int64_t lost = 0, promoted = 0;
    };
    std::map<std::int64_t, Level> levels;
    std::map<TrialId, std::int64_t> rung_of;
    std::int64_t started = 0;
    for (const auto& call : world.calls) {
      if (call.kind == Call::Kind::asked) {
        rung_of[call.ask.trial] = call.ask.rung;
        if (call.ask.rung == 0) {
          ++started;
          continue;
        }
        Level& below = levels[call.ask.rung - 1];
        std::vector<Losses> all;
        std::size_t own = 0;
        for (const auto& [id, of] : below.reported) {
          if (id == call.ask.trial) own = all.size();
          all.push_back(of);
        }
        const auto order = best_first(all);
        const auto place = std::find(order.begin(), order.end(), own) - order.begin();
        const auto seen = static_cast<std::int64_t>(all.size()) + below.lost;
        if (place >= seen / reduction) {
          ASSERT_TRUE(started == trials && below.promoted == 0) << "seed " << seed;
          ASSERT_EQ(place, 0) << "seed " << seed;
        }
        ++below.promoted;
      } else if (call.kind == Call::Kind::told && call.verdict != Verdict::go_on) {
        levels[rung_of[call.trial]].reported[call.trial] = call.losses;
      } else if (call.kind == Call::Kind::left) {
        Level& here = levels[rung_of[call.trial]];
        here.reported.erase(call.trial);
        ++here.lost;
      }
    }
    if (failing > 0) continue;
    // Without failures the final top of every rung went on, however early others were dropped.
    for (const auto& [rung, level] : levels) {
      if (!levels.contains(rung + 1)) continue;
      std::vector<TrialId> ids;
      std::vector<Losses> all;
      for (const auto& [id, of] : level.reported) ids.push_back(id), all.push_back(of);
      const auto order = best_first(all);
      const auto top = std::max<std::size_t>(1, order.size() / static_cast<std::size_t>(reduction));
      for (std::size_t i = 0; i < top; ++i)
        ASSERT_TRUE(levels[rung + 1].reported.contains(ids[order[i]])) << "seed " << seed << " rung " << rung;
    }
  }
}

}  // namespace
}  // namespace tandem::search
