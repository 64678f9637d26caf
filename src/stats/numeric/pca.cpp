#include "stats/numeric/pca.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace tandem::stats {
namespace {

using PcaMatrix = std::vector<std::vector<double>>;

std::vector<double> mean_point(std::span<const std::vector<double>> points) {
  std::vector<double> mean(points[0].size(), 0.0);
  for (const auto& point : points) {
    assert(point.size() == mean.size());
    for (std::size_t d = 0; d < mean.size(); ++d) mean[d] += point[d] / static_cast<double>(points.size());
  }
  return mean;
}

PcaMatrix covariance_of(std::span<const std::vector<double>> points, const std::vector<double>& mean) {
  const std::size_t n = mean.size();
  PcaMatrix out(n, std::vector<double>(n, 0.0));
  for (const auto& point : points)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        out[i][j] += (point[i] - mean[i]) * (point[j] - mean[j]) / static_cast<double>(points.size());
  return out;
}

// Turns the plane of axes p and q so that their covariance vanishes.
void rotate(PcaMatrix& a, PcaMatrix& vectors, std::size_t p, std::size_t q) {
  if (a[p][q] == 0) return;
  const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = (theta >= 0 ? 1 : -1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double kp = a[k][p], kq = a[k][q];
    a[k][p] = c * kp - s * kq, a[k][q] = s * kp + c * kq;
  }
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double pk = a[p][k], qk = a[q][k];
    a[p][k] = c * pk - s * qk, a[q][k] = s * pk + c * qk;
    const double vp = vectors[k][p], vq = vectors[k][q];
    vectors[k][p] = c * vp - s * vq, vectors[k][q] = s * vp + c * vq;
  }
}

// Leaves the eigenvalues on the diagonal and the eigenvectors in the columns of `vectors`.
void diagonalise(PcaMatrix& a, PcaMatrix& vectors) {
  double whole = 0;
  for (const auto& row : a)
    for (const double value : row) whole += value * value;
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0;
    for (std::size_t p = 0; p < a.size(); ++p)
      for (std::size_t q = p + 1; q < a.size(); ++q) off += a[p][q] * a[p][q];
    if (off <= 1e-24 * whole) return;
    for (std::size_t p = 0; p < a.size(); ++p)
      for (std::size_t q = p + 1; q < a.size(); ++q) rotate(a, vectors, p, q);
  }
}

std::vector<double> column_of(const PcaMatrix& vectors, std::size_t index) {
  std::vector<double> out;
  for (const auto& row : vectors) out.push_back(row[index]);
  const auto largest = std::max_element(
      out.begin(), out.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b) - 1e-12; });
  if (*largest < 0)
    for (double& value : out) value = -value;
  return out;
}

}  // namespace

Components principal_components(std::span<const std::vector<double>> points, std::size_t count) {
  Components out;
  out.points.resize(points.size());
  if (points.empty() || points[0].empty()) return out;
  const std::size_t n = points[0].size();
  const auto mean = mean_point(points);
  PcaMatrix a = covariance_of(points, mean), vectors(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) vectors[i][i] = 1;
  diagonalise(a, vectors);

  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a[i][i] > a[j][j]; });
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += a[i][i];
  for (std::size_t i = 0; i < std::min({count, n, points.size()}); ++i) {
    out.directions.push_back(column_of(vectors, order[i]));
    out.shares.push_back(total > 0 ? std::max(0.0, a[order[i]][order[i]]) / total : 0);
  }
  for (std::size_t p = 0; p < points.size(); ++p)
    for (const auto& direction : out.directions) {
      double along = 0;
      for (std::size_t d = 0; d < n; ++d) along += (points[p][d] - mean[d]) * direction[d];
      out.points[p].push_back(along);
    }
  return out;
}

}  // namespace tandem::stats
