// Groups points by nearness: k-means, started by k-means++ (Arthur and Vassilvitskii) and run until stable
// (Lloyd).
//
// Several starts; the one with the least sum of squares wins, the earlier one among equals. Pure and
// deterministic: the same points, options and seed give the same clusters. A cluster is never empty: where k
// is above the number of different points there are as many clusters as those. Coordinates are finite and
// every point has the same number of them; anything else is a bug of the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tandem::stats {

using Point = std::vector<double>;

struct KMeansOptions {
  std::size_t k = 2;
  std::uint64_t seed = 1;
  int starts = 8;
  int most_rounds = 100;  // of one start; Lloyd always ends, but may take long
};

struct Clusters {
  std::vector<Point> centres;
  std::vector<std::size_t> assignment;  // of each point: its centre; ties go to the lower one
  std::vector<double> mean_squared;     // of each cluster: mean squared distance of its points to the centre

  double sum_of_squares() const;  // the inertia: grows with the number of points, so never a limit for one
};

Clusters kmeans(std::span<const Point>, const KMeansOptions&);

double squared_distance(const Point&, const Point&);
// The index of the nearest centre, the lower one among equals. There is at least one.
std::size_t nearest_centre(const Point&, std::span<const Point> centres);

}  // namespace tandem::stats
