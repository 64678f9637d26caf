#include "trainer/planes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace tandem::trainer {
namespace {

TEST(Planes, PoolTakesTheLargestOfEachWindowAndUnpoolGivesItsGradientBack) {
  for (const Plane plane : {Plane{2, 2}, Plane{28, 28}, Plane{10, 6}, Plane{7, 11}}) {
    Random random(1);
    std::vector<float> in(plane.size()), out(plane.height / 2 * (plane.width / 2)), gradient(out.size());
    for (float& value : in) value = static_cast<float>(random.below(5)) - 3;  // ties abound
    for (float& value : gradient) value = static_cast<float>(random.uniform(1, 2));
    std::vector<float> back(in.size(), 0.0F);
    pool_plane(in.data(), out.data(), plane);
    unpool_plane(in.data(), out.data(), gradient.data(), back.data(), plane);
    std::vector<float> expected_back(in.size(), 0.0F);
    for (std::int64_t row = 0; row < plane.height / 2; ++row)
      for (std::int64_t column = 0; column < plane.width / 2; ++column) {
        const std::int64_t corner = 2 * row * plane.width + 2 * column;
        const std::int64_t window[] = {corner, corner + 1, corner + plane.width, corner + plane.width + 1};
        const std::int64_t best =
            *std::max_element(window, window + 4, [&](auto a, auto b) { return in[a] < in[b]; });
        const std::int64_t pooled = row * (plane.width / 2) + column;
        EXPECT_EQ(out[pooled], std::max(in[best], 0.0F));
        if (in[best] > 0) expected_back[best] = gradient[pooled];
      }
    EXPECT_EQ(back, expected_back);
  }
}

TEST(Planes, NaNIsNotHidden) {
  const std::vector<float> in(16 * 16, std::nanf(""));
  std::vector<float> out(8 * 8);
  pool_plane(in.data(), out.data(), {16, 16});
  for (const float value : out) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace tandem::trainer
