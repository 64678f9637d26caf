// The loops of relu_pool over one plane of pixels, apart from libtorch so that they can be compiled for
// speed.
#pragma once

#include <cstdint>

namespace tandem::trainer {

struct Plane {
  std::int64_t height, width;
  std::int64_t size() const { return height * width; }
};

// The largest of each 2x2 window, or 0 when none is above it, and which of the four it was. A window of NaN
// gives NaN.
void pool_plane(const float* in, float* out, std::uint8_t* from, Plane);

// Each window's gradient to the pixel it came from; the other pixels of the windows get zero.
void unpool_plane(const float* gradient, const std::uint8_t* from, float* out, Plane);

}  // namespace tandem::trainer
