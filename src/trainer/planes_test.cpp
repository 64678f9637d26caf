#include "trainer/planes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace tandem::trainer {
namespace {

TEST(Planes, PoolTakesTheLargestOfEachWindowAndUnpoolGivesItsGradientBack) {
  for (const Plane plane : {Plane{2, 2}, Plane{28, 28}, Plane{10, 6}, Plane{7, 9}}) {
    Random random(1);
    std::vector<float> in(plane.size()), out(plane.height / 2 * (plane.width / 2)), gradient(out.size());
    for (float& value : in) value = static_cast<float>(random.uniform(-2, 1));
    for (float& value : gradient) value = static_cast<float>(random.uniform(1, 2));
    std::vector<std::uint8_t> from(out.size());
    std::vector<float> back(in.size(), 0.0F);
    pool_plane(in.data(), out.data(), from.data(), plane);
    unpool_plane(gradient.data(), from.data(), back.data(), plane);
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

}  // namespace
}  // namespace tandem::trainer
