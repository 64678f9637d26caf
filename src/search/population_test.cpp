#include "search/population.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "search/points.h"
#include "search/schedule_testing.h"

namespace tandem::search {
namespace {

using Log = std::vector<std::string>;
using State = World::State;

TEST(Population, TheWorstBecomeClonesOfTheBest) {
  const auto searcher = with_fake_sampler<Population>(4, 3);
  EXPECT_EQ(searcher->expected_trials(), 4 + 2);
  EXPECT_EQ(searcher->expected_epochs(), 12);
  World world(1, losses({0.4, 0.1, 0.3, 0.2, 0.05, 0.04}));
  world.run_in_order(*searcher);
  EXPECT_EQ(world.log, (Log{
                           "b0r0 #0 >1 hold",
                           "b0r0 #1 >1 hold",
                           "b0r0 #2 >1 hold",
                           "b0r0 #3 >1 hold",
                           "drop 0",
                           "#4 clones #1",  //
                           "b0r1 #4 >2 hold",
                           "b0r1 #1 >2 hold",
                           "b0r1 #3 >2 hold",
                           "b0r1 #2 >2 hold",  //
                           "drop 2",
                           "#5 clones #4",  //
                           "b0r2 #5 >3 stop",
                           "b0r2 #4 >3 stop",
                           "b0r2 #1 >3 stop",
                           "b0r2 #3 >3 stop",
                       }));
  EXPECT_EQ(world.epochs, 12) << "clones go on from their parents' epochs";
  EXPECT_EQ(searcher->expected_trials(), 6);
}

TEST(Population, AQuarterOfEightAndGenerationsOfANinth) {
  const auto searcher = with_fake_sampler<Population>(8, 27);
  World world(8, [](TrialId id, std::int64_t) { return Losses{static_cast<double>(id)}; });
  world.fill(*searcher);
  EXPECT_EQ(world.trials.size(), 8u);
  for (const auto& trial : world.trials) EXPECT_EQ(trial.until, 3);
  for (int i = 0; i < 8 * 3; ++i) world.advance(*searcher, 0, false);
  EXPECT_EQ(world.in_state(State::dropped), (std::vector<TrialId>{6, 7}));
  const auto first = searcher->ask(), second = searcher->ask();
  EXPECT_EQ(first->clone_from, 0);
  EXPECT_EQ(second->clone_from, 1);
  EXPECT_EQ(first->until, 6);
  EXPECT_EQ(searcher->tell(first->trial, 4, {0.5}), Verdict::go_on) << "the parent was at epoch 3";
  const auto third = searcher->ask();
  EXPECT_EQ(third->trial, 0) << "parents go on after their clones began";
  EXPECT_EQ(third->clone_from, std::nullopt);
}

TEST(Population, TheFailedAreReplacedAsTheWorst) {
  const auto searcher = with_fake_sampler<Population>(4, 9);
  World world(4, losses({0.4, 0.1, 0.3, 0.2}));
  world.fill(*searcher);
  world.leave(*searcher, 1);
  world.leave(*searcher, 2);
  for (int i = 0; i < 2; ++i) world.advance(*searcher, 0, false);
  EXPECT_TRUE(world.in_state(State::dropped).empty()) << "two have failed, that is more than a quarter";
  EXPECT_EQ(searcher->ask()->clone_from, 3);
  EXPECT_EQ(searcher->ask()->clone_from, 3);
  EXPECT_EQ(searcher->ask()->trial, 3);
  EXPECT_EQ(searcher->ask()->trial, 0);
  EXPECT_EQ(searcher->ask(), std::nullopt);
}

TEST(Population, EndsWhenAllFail) {
  const auto searcher = with_fake_sampler<Population>(4, 9);
  World world(4, losses(std::vector<double>(4, 0.5)), 1.0);
  world.run(*searcher);
  EXPECT_EQ(world.trials.size(), 4u);
  EXPECT_EQ(searcher->expected_trials(), 4);
}

TEST(Population, AParentThatFailsBeforeItIsClonedIsReplacedByTheNextBest) {
  const auto searcher = with_fake_sampler<Population>(4, 9);
  World world(4, losses({0.4, 0.1, 0.3, 0.2}));
  world.fill(*searcher);
  for (int i = 0; i < 4; ++i) world.advance(*searcher, 0, false);
  world.leave(*searcher, 1);
  EXPECT_EQ(searcher->ask()->clone_from, 3);
  EXPECT_EQ(searcher->ask()->trial, 3);
  EXPECT_EQ(searcher->ask()->trial, 2);
  EXPECT_EQ(searcher->ask(), std::nullopt);
}

TEST(Population, OfOneTrainsOnAlone) {
  const auto searcher = with_fake_sampler<Population>(1, 3);
  EXPECT_EQ(searcher->expected_trials(), 1);
  World world(1, losses({0.5}));
  world.run_in_order(*searcher);
  EXPECT_EQ(world.log, (Log{"b0r0 #0 >1 hold", "b0r1 #0 >2 hold", "b0r2 #0 >3 stop"}));
}

TEST(Population, SeveralGoalsReplaceTheDominated) {
  const std::vector<Losses> of{{9, 1}, {4, 4}, {5, 5}, {1, 9}};
  const auto searcher =
      compose(std::make_unique<Population>(4, 9), std::make_unique<FakeSampler>(), line(), 2, 1);
  World world(4, [&](TrialId id, std::int64_t) { return of.at(static_cast<std::size_t>(id)); });
  world.fill(*searcher);
  for (int i = 0; i < 4; ++i) world.advance(*searcher, 0, false);
  EXPECT_EQ(world.in_state(State::dropped), std::vector<TrialId>{2});
  EXPECT_EQ(searcher->ask()->clone_from, 0) << "an end of the front, and the lower trial";
}

TEST(Population, WaitsForAMemberThatOnlyHistoryKept) {
  const auto searcher = with_fake_sampler<Population>(2, 3);
  for (int i = 0; i < 2; ++i) searcher->ask();
  for (TrialId id : {0, 1}) searcher->tell(id, 1, {static_cast<double>(id)});
  searcher->asked({1, {{"x", 1.0}}, 2, 0, 1, {}});  // this code has dropped it
  EXPECT_TRUE(searcher->dropped().empty());
  EXPECT_EQ(searcher->ask()->clone_from, 0);
  EXPECT_EQ(searcher->ask()->trial, 0);
  for (TrialId id : {0, 2}) searcher->tell(id, 2, {5.0});
  EXPECT_EQ(searcher->ask(), std::nullopt) << "trial 1 has not reported";
  searcher->tell(1, 2, {0.0});
  EXPECT_EQ(searcher->ask()->clone_from, 1);
  EXPECT_EQ(searcher->ask()->trial, 1);
  EXPECT_EQ(searcher->ask(), std::nullopt) << "two again";
}

TEST(Population, KeepsItsSizeWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed, 8);
    const auto size = static_cast<std::int64_t>(1 + random.below(12));
    const auto most = static_cast<std::int64_t>(1 + random.below(40));
    const double failing = seed % 2 == 0 ? 0 : 0.05;
    const auto searcher = with_fake_sampler<Population>(size, most);
    World world(
        1 + random.below(12),
        [seed](TrialId id, std::int64_t epoch) {
          return Losses{Random(seed, static_cast<std::uint64_t>(id * 1000 + epoch)).uniform()};
        },
        failing, seed);
    EXPECT_EQ(searcher->expected_epochs(), size * most);
    while (world.step(*searcher))
      ASSERT_TRUE(failing > 0 || searcher->expected_epochs() == size * most) << "seed " << seed;
    if (failing > 0) continue;
    EXPECT_EQ(world.epochs, size * most);
    const auto stopped = world.in_state(State::stopped);
    ASSERT_EQ(static_cast<std::int64_t>(stopped.size()), size);
    for (TrialId id : stopped) EXPECT_EQ(world.trials[static_cast<std::size_t>(id)].epoch, most);
  }
}

TEST(Perturbed, MovesNumbersByAFifthAndKeepsOrChangesChoices) {
  const auto space = space_of({{"rate", real(0, 1)}, {"kind", choice({"a", "b", "c"})}});
  const Values parent{{"rate", 0.5}, {"kind", std::string("b")}};
  int less = 0, more = 0, drawn = 0, kept = 0, other = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    Random random(3, i);
    const Values child = perturbed(space, parent, random);
    expect_fits(space, child);
    const double rate = std::get<double>(child.at("rate"));
    if (std::abs(rate - 0.4) < 1e-9)
      ++less;
    else if (std::abs(rate - 0.6) < 1e-9)
      ++more;
    else
      ++drawn;
    ++(child.at("kind") == parent.at("kind") ? kept : other);
  }
  EXPECT_NEAR(less, 1500, 150);
  EXPECT_NEAR(more, 1500, 150);
  EXPECT_NEAR(drawn, 1000, 150);
  EXPECT_NEAR(kept, 3000, 150) << "a choice that is drawn again becomes another one";
  EXPECT_NEAR(other, 1000, 150);
}

TEST(Perturbed, StaysInTheSpace) {
  const auto space = conditional_space();
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Random random(4, i);
    Values point = draw(space, random);
    for (int generation = 0; generation < 5; ++generation) {
      point = perturbed(space, point, random);
      expect_fits(space, point);
    }
  }
}

TEST(Perturbed, MeetsConstraintsOrStaysWhereItIs) {
  const auto narrow = space_of({{"x", real(0, 1)}, {"y", real(0, 1)}}, {"x + y < 1"});
  const auto pinned = space_of({{"x", real(0, 1)}}, {"x == 0.5"});
  for (std::uint64_t i = 0; i < 200; ++i) {
    Random random(5, i);
    const Values point = draw(narrow, random);
    expect_fits(narrow, perturbed(narrow, point, random));
    EXPECT_EQ(perturbed(pinned, {{"x", 0.5}}, random), (Values{{"x", 0.5}}));
  }
}

}  // namespace
}  // namespace tandem::search
