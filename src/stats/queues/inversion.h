// From a transform back to probabilities: P(T > t) out of E[exp(-s T)].
//
// Abate and Whitt's Euler method: the inversion integral as a Fourier series at points right of the imaginary
// axis, its alternating tail summed by Euler's averages. About eight digits where the distribution is smooth
// at t, fewer next to a jump of it. Pure.
#pragma once

#include <complex>
#include <functional>

namespace tandem::stats {

using Transform = std::function<std::complex<double>(std::complex<double>)>;

double tail_probability(const Transform&, double time);  // P(T > time), time > 0
// The time that T exceeds with probability 1 - p. `scale`: the order of magnitude of T, its mean for example.
double quantile_of(const Transform&, double p, double scale);
// E[T] by a small step along the imaginary axis, to about six digits; `scale` as above.
double mean_of(const Transform&, double scale);

}  // namespace tandem::stats
