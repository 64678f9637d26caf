#include "stats/numeric/kmeans.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <optional>

#include "base/random.h"

namespace tandem::stats {
namespace {

// How far each point is from the nearest of the centres so far.
void shrink(std::vector<double>& distances, std::span<const Point> points, const Point& centre) {
  for (std::size_t i = 0; i < points.size(); ++i)
    distances[i] = std::min(distances[i], squared_distance(points[i], centre));
}

// The first at random, each next one with a chance in proportion to its squared distance from those before.
std::vector<Point> scattered_centres(std::span<const Point> points, std::size_t k, Random& random) {
  std::vector<Point> centres{points[random.below(points.size())]};
  std::vector<double> distances(points.size(), std::numeric_limits<double>::infinity());
  while (centres.size() < k) {
    shrink(distances, points, centres.back());
    const double all = std::accumulate(distances.begin(), distances.end(), 0.0);
    if (!(all > 0)) break;  // every point lies on a centre
    double left = random.uniform(0, all);
    std::size_t chosen = points.size();
    for (std::size_t i = 0; i < points.size() && left >= 0; ++i) {
      if (distances[i] <= 0) continue;
      chosen = i;
      left -= distances[i];
    }
    centres.push_back(points[chosen]);
  }
  return centres;
}

std::vector<std::size_t> nearest_centres(std::span<const Point> points, std::span<const Point> centres) {
  std::vector<std::size_t> assignment;
  for (const Point& point : points) assignment.push_back(nearest_centre(point, centres));
  return assignment;
}

std::vector<std::size_t> sizes_of(const std::vector<std::size_t>& assignment, std::size_t clusters) {
  std::vector<std::size_t> sizes(clusters, 0);
  for (const std::size_t cluster : assignment) ++sizes[cluster];
  return sizes;
}

// A centre that lost all its points moves to the point that is farthest from its own.
void fill_empty(std::span<const Point> points, std::vector<Point>& centres,
                std::vector<std::size_t>& assignment) {
  for (std::size_t cluster = 0; cluster < centres.size(); ++cluster) {
    const auto sizes = sizes_of(assignment, centres.size());
    if (sizes[cluster] > 0) continue;
    std::size_t farthest = points.size();
    double most = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double away = squared_distance(points[i], centres[assignment[i]]);
      if (sizes[assignment[i]] > 1 && away > most) farthest = i, most = away;
    }
    if (farthest == points.size()) continue;
    centres[cluster] = points[farthest];
    assignment[farthest] = cluster;
  }
}

void move_to_means(std::span<const Point> points, const std::vector<std::size_t>& assignment,
                   std::vector<Point>& centres) {
  const auto sizes = sizes_of(assignment, centres.size());
  std::vector<Point> sums(centres.size(), Point(points[0].size(), 0.0));
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t d = 0; d < points[i].size(); ++d) sums[assignment[i]][d] += points[i][d];
  for (std::size_t cluster = 0; cluster < centres.size(); ++cluster) {
    if (sizes[cluster] == 0) continue;
    for (double& sum : sums[cluster]) sum /= static_cast<double>(sizes[cluster]);
    centres[cluster] = std::move(sums[cluster]);
  }
}

// Leaves out clusters that ended without points.
Clusters finished(std::span<const Point> points, const std::vector<Point>& centres,
                  const std::vector<std::size_t>& assignment) {
  const auto sizes = sizes_of(assignment, centres.size());
  Clusters out;
  std::vector<std::size_t> number(centres.size(), 0);
  for (std::size_t cluster = 0; cluster < centres.size(); ++cluster) {
    if (sizes[cluster] == 0) continue;
    number[cluster] = out.centres.size();
    out.centres.push_back(centres[cluster]);
  }
  out.mean_squared.assign(out.centres.size(), 0.0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t cluster = number[assignment[i]];
    out.assignment.push_back(cluster);
    out.mean_squared[cluster] +=
        squared_distance(points[i], out.centres[cluster]) / static_cast<double>(sizes[assignment[i]]);
  }
  return out;
}

Clusters one_start(std::span<const Point> points, const KMeansOptions& options, std::uint64_t start) {
  Random random(options.seed, start);
  std::vector<Point> centres = scattered_centres(points, std::min(options.k, points.size()), random);
  std::vector<std::size_t> assignment;
  for (int round = 0; round < options.most_rounds; ++round) {
    auto now = nearest_centres(points, centres);
    fill_empty(points, centres, now);
    if (now == assignment) break;
    assignment = std::move(now);
    move_to_means(points, assignment, centres);
  }
  return finished(points, centres, assignment);
}

}  // namespace

double squared_distance(const Point& a, const Point& b) {
  assert(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

std::size_t nearest_centre(const Point& point, std::span<const Point> centres) {
  assert(!centres.empty());
  std::size_t best = 0;
  double least = squared_distance(point, centres[0]);
  for (std::size_t i = 1; i < centres.size(); ++i)
    if (const double away = squared_distance(point, centres[i]); away < least) best = i, least = away;
  return best;
}

double Clusters::sum_of_squares() const {
  const auto sizes = sizes_of(assignment, centres.size());
  double sum = 0;
  for (std::size_t i = 0; i < centres.size(); ++i) sum += mean_squared[i] * static_cast<double>(sizes[i]);
  return sum;
}

Clusters kmeans(std::span<const Point> points, const KMeansOptions& options) {
  assert(options.k > 0 && options.starts > 0 && options.most_rounds > 0);
  if (points.empty()) return {};
  std::optional<Clusters> best;
  for (int start = 0; start < options.starts; ++start) {
    Clusters found = one_start(points, options, static_cast<std::uint64_t>(start));
    if (!best || found.sum_of_squares() < best->sum_of_squares()) best = std::move(found);
  }
  return *best;
}

}  // namespace tandem::stats
