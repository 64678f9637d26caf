#include "advise/error_sizes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "advise/forecast.h"
#include "base/random.h"

namespace tandem::advise {
namespace {

TEST(ErrorSizes, FindThatSmallJobsAreNoisier) {
  Random random(1);
  std::vector<double> cores, errors;
  for (int i = 0; i < 4000; ++i) {
    cores.push_back(1 << random.below(4));
    errors.push_back(random.normal() / cores.back());
  }
  const ErrorSizes sizes({"cores"}, cores, errors);
  const double one = 1, eight = 8;
  EXPECT_NEAR(sizes.at({&one, 1}) / sizes.at({&eight, 1}), 8, 1);
}

TEST(ErrorSizes, TooFewErrorsOrNoneAtAllHaveNoSize) {
  const std::vector<double> rows(kFewErrors, 2.0), few(kFewErrors - 1, 0.3), zero(kFewErrors, 0.0);
  EXPECT_EQ(ErrorSizes({"cores"}, rows, few).at({rows.data(), 1}), 1);
  EXPECT_EQ(ErrorSizes({"cores"}, rows, zero).at({rows.data(), 1}), 1);
  EXPECT_EQ(ErrorSizes().at({rows.data(), 1}), 1);
}

TEST(ErrorSizes, WhatWasReadSaysTheSame) {
  std::vector<double> rows, errors;
  for (int i = 1; i <= 60; ++i) rows.push_back(i), errors.push_back(1.0 / i);
  const ErrorSizes sizes({"cores"}, rows, errors);
  const auto same = ErrorSizes::read(nlohmann::json::parse(sizes.written().dump()));
  EXPECT_EQ(sizes.at({&rows[7], 1}), same.at({&rows[7], 1}));
}

}  // namespace
}  // namespace tandem::advise
