#include "trainer/planes.h"

namespace tandem::trainer {
namespace {

constexpr std::uint8_t kNone = 4;  // the window's largest is not above zero: no gradient passes

}  // namespace

void pool_plane(const float* __restrict in, float* __restrict out, std::uint8_t* __restrict from,
                Plane plane) {
  const std::int64_t rows = plane.height / 2, columns = plane.width / 2;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* __restrict upper = in + 2 * row * plane.width;
    const float* __restrict lower = upper + plane.width;
    for (std::int64_t column = 0; column < columns; ++column) {
      const float a = upper[2 * column], b = upper[2 * column + 1], c = lower[2 * column],
                  d = lower[2 * column + 1];
      const float ab = b > a ? b : a, cd = d > c ? d : c;
      const std::uint8_t first = b > a ? 1 : 0, second = d > c ? 3 : 2;
      const float largest = cd > ab ? cd : ab;
      const std::uint8_t which = cd > ab ? second : first;
      out[column] = largest > 0 ? largest : (largest != largest ? largest : 0.0F);  // NaN must not hide
      from[column] = largest > 0 ? which : kNone;
    }
    out += columns;
    from += columns;
  }
}

void unpool_plane(const float* __restrict gradient, const std::uint8_t* __restrict from,
                  float* __restrict out, Plane plane) {
  const std::int64_t rows = plane.height / 2, columns = plane.width / 2;
  for (std::int64_t row = 0; row < rows; ++row) {
    float* __restrict upper = out + 2 * row * plane.width;
    float* __restrict lower = upper + plane.width;
    for (std::int64_t column = 0; column < columns; ++column) {
      const float value = gradient[column];
      const std::uint8_t which = from[column];
      upper[2 * column] = which == 0 ? value : 0.0F;
      upper[2 * column + 1] = which == 1 ? value : 0.0F;
      lower[2 * column] = which == 2 ? value : 0.0F;
      lower[2 * column + 1] = which == 3 ? value : 0.0F;
    }
    gradient += columns;
    from += columns;
  }
}

}  // namespace tandem::trainer
