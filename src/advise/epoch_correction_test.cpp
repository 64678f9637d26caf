#include "advise/epoch_correction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

namespace tandem::advise {
namespace {

using Kind = EpochCorrection::Kind;

// Four batch sizes; epoch 5 lifts all by 0.1, and larger ones by 0.05 a doubling more.
std::vector<LeftOver> lifted() {
  std::vector<LeftOver> out;
  for (const double batch : {64.0, 128.0, 256.0, 512.0})
    for (const double epoch : {1.0, 5.0}) {
      const double lean = 0.05 * (std::log2(batch / 64) - 1.5);
      out.push_back({batch, epoch, epoch < 5 ? 0 : 0.1 + lean});
    }
  return out;
}

TEST(EpochCorrection, NoneIsZero) {
  EXPECT_EQ(EpochCorrection().at(64, 3), 0);
  EXPECT_EQ(EpochCorrection(Kind::none, lifted()).at(64, 5), 0);
}

TEST(EpochCorrection, IsDrawnToZeroAndOnALineBetweenEpochs) {
  const EpochCorrection correction(Kind::by_epoch, lifted());
  EXPECT_NEAR(correction.at(64, 5), 0.1 * 4 / 5, 1e-12);
  EXPECT_NEAR(correction.at(512, 5), 0.1 * 4 / 5, 1e-12);
  EXPECT_NEAR(correction.at(64, 3), 0.04, 1e-12);
  EXPECT_NEAR(correction.at(64, 100), 0.08, 1e-12);
}

TEST(EpochCorrection, MayLeanWithTheBatchSize) {
  const EpochCorrection correction(Kind::by_epoch_and_batch, lifted());
  // By hand: offsets ±0.5 and ±1.5 doublings, squares 5 doublings² and one for the prior: 5/6 of the slope.
  EXPECT_NEAR(correction.at(512, 5) - correction.at(256, 5), 0.05 * 5 / 6, 1e-12);
}

TEST(EpochCorrection, TooFewRunsSayNothing) {
  const std::vector<LeftOver> two = {{64, 1, 0.5}, {128, 1, 0.5}};
  EXPECT_EQ(EpochCorrection(Kind::by_epoch, two).at(64, 1), 0);
}

TEST(EpochCorrection, WhatWasReadSaysTheSame) {
  const EpochCorrection correction(Kind::by_epoch_and_batch, lifted());
  const auto same = EpochCorrection::read(nlohmann::json::parse(correction.written().dump()));
  EXPECT_EQ(correction.at(100, 4), same.at(100, 4));
  EXPECT_EQ(correction.text(), same.text());
}

}  // namespace
}  // namespace tandem::advise
