#include "data/digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace tandem::data {
namespace {

using Image = std::array<float, kDigitSide * kDigitSide>;

TEST(Digits, SampleDependsOnSeedAndIndexAlone) {
  Image first, again, other_seed;
  const int label = draw_digit(1, 7, first);
  draw_digit(1, 8, again);
  EXPECT_NE(first, again);
  EXPECT_EQ(draw_digit(1, 7, again), label);
  EXPECT_EQ(first, again);
  draw_digit(2, 7, other_seed);
  EXPECT_NE(first, other_seed);
}

TEST(Digits, SetIsBalancedAndInRange) {
  const Dataset dataset = make_digits({.seed = 1, .train = 2000, .test = 300});
  EXPECT_EQ(dataset.shape, (std::vector<std::int64_t>{1, 28, 28}));
  EXPECT_EQ(dataset.train.count, 2000);
  EXPECT_EQ(dataset.test.labels.size(), 300u);
  std::array<int, 10> counts{};
  for (auto label : dataset.train.labels) ++counts.at(static_cast<std::size_t>(label));
  for (int count : counts) EXPECT_GT(count, 140);
  double ink = 0;
  for (float pixel : dataset.train.values) {
    ASSERT_TRUE(pixel >= 0 && pixel <= 1);
    ink += pixel;
  }
  EXPECT_GT(ink / static_cast<double>(dataset.train.values.size()), 0.03);
}

TEST(Digits, TrainingPartNeverHoldsTestImages) {
  const Dataset dataset = make_digits({.seed = 1, .train = 500, .test = 50});
  for (std::size_t t = 0; t < 50; ++t) {
    for (std::size_t i = 0; i < 500; ++i) {
      const auto test = dataset.test.values.begin() + static_cast<std::ptrdiff_t>(t * 784);
      EXPECT_FALSE(
          std::equal(test, test + 784, dataset.train.values.begin() + static_cast<std::ptrdiff_t>(i * 784)));
    }
  }
}

// A change here changes every result obtained with `digits`.
TEST(Digits, FirstLabelsStayTheSame) {
  const Dataset dataset = make_digits({.seed = 1, .train = 12, .test = 4});
  EXPECT_EQ(dataset.train.labels, (std::vector<std::int64_t>{5, 2, 4, 1, 6, 8, 5, 0, 6, 3, 9, 8}));
  EXPECT_EQ(dataset.test.labels, (std::vector<std::int64_t>{7, 5, 2, 4}));
}

}  // namespace
}  // namespace tandem::data
