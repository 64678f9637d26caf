#include "place/policy/heats.h"

#include <gtest/gtest.h>

namespace tandem::place {
namespace {

// Fast and thirsty, slow and thrifty, neither.
const std::vector<HeatsOption> kThree{{0, {10, 1000}}, {1, {100, 200}}, {2, {40, 500}}};

std::uint32_t best(double h) {
  std::vector<HeatsScore> scores;
  score(h, kThree, scores);
  return scores.front().type;
}

TEST(Heats, TheWeightDecidesBetweenEnergyAndTime) {
  EXPECT_EQ(best(0), 0u);
  EXPECT_EQ(best(1), 1u);
  std::vector<HeatsScore> scores;
  score(0.25, kThree, scores);
  for (const auto& one : scores) {
    const auto& is = kThree[one.type].predicted;
    EXPECT_DOUBLE_EQ(one.score, 0.25 * (1 - is.joules / 1000) + 0.75 * (1 - is.seconds / 100));
    EXPECT_DOUBLE_EQ(one.score, one.energy_part + one.time_part);
  }
  EXPECT_GE(scores[0].score, scores[1].score);
  EXPECT_GE(scores[1].score, scores[2].score);
  EXPECT_NE(why(scores[0]).find("energy"), std::string::npos);
}

TEST(Heats, WhatNobodyKnowsIsNotToldAsANumber) {
  EXPECT_NE(why(HeatsScore{0, 0.9, 0.5, 0.4, {12, 300}}).find("(300.0 J)"), std::string::npos);
  const auto no_energy = why(HeatsScore{0, 0.9, 0.5, 0.4, {12, 0}});
  EXPECT_NE(no_energy.find("energy (not known)"), std::string::npos) << no_energy;
  EXPECT_NE(no_energy.find("time (12.0 s)"), std::string::npos) << no_energy;
  const auto nothing = why(HeatsScore{0, 0.9, 0.5, 0.4, {1, 20, 0, false}});
  EXPECT_NE(nothing.find("energy (not known)"), std::string::npos) << nothing;
  EXPECT_NE(nothing.find("time (not known)"), std::string::npos) << nothing;
}

TEST(Heats, AmongEqualsTheTypeNamedFirst) {
  const std::vector<HeatsOption> same{{4, {10, 10}}, {2, {10, 10}}};
  std::vector<HeatsScore> scores;
  score(0.5, same, scores);
  EXPECT_EQ(scores.front().type, 4u);
}

TEST(Heats, ATaskMovesOnlyWhenItPays) {
  HeatsOptions options;
  options.moves = HeatsOptions::Moves::stateful;
  options.cost = 5;
  const Prediction here{100, 1000};
  const std::vector<HeatsOption> there{{1, {100, 900}}};                // 9 W: moving costs 45 J
  EXPECT_EQ(better_place(options, 1, 0.9, here, there), 1u);            // saves 90 - 45
  EXPECT_EQ(better_place(options, 1, 0.4, here, there), std::nullopt);  // saves 40 - 45
  EXPECT_EQ(better_place(options, 0, 0.9, here, there), std::nullopt);  // it would take longer
  options.moves = HeatsOptions::Moves::none;
  EXPECT_EQ(better_place(options, 1, 0.9, here, there), std::nullopt);
}

TEST(Heats, AStatelessTaskGoesOnWhileItStartsElsewhere) {
  HeatsOptions options;
  options.moves = HeatsOptions::Moves::stateless;
  options.cost = 5;
  const Prediction here{100, 1000};
  // Left: 50 s. Moved: 5 s here meanwhile, then 0.45 of 50 s: faster than staying.
  EXPECT_EQ(better_place(options, 0, 0.5, here, std::vector<HeatsOption>{{3, {50, 1000}}}), 3u);
  // It is done before it is there.
  EXPECT_EQ(better_place(options, 0, 0.05, here, std::vector<HeatsOption>{{3, {1, 1}}}), std::nullopt);
}

}  // namespace
}  // namespace tandem::place
