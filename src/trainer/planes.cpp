#include "trainer/planes.h"

#include <algorithm>
#include <cstring>

namespace tandem::trainer {
namespace {

// Four windows at a time; every processor we build for has vectors of this width.
constexpr std::int64_t kWidth = 4;
using Floats = float __attribute__((vector_size(16)));
using Mask = std::int32_t __attribute__((vector_size(16)));

Floats load(const float* from) {
  Floats value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void store(float* to, Floats value) {
  std::memcpy(to, &value, sizeof value);
}

struct Pair {
  Floats even, odd;
};

Pair load_pairs(const float* from) {
  const Floats low = load(from), high = load(from + kWidth);
  return {__builtin_shufflevector(low, high, 0, 2, 4, 6), __builtin_shufflevector(low, high, 1, 3, 5, 7)};
}

void store_pairs(float* to, Floats even, Floats odd) {
  store(to, __builtin_shufflevector(even, odd, 0, 4, 1, 5));
  store(to + kWidth, __builtin_shufflevector(even, odd, 2, 6, 3, 7));
}

Floats larger(Floats a, Floats b) {
  return b > a ? b : a;
}

Floats where(Mask mask, Floats value) {
  return reinterpret_cast<Floats>(mask & reinterpret_cast<Mask>(value));
}

void pool_four(const float* upper, const float* lower, float* out) {
  const Pair top = load_pairs(upper), bottom = load_pairs(lower);
  const Floats largest = larger(larger(top.even, top.odd), larger(bottom.even, bottom.odd));
  store(out, largest < 0.0F ? Floats{} : largest);  // this way round NaN stays NaN
}

void unpool_four(const float* upper, const float* lower, const float* out, const float* gradient,
                 float* upper_to, float* lower_to) {
  const Pair top = load_pairs(upper), bottom = load_pairs(lower);
  const Floats largest = load(out), value = where(largest > 0.0F, load(gradient));
  const Mask a = top.even == largest, b = ~a & (top.odd == largest);
  const Mask c = ~(a | b) & (bottom.even == largest), d = ~(a | b | c) & (bottom.odd == largest);
  store_pairs(upper_to, where(a, value), where(b, value));
  store_pairs(lower_to, where(c, value), where(d, value));
}

void pool_one(const float* upper, const float* lower, float* out) {
  const float largest = std::max(std::max(upper[0], upper[1]), std::max(lower[0], lower[1]));
  *out = largest < 0.0F ? 0.0F : largest;
}

void unpool_one(const float* upper, const float* lower, float largest, float gradient, float* upper_to,
                float* lower_to) {
  const float window[] = {upper[0], upper[1], lower[0], lower[1]};
  float* const to[] = {upper_to, upper_to + 1, lower_to, lower_to + 1};
  bool given = !(largest > 0.0F);
  for (int i = 0; i < 4; ++i) {
    const bool here = !given && window[i] == largest;
    *to[i] = here ? gradient : 0.0F;
    given = given || here;
  }
}

}  // namespace

void pool_plane(const float* in, float* out, Plane plane) {
  const std::int64_t columns = plane.width / 2;
  for (std::int64_t row = 0; row < plane.height / 2; ++row, out += columns) {
    const float* upper = in + 2 * row * plane.width;
    const float* lower = upper + plane.width;
    std::int64_t column = 0;
    for (; column + kWidth <= columns; column += kWidth)
      pool_four(upper + 2 * column, lower + 2 * column, out + column);
    for (; column < columns; ++column) pool_one(upper + 2 * column, lower + 2 * column, out + column);
  }
}

void unpool_plane(const float* in, const float* out, const float* gradient, float* in_gradient, Plane plane) {
  const std::int64_t columns = plane.width / 2;
  for (std::int64_t row = 0; row < plane.height / 2; ++row, out += columns, gradient += columns) {
    const std::int64_t above = 2 * row * plane.width, below = above + plane.width;
    std::int64_t column = 0;
    for (; column + kWidth <= columns; column += kWidth) {
      const std::int64_t at = 2 * column;
      unpool_four(in + above + at, in + below + at, out + column, gradient + column, in_gradient + above + at,
                  in_gradient + below + at);
    }
    for (; column < columns; ++column) {
      const std::int64_t at = 2 * column;
      unpool_one(in + above + at, in + below + at, out[column], gradient[column], in_gradient + above + at,
                 in_gradient + below + at);
    }
  }
}

}  // namespace tandem::trainer
