#include "advise/forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/random.h"

namespace tandem::advise {
namespace {

std::vector<double> normal_errors(int count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(random.normal());
  return out;
}

Forecast forecast(double middle, ErrorKind kind, ErrorLaw law) {
  Forecast out;
  out.middle = middle;
  out.kind = kind;
  out.law = std::make_shared<const ErrorLaw>(std::move(law));
  return out;
}

// Student's t with 2 degrees of freedom has a closed form: P(T <= t) = 1/2 + t / (2 sqrt(2 + t²)).
TEST(ErrorLaw, WithoutErrorsItIsTheStatedPrior) {
  const ErrorLaw law({}, 0.5);
  for (const double t : {-3.0, -0.2, 0.0, 0.7, 2.92})
    EXPECT_NEAR(law.below(0.5 * t), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-10) << t;
  EXPECT_NEAR(law.quantile(0.95), 0.5 * 2.919986, 1e-5);
  EXPECT_TRUE(law.few());
}

// scipy.stats.t.cdf(1.5, 12) = 0.9202721…
TEST(ErrorLaw, AFewErrorsGiveStudentsT) {
  const ErrorLaw law(std::vector<double>(10, 1.0), 1.0);
  EXPECT_NEAR(law.below(1.5), 0.920272, 1e-5);
  EXPECT_NEAR(law.below(law.quantile(0.3)), 0.3, 1e-9);
}

TEST(ErrorLaw, RanksNeverPromiseMoreThanTheErrorsCan) {
  const ErrorLaw law(normal_errors(99, 1), 0.5);
  EXPECT_FALSE(law.few());
  EXPECT_DOUBLE_EQ(law.below(1e9), 0.99);
  EXPECT_DOUBLE_EQ(law.below(-1e9), 0);
  EXPECT_EQ(law.quantile(0.995), kNoBound);
  EXPECT_EQ(law.below(std::nan("")), 0);
}

TEST(ErrorLaw, IntervalsCoverAsOftenAsTheySay) {
  Random random(9);
  int inside = 0;
  constexpr int kTries = 4000;
  for (int i = 0; i < kTries; ++i) {
    const auto [low, high] =
        forecast(0, ErrorKind::absolute, ErrorLaw(normal_errors(79, 100 + i), 1)).interval(0.9);
    const double outcome = random.normal();
    inside += outcome >= low && outcome <= high;
  }
  EXPECT_NEAR(inside / static_cast<double>(kTries), 0.9, 0.015);
}

TEST(Forecast, RelativeErrorsNeverMakeATimeNegative) {
  auto seconds = forecast(100, ErrorKind::relative, ErrorLaw({}, 0.5));
  seconds.more = 5;  // start-up
  EXPECT_DOUBLE_EQ(seconds.value(), 105);
  EXPECT_GT(seconds.interval(0.99).low, 5);
  EXPECT_NEAR(seconds.below(105), 0.5, 1e-9);
  EXPECT_EQ(seconds.below(5), 0);
  EXPECT_NEAR(seconds.below(seconds.quantile(0.8)), 0.8, 1e-9);
}

TEST(Forecast, ASharesBoundsHold) {
  auto accuracy = forecast(0.99, ErrorKind::absolute, ErrorLaw({}, 0.1));
  accuracy.least = 0;
  accuracy.most = 1;
  EXPECT_EQ(accuracy.interval(0.9).high, 1);
  EXPECT_EQ(accuracy.below(1), 1);
  accuracy.middle = 1.02;
  EXPECT_EQ(accuracy.value(), 1);
}

TEST(ErrorLaw, WhatWasReadSaysTheSame) {
  for (const int count : {0, 5, 80}) {
    const ErrorLaw law(normal_errors(count, 2), 0.3);
    const auto same = ErrorLaw::read(nlohmann::json::parse(law.written().dump()));
    EXPECT_EQ(law.quantile(0.9), same.quantile(0.9));
    EXPECT_EQ(law.below(0.1), same.below(0.1));
  }
}

TEST(Forecast, JoulesNeverNeedMoreThanTheMachineDraws) {
  const Forecast seconds{.middle = 10, .law = std::make_shared<ErrorLaw>(std::vector<double>(50, 0.0), 0.5)};
  Forecast joules{.middle = 200, .law = std::make_shared<ErrorLaw>(std::vector<double>{}, 0.5)};
  EXPECT_GT(joules.interval(0.9).high, 300) << "without a bound";
  joules.ceiling = std::make_shared<const Forecast>(seconds);
  joules.per_unit = 30;  // W
  EXPECT_EQ(joules.value(), 200);
  EXPECT_LE(joules.interval(0.9).high, 300 + 1e-9);
  EXPECT_LT(joules.interval(0.9).low, 200);
  EXPECT_GT(joules.below(301), 0.95) << "as sure as the time is";
  joules.middle = 500;
  EXPECT_NEAR(joules.value(), 300, 1e-9);
}

}  // namespace
}  // namespace tandem::advise
