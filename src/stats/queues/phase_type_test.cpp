#include "stats/queues/phase_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace tandem::stats {
namespace {

TEST(PhaseType, ExponentialIsExponential) {
  const auto time = PhaseType::exponential(4);
  EXPECT_NEAR(time.mean(), 4, 1e-12);
  EXPECT_NEAR(time.moment(2), 32, 1e-12);
  for (const double t : {0.1, 1.0, 4.0, 20.0}) EXPECT_NEAR(time.cdf(t), 1 - std::exp(-t / 4), 1e-11);
  EXPECT_NEAR(time.quantile(0.95), 4 * std::log(20.0), 1e-6);
  EXPECT_NEAR(std::abs(time.transform({0.3, 2}) - 0.25 / (0.25 + Complex(0.3, 2))), 0, 1e-14);
}

TEST(PhaseType, ErlangHasItsClosedForm) {
  const auto time = PhaseType::erlang(3, 6);  // rate 1/2
  EXPECT_NEAR(time.mean(), 6, 1e-12);
  EXPECT_NEAR(time.squared_variation(), 1.0 / 3, 1e-12);
  const double x = 5 / 2.0;
  EXPECT_NEAR(time.cdf(5), 1 - std::exp(-x) * (1 + x + x * x / 2), 1e-11);
}

TEST(PhaseType, TransformsChainsOfAnyLength) {
  for (const int phases : {1, 255, 256, 257, 1000}) {
    const Complex s(0.01, 0.2);
    const double rate = phases / 3.0;
    EXPECT_NEAR(std::abs(PhaseType::erlang(phases, 3).transform(s) - std::pow(rate / (rate + s), phases)), 0,
                1e-11)
        << phases;
  }
}

TEST(PhaseType, LongStretchesDoNotUnderflow) {
  const auto time = PhaseType::erlang(400, 1000);
  EXPECT_NEAR(time.cdf(1000), 0.5 + 1 / (3 * std::sqrt(2 * M_PI * 400)), 1e-4);
  EXPECT_NEAR(time.cdf(100000), 1, 1e-9);
}

TEST(PhaseType, SumsAddMeansAndVariances) {
  const auto both = PhaseType::erlang(3, 6).then(PhaseType::exponential(4));
  EXPECT_EQ(both.size(), 4U);
  EXPECT_NEAR(both.mean(), 10, 1e-12);
  EXPECT_NEAR(both.moment(2) - 100, 12 + 16, 1e-9);
}

TEST(PhaseType, MixturesMixEverything) {
  const PhaseType parts[] = {PhaseType::exponential(1), PhaseType::erlang(2, 8)};
  const double weights[] = {0.25, 0.75};
  const auto mixed = PhaseType::mixture(weights, parts);
  EXPECT_NEAR(mixed.mean(), 0.25 + 6, 1e-12);
  EXPECT_NEAR(mixed.cdf(3), 0.25 * parts[0].cdf(3) + 0.75 * parts[1].cdf(3), 1e-11);
}

TEST(PhaseType, AMixtureBeforeASumKeepsItsShares) {
  const PhaseType parts[] = {PhaseType::exponential(1), PhaseType::zero()};
  const double weights[] = {0.5, 0.5};
  const auto time = PhaseType::mixture(weights, parts).then(PhaseType::exponential(2));
  EXPECT_NEAR(time.mean(), 0.5 + 2, 1e-12);
  EXPECT_NEAR(time.transform(0).real(), 1, 1e-12);
}

TEST(PhaseType, FitsTwoMoments) {
  for (const double c : {1.0, 0.7, 0.5, 0.33, 0.1, 0.011}) {
    const auto time = PhaseType::fitted(7, c);
    EXPECT_NEAR(time.mean(), 7, 1e-9) << c;
    EXPECT_NEAR(time.squared_variation(), c, 1e-9) << c;
  }
  EXPECT_NEAR(PhaseType::fitted(7, 0, 100).squared_variation(), 0.01, 1e-9);
}

TEST(PhaseType, WhatIsLeftAfterATimeContinuesTheSameTime) {
  const auto time = PhaseType::erlang(3, 6).then(PhaseType::exponential(4));
  const auto left = time.after(5);
  EXPECT_NEAR(std::accumulate(left.begin(), left.end(), 0.0), 1 - time.cdf(5), 1e-11);
  // E[T] = E[min(T, 5)] + E[rest]; the first by integrating the tail.
  double until = 0;
  for (int i = 0; i < 2000; ++i) until += (1 - time.cdf((i + 0.5) * 5 / 2000)) * 5 / 2000;
  EXPECT_NEAR(until + time.moment_from(left, 1), time.mean(), 1e-6);
}

TEST(PhaseType, SlicesAverageToTheMean) {
  const auto time = PhaseType::erlang(5, 10);
  double all = 0, mean = 0, square = 0;
  for (const auto& slice : time.slices(100)) {
    all += slice.probability;
    mean += slice.probability * slice.time;
    square += slice.probability * slice.time * slice.time;
  }
  EXPECT_NEAR(all, 1, 1e-12);
  EXPECT_NEAR(mean, 10, 0.01);
  EXPECT_NEAR(square, 120, 0.3);
}

TEST(PhaseType, FasterIsFaster) {
  EXPECT_NEAR(PhaseType::erlang(3, 6).faster(2).mean(), 3, 1e-12);
  EXPECT_NEAR(PhaseType::erlang(3, 6).faster(2).squared_variation(), 1.0 / 3, 1e-12);
}

TEST(PhaseType, RefusesWhatIsNoChain) {
  EXPECT_THROW(PhaseType({1}, {{0, {}}}), UserError);
  EXPECT_THROW(PhaseType({1}, {{1, {{0, 1}}}}), UserError);
  EXPECT_THROW(PhaseType({0.7, 0.7}, {{1, {}}, {1, {}}}), UserError);
  EXPECT_THROW(PhaseType({1, 0}, {{1, {{1, 1.5}}}, {1, {}}}), UserError);
  EXPECT_THROW(PhaseType::fitted(1, 2), UserError);
}

}  // namespace
}  // namespace tandem::stats
