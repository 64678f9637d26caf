#include "advise/learning_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.h"
#include "base/random.h"

namespace tandem::advise {
namespace {

double truth(double batch, double epoch) {
  const double rate = 0.4 * std::pow(batch / 64, -0.5);
  return 0.97 - 0.01 * std::log2(batch / 64) - 0.6 * std::exp(-rate * epoch);
}

std::vector<CurvePoint> curves(const std::vector<double>& batches, int epochs, double noise) {
  Random random(1);
  std::vector<CurvePoint> out;
  for (std::size_t run = 0; run < batches.size(); ++run)
    for (int epoch = 1; epoch <= epochs; ++epoch)
      out.push_back({batches[run], 1, static_cast<double>(epoch),
                     truth(batches[run], epoch) + noise * random.normal(), run});
  return out;
}

TEST(LearningCurve, FindsTheCurveThatMadeThePoints) {
  const auto curve = LearningCurve::fit(curves({64, 128, 256, 512}, 20, 0));
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->shape(), "saturation");
  for (const double batch : {64.0, 100.0, 400.0})
    for (const double epoch : {1.0, 5.0, 20.0, 40.0})
      EXPECT_NEAR(curve->forecast(batch, 1, epoch).value(), truth(batch, epoch), 0.01)
          << batch << " " << epoch;
}

TEST(LearningCurve, IntervalsHoldTheTruthOfABatchSizeNotSeen) {
  const auto curve = LearningCurve::fit(curves({32, 64, 256, 512, 1024}, 20, 0.005));
  ASSERT_TRUE(curve);
  int inside = 0;
  for (int epoch = 1; epoch <= 20; ++epoch) {
    const auto [low, high] = curve->forecast(128, 1, epoch).interval(0.9);
    inside += truth(128, epoch) >= low && truth(128, epoch) <= high;
  }
  EXPECT_GE(inside, 17);
}

TEST(LearningCurve, FallsAsWellAsItRises) {
  auto points = curves({64, 128, 256}, 20, 0);
  for (auto& point : points) point.metric = 3 - 2 * point.metric;  // a loss
  const auto curve = LearningCurve::fit(points);
  EXPECT_NEAR(curve->forecast(128, 1, 10).value(), 3 - 2 * truth(128, 10), 0.02);
}

TEST(LearningCurve, OneRunSaysLittleAndAdmitsIt) {
  const auto curve = LearningCurve::fit(curves({64}, 10, 0));
  ASSERT_TRUE(curve);
  EXPECT_FALSE(curve->error());
  const auto forecast = curve->forecast(64, 1, 10);
  EXPECT_TRUE(forecast.wide);
  EXPECT_NEAR(forecast.value(), truth(64, 10), 0.05);
  EXPECT_GT(forecast.interval(0.9).high - forecast.interval(0.9).low, 0.2);
}

TEST(LearningCurve, TooFewPointsAreNoCurveAndSillyOnesAreRefused) {
  EXPECT_FALSE(LearningCurve::fit({}));
  EXPECT_FALSE(LearningCurve::fit(curves({64, 128}, 3, 0)));
  auto points = curves({64, 128}, 10, 0);
  points[3].metric = std::nan("");
  EXPECT_THROW(LearningCurve::fit(points), UserError);
  points[3].metric = 0.5;
  points[3].epoch = 0;
  EXPECT_THROW(LearningCurve::fit(points), UserError);
}

TEST(LearningCurve, AFlatMetricStaysFlat) {
  auto points = curves({64, 128, 256}, 10, 0);
  for (auto& point : points) point.metric = 0.5;
  EXPECT_NEAR(LearningCurve::fit(points)->forecast(100, 1, 7).value(), 0.5, 1e-6);
}

// Learning rates of 0.05 and 0.1 say nothing of 0.0001: a line through them leads out of what can be.
TEST(LearningCurve, IsNotBelievedBeyondTheLearningRatesAndBatchesThatWereRun) {
  std::vector<CurvePoint> points;
  std::size_t run = 0;
  for (const auto& [batch, rate, end] : {std::tuple{64.0, 0.05, 0.93}, {64.0, 0.1, 0.95}, {128.0, 0.05, 0.90}}) {
    for (int epoch = 1; epoch <= 10; ++epoch)
      points.push_back({batch, rate, static_cast<double>(epoch), end - 0.6 * std::exp(-0.5 * epoch), run});
    ++run;
  }
  const auto curve = LearningCurve::fit(points);
  ASSERT_TRUE(curve);
  const auto width = [](const Forecast& forecast) {
    const auto [low, high] = forecast.interval(0.9);
    return high - low;
  };
  for (const double batch : {8.0, 64.0, 1024.0})
    for (const double rate : {0.0001, 0.01, 0.05, 0.5}) {
      const auto forecast = curve->forecast(batch, rate, 10);
      EXPECT_GT(forecast.value(), 0.85) << batch << " " << rate;
      EXPECT_LT(forecast.value(), 0.96) << batch << " " << rate;
    }
  EXPECT_TRUE(curve->forecast(64, 0.01, 10).wide);
  EXPECT_GT(width(curve->forecast(64, 0.01, 10)), 1.9 * width(curve->forecast(64, 0.05, 10)));
  EXPECT_GT(width(curve->forecast(64, 0.0001, 10)), 1.5 * width(curve->forecast(64, 0.01, 10)));
}

// A drop of the learning rate at epoch 12 lifts all runs: no simple shape has that, the correction does.
TEST(LearningCurve, ACommonJumpIsLearnt) {
  auto points = curves({32, 64, 128, 256, 512}, 20, 0.001);
  for (auto& point : points)
    if (point.epoch >= 12) point.metric += 0.1;
  const auto curve = LearningCurve::fit(points);
  const double jump = curve->forecast(100, 1, 12).value() - curve->forecast(100, 1, 11).value();
  EXPECT_GT(jump, 0.06);
}

TEST(LearningCurve, WhatWasReadSaysTheSame) {
  const auto curve = LearningCurve::fit(curves({64, 128, 256, 512, 1024}, 20, 0.01));
  const auto same = LearningCurve::read(nlohmann::json::parse(curve->written().dump()));
  EXPECT_EQ(curve->forecast(100, 1, 30).quantile(0.9), same.forecast(100, 1, 30).quantile(0.9));
}

}  // namespace
}  // namespace tandem::advise
