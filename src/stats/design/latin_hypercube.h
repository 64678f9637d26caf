// Points spread evenly over the unit cube: each of n slices of each axis has one point, and the two closest
// points are as far apart as a seeded search of bounded effort gets them (maximin; of thousands of points it
// does not get far). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem::stats {

// `steps`: of each axis, how many values will be told apart there (0: all); distances are taken between
// those. Every coordinate lies in (0, 1), in the middle of its slice.
std::vector<std::vector<double>> latin_hypercube(std::size_t points, std::span<const std::size_t> steps,
                                                 std::uint64_t seed);

// The middle of the step that a coordinate falls into.
double snapped(double coordinate, std::size_t steps);
// Squared, between two points whose coordinates are snapped.
double distance(const std::vector<double>& a, const std::vector<double>& b,
                std::span<const std::size_t> steps);

}  // namespace tandem::stats
