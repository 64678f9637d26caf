// Digits drawn by program: 28 x 28 grey images that need no download.
//
// Each digit is a few strokes (several ways to write some of them), bent, turned, sheared and squeezed, drawn
// with a pen of random width and ink, over clutter and noise. Sample i depends on (seed, i) alone, so the set
// is the same on every machine and in every order. Meant to be harder than MNIST: LeNet5 needs several epochs
// to pass 95 %. Thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "data/dataset.h"

namespace tandem::data {

struct DigitOptions {
  std::uint64_t seed = 1;
  std::int64_t train = 12000, test = 2000;
};

inline constexpr int kDigitSide = 28;

// Draws sample `index` into `pixels` (kDigitSide^2, in [0,1]) and returns its label.
int draw_digit(std::uint64_t seed, std::uint64_t index, std::span<float> pixels);

Dataset make_digits(const DigitOptions& options = {});

}  // namespace tandem::data
