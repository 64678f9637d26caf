// The loops of relu_pool over one plane of pixels, apart from libtorch so that they can be compiled for
// speed.
#pragma once

#include <cstdint>

namespace tandem::trainer {

struct Plane {
  std::int64_t height, width;
  std::int64_t size() const { return height * width; }
};

// The largest of each 2x2 window, or 0 when none is above it. A window of NaN gives NaN.
void pool_plane(const float* in, float* out, Plane);

// Each window's gradient to the pixel `out` came from (where several tie, the first of them), zero to the
// others and where `out` is 0. A last odd row or column belongs to no window and is left alone.
void unpool_plane(const float* in, const float* out, const float* gradient, float* in_gradient, Plane);

}  // namespace tandem::trainer
