// Symmetric positive definite systems, by Cholesky's factor: m = L·Lᵀ. Row-major; only the lower half is
// read.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tandem::stats {

class Cholesky {
 public:
  // `ok` says whether the matrix was positive definite; nothing else may be asked if not.
  Cholesky(std::vector<double> matrix, std::size_t n);
  bool ok() const { return ok_; }

  std::vector<double> solve(std::vector<double> right) const;  // m⁻¹·right
  std::vector<double> half(std::vector<double> right) const;  // L⁻¹·right: its square is right·m⁻¹·right
  double log_determinant() const;
  std::vector<double> inverse_diagonal() const;  // of m⁻¹

 private:
  std::vector<double> factor_;  // L
  std::size_t n_;
  bool ok_ = true;
};

}  // namespace tandem::stats
