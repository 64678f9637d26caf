#include "stats/numeric/cholesky.h"

#include <cmath>

namespace tandem::stats {
namespace {

// Four sums at once: the compiler may not reorder one sum, and would wait for each addition.
double dot_product(const double* a, const double* b, std::size_t n) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4)
    s0 += a[i] * b[i], s1 += a[i + 1] * b[i + 1], s2 += a[i + 2] * b[i + 2], s3 += a[i + 3] * b[i + 3];
  for (; i < n; ++i) s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}

}  // namespace

Cholesky::Cholesky(std::vector<double> matrix, std::size_t n) : factor_(std::move(matrix)), n_(n) {
  for (std::size_t r = 0; r < n && ok_; ++r) {
    double* row = &factor_[r * n];
    for (std::size_t c = 0; c < r; ++c)
      row[c] = (row[c] - dot_product(row, &factor_[c * n], c)) / factor_[c * n + c];
    const double rest = row[r] - dot_product(row, row, r);
    ok_ = rest > 0 && std::isfinite(rest);
    row[r] = std::sqrt(rest);
  }
}

std::vector<double> Cholesky::half(std::vector<double> right) const {
  for (std::size_t r = 0; r < n_; ++r)
    right[r] = (right[r] - dot_product(&factor_[r * n_], right.data(), r)) / factor_[r * n_ + r];
  return right;
}

std::vector<double> Cholesky::solve(std::vector<double> right) const {
  right = half(std::move(right));
  for (std::size_t r = n_; r-- > 0;) {
    right[r] /= factor_[r * n_ + r];
    for (std::size_t c = 0; c < r; ++c) right[c] -= factor_[r * n_ + c] * right[r];
  }
  return right;
}

double Cholesky::log_determinant() const {
  double sum = 0;
  for (std::size_t r = 0; r < n_; ++r) sum += 2 * std::log(factor_[r * n_ + r]);
  return sum;
}

std::vector<double> Cholesky::inverse_diagonal() const {
  std::vector<double> out(n_), column(n_);
  for (std::size_t c = 0; c < n_; ++c) {  // columns of L⁻¹: nothing above the diagonal
    column[c] = 1 / factor_[c * n_ + c];
    for (std::size_t r = c + 1; r < n_; ++r)
      column[r] = -dot_product(&factor_[r * n_ + c], &column[c], r - c) / factor_[r * n_ + r];
    out[c] = dot_product(&column[c], &column[c], n_ - c);
  }
  return out;
}

}  // namespace tandem::stats
