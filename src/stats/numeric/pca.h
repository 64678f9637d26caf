// Points of many coordinates seen from where they differ most: principal components.
//
// For plots: the first components of centred points, and the share of the variance each holds. Exact (the
// covariance's eigenvectors by Jacobi's rotations), deterministic; a component points to where its largest
// coordinate grows, so that the same data always gives the same picture. Coordinates are finite and every
// point has the same number of them. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tandem::stats {

struct Components {
  std::vector<std::vector<double>> directions;  // unit vectors, most variance first
  std::vector<double> shares;                   // of the variance, one a direction
  std::vector<std::vector<double>> points;      // each point along the directions
};

// At most `count` components, fewer where points or coordinates are fewer. Without variance the shares are 0.
Components principal_components(std::span<const std::vector<double>>, std::size_t count);

}  // namespace tandem::stats
