#include "stats/numeric/least_squares.h"

#include <algorithm>
#include <cmath>

namespace tandem::stats {
namespace {

// What is left of a column once the others are taken out, as a share of it, at or below which it says nothing
// of its own.
constexpr double kNothingLeft = 1e-10;
constexpr double kNoPart = 1e-8;  // of a dependent column: shares that are rounding

using Vector = std::vector<double>;

double span_product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Takes the directions out of `rest`; returns how much of each there was.
Vector take_out(const std::vector<Vector>& directions, Vector& rest) {
  Vector parts(directions.size(), 0.0);
  for (int pass = 0; pass < 2; ++pass)  // the second one removes what rounding left
    for (std::size_t d = 0; d < directions.size(); ++d) {
      const double part = span_product(directions[d], rest);
      parts[d] += part;
      for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= part * directions[d][i];
    }
  return parts;
}

// The upper triangle R with X = QR, column after column.
class Triangle {
 public:
  void add(Vector column) { columns_.push_back(std::move(column)); }
  // x of R x = right side.
  Vector solve(Vector x) const {
    for (std::size_t c = columns_.size(); c-- > 0;) {
      x[c] /= columns_[c][c];
      for (std::size_t r = 0; r < c; ++r) x[r] -= columns_[c][r] * x[c];
    }
    return x;
  }
  std::size_t size() const { return columns_.size(); }

 private:
  std::vector<Vector> columns_;
};

// Without squaring what is too large or too small for it.
double norm(std::span<const double> values) {
  double largest = 0, sum = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  if (largest == 0) return 0;
  for (const double value : values) sum += (value / largest) * (value / largest);
  return largest * std::sqrt(sum);
}

// X = QR as far as the columns were taken in.
class Orthogonal {
 public:
  explicit Orthogonal(const std::vector<const Vector*>& columns) : columns_(columns) {}

  // Sets the column aside, and says on what it depends, where it says nothing of its own.
  void take_in(std::size_t c, std::vector<Dependent>& dependent) {
    Vector rest = *columns_[c];
    const double whole = norm(rest);
    Vector parts = take_out(directions_, rest);
    const double left = norm(rest);
    if (left <= kNothingLeft * whole) {  // also 0 <= 0
      dependent.push_back({c, whole > 0 ? parts_of(triangle_.solve(std::move(parts)), whole) : Parts()});
      return;
    }
    for (auto& value : rest) value /= left;
    parts.push_back(left);
    triangle_.add(std::move(parts));
    directions_.push_back(std::move(rest));
    kept_.push_back(c);
  }

  void fit(std::span<const double> response, LeastSquares& out) const {
    Vector rest(response.begin(), response.end());
    const Vector effects = take_out(directions_, rest), coefficients = triangle_.solve(effects);
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      out.effects[kept_[k]] = effects[k], out.coefficients[kept_[k]] = coefficients[k];
      Vector unit(kept_.size(), 0.0);
      unit[k] = 1;
      const Vector inverse = triangle_.solve(std::move(unit));  // a column of R^-1
      for (std::size_t r = 0; r <= k; ++r)
        out.spread[kept_[r]] = std::hypot(out.spread[kept_[r]], inverse[r]);
    }
    out.rank = kept_.size(), out.residual_ss = span_product(rest, rest);
  }

 private:
  using Parts = std::vector<std::pair<std::size_t, double>>;
  Parts parts_of(const Vector& on, double whole) const {
    Parts out;
    for (std::size_t k = 0; k < kept_.size(); ++k)
      if (std::abs(on[k]) * norm(*columns_[kept_[k]]) > kNoPart * whole) out.emplace_back(kept_[k], on[k]);
    return out;
  }

  const std::vector<const Vector*>& columns_;
  std::vector<Vector> directions_;
  std::vector<std::size_t> kept_;
  Triangle triangle_;
};

}  // namespace

LeastSquares least_squares(const std::vector<const Vector*>& columns, std::span<const double> response) {
  LeastSquares out;
  out.coefficients.assign(columns.size(), 0.0), out.effects = out.spread = out.coefficients;
  Orthogonal orthogonal(columns);
  for (std::size_t c = 0; c < columns.size(); ++c) orthogonal.take_in(c, out.dependent);
  orthogonal.fit(response, out);
  return out;
}

}  // namespace tandem::stats
