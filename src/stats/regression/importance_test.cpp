#include "stats/regression/importance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/random.h"

namespace tandem::stats {
namespace {

using Result = std::function<double(double rate, double drop, const std::string& optimizer, Random&)>;

// Learning rates over four decades, a dropout, an optimizer out of three, batch sizes that are powers of two.
std::vector<Observation> trials(int count, std::uint64_t seed, const Result& result) {
  std::vector<Observation> out;
  Random random(seed);
  const std::string optimizers[] = {"adam", "sgd", "rmsprop"};
  for (int i = 0; i < count; ++i) {
    const double rate = std::pow(10, random.uniform(-5, -1)), drop = random.uniform();
    const std::string optimizer = optimizers[random.below(3)];
    const std::int64_t batch = 32 << random.below(4);
    out.push_back(
        {{{"learning_rate", rate}, {"dropout", drop}, {"optimizer", optimizer}, {"batch_size", batch}},
         result(rate, drop, optimizer, random)});
  }
  return out;
}

double share(const std::vector<Importance>& all, const std::string& name) {
  for (const auto& parameter : all)
    if (parameter.name == name) return parameter.share;
  ADD_FAILURE() << "no " << name;
  return -1;
}

// Over some draws of the trials, so that no lucky seed decides.
double mean_share(int count, const Result& result, const std::string& name) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    sum += share(importance(trials(count, seed, result)), name);
  return sum / 20;
}

// A hill over the logarithm of the rate, nothing else.
double hill(double rate, double, const std::string&, Random& random) {
  return 0.9 - 0.2 * std::pow(std::log10(rate) + 3, 2) + 0.02 * random.normal();
}

TEST(Importance, FindsTheOneThatMattersAmongTwelveTrials) {
  EXPECT_GT(mean_share(12, hill, "learning_rate"), 0.6);
  EXPECT_LT(mean_share(12, hill, "dropout"), 0.12);
  EXPECT_LT(mean_share(12, hill, "optimizer"), 0.12);
  EXPECT_LT(mean_share(12, hill, "batch_size"), 0.12);
}

TEST(Importance, GetsSurerWithMoreTrials) {
  EXPECT_GT(mean_share(30, hill, "learning_rate"), 0.85);
  EXPECT_LT(mean_share(60, hill, "dropout"), 0.03);
}

TEST(Importance, WordsCountAsWellAsNumbers) {
  const Result by_optimizer = [](double, double drop, const std::string& optimizer, Random& random) {
    return (optimizer == "sgd" ? 0.5 : 0.9) - 0.1 * drop + 0.01 * random.normal();
  };
  EXPECT_GT(mean_share(20, by_optimizer, "optimizer"), 0.75);
  EXPECT_LT(mean_share(20, by_optimizer, "dropout"), 0.15);
  EXPECT_EQ(importance(trials(20, 1, by_optimizer)).front().name, "optimizer");
}

TEST(Importance, SeveralThatMatterShareTheVariation) {
  const Result both = [](double rate, double drop, const std::string&, Random&) {
    return (std::log10(rate) + 5) / 4 + drop;
  };
  EXPECT_NEAR(mean_share(40, both, "learning_rate"), 0.45, 0.15);
  EXPECT_NEAR(mean_share(40, both, "dropout"), 0.45, 0.15);
}

TEST(Importance, NoiseIsExplainedByNothing) {
  const Result noise = [](double, double, const std::string&, Random& random) { return random.normal(); };
  for (const char* name : {"learning_rate", "dropout", "optimizer", "batch_size"})
    EXPECT_LT(mean_share(20, noise, name), 0.1) << name;
}

TEST(Importance, SharesAreAtLeastNothingAndSumToAtMostOne) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    auto observations = trials(10, seed, hill);
    for (auto& observation : observations) {
      observation.at["copy"] = observation.at["learning_rate"];  // says the same again
      observation.at["again"] = observation.at["learning_rate"];
    }
    double sum = 0;
    for (const auto& parameter : importance(observations)) {
      EXPECT_GE(parameter.share, 0);
      sum += parameter.share;
    }
    EXPECT_LE(sum, 1 + 1e-12);
  }
}

TEST(Importance, AParameterSomeLackIsJudgedAmongThoseThatHaveIt) {
  // Momentum exists for sgd only and has no effect; what the optimizer does is not its doing.
  const Result by_optimizer = [](double, double, const std::string& optimizer, Random& random) {
    return (optimizer == "sgd" ? 0.5 : 0.9) + 0.01 * random.normal();
  };
  double momentum = 0, optimizer = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto observations = trials(30, seed, by_optimizer);
    Random random(seed, 1);
    std::size_t having = 0;
    for (auto& observation : observations)
      if (std::get<std::string>(observation.at["optimizer"]) == "sgd")
        observation.at["momentum"] = random.uniform(), ++having;
    const auto found = importance(observations);
    momentum += share(found, "momentum") / 20;
    optimizer += share(found, "optimizer") / 20;
    for (const auto& parameter : found) {
      const std::size_t expected = parameter.name == "momentum" ? having : 30;
      EXPECT_EQ(parameter.trials, expected) << parameter.name;
    }
  }
  EXPECT_LT(momentum, 0.03);
  EXPECT_GT(optimizer, 0.9);
}

TEST(Importance, OneWildResultDoesNotDecide) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto observations = trials(30, seed, hill);
    observations[4].result = -1e12;  // it diverged
    observations[5].result = std::numeric_limits<double>::quiet_NaN();
    observations[6].result = -std::numeric_limits<double>::infinity();
    const auto found = importance(observations);
    EXPECT_EQ(found.front().name, "learning_rate") << "seed " << seed;
    EXPECT_EQ(found.front().trials, 28U);
    sum += found.front().share;
  }
  EXPECT_GT(sum / 20, 0.5);
}

TEST(Importance, ScaleAndDirectionOfTheResultDoNotMatter) {
  const auto observations = trials(25, 2, hill);
  auto scaled = observations;
  for (auto& observation : scaled) observation.result = 5 - 1000 * observation.result;
  const auto before = importance(observations), after = importance(scaled);
  ASSERT_EQ(before.size(), after.size());
  for (const auto& parameter : before) EXPECT_NEAR(parameter.share, share(after, parameter.name), 1e-9);
}

TEST(Importance, WhatNeverVariesExplainsNothing) {
  auto observations = trials(12, 1, hill);
  for (auto& observation : observations) observation.at["epochs"] = std::int64_t{9};
  EXPECT_EQ(share(importance(observations), "epochs"), 0);
  for (auto& observation : observations) observation.result = 0.1;  // nothing to explain
  for (const auto& parameter : importance(observations)) EXPECT_EQ(parameter.share, 0);
}

TEST(Importance, MixedNumbersAndWordsAreWords) {
  std::vector<Observation> observations;
  for (int i = 0; i < 12; ++i)
    observations.push_back(
        {{{"clip", i % 2 ? Value(std::string("none")) : Value(std::int64_t{1})}, {"flag", i % 3 == 0}},
         i % 2 ? 1.0 : 0.0});
  EXPECT_GT(share(importance(observations), "clip"), 0.9);
  EXPECT_LT(share(importance(observations), "flag"), 0.1);
}

TEST(Importance, TooFewTrialsSayNothing) {
  EXPECT_TRUE(importance({}).empty());
  EXPECT_TRUE(importance(trials(5, 1, hill)).empty());
  EXPECT_FALSE(importance(trials(6, 1, hill)).empty());
  auto observations = trials(8, 1, hill);
  for (int i = 0; i < 3; ++i) observations[i].result = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(importance(observations).empty());
}

TEST(Importance, AThousandTrialsAreSampledEvenly) {
  const auto many = importance(trials(1500, 1, hill));
  EXPECT_GT(share(many, "learning_rate"), 0.95);
  EXPECT_EQ(many.front().trials, 500U);
}

}  // namespace
}  // namespace tandem::stats
