#include "stats/least_squares.h"

#include <cmath>

namespace tandem::stats {
namespace {

// What is left of a column once the others are taken out, as a share of it, at or below which it says nothing
// of its own.
constexpr double kNothingLeft = 1e-10;
constexpr double kNoPart = 1e-8;  // of a dependent column: shares that are rounding

using Vector = std::vector<double>;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Takes the directions out of `rest`; returns how much of each there was.
Vector take_out(const std::vector<Vector>& directions, Vector& rest) {
  Vector parts(directions.size(), 0.0);
  for (int pass = 0; pass < 2; ++pass)  // the second one removes what rounding left
    for (std::size_t d = 0; d < directions.size(); ++d) {
      const double part = dot(directions[d], rest);
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

}  // namespace

LeastSquares least_squares(const std::vector<const Vector*>& columns, std::span<const double> response) {
  LeastSquares out;
  out.coefficients.assign(columns.size(), 0.0), out.effects = out.inverse_diagonal = out.coefficients;
  std::vector<Vector> directions;
  std::vector<std::size_t> kept;
  Triangle triangle;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    Vector rest = *columns[c];
    const double whole = std::sqrt(dot(rest, rest));
    Vector parts = take_out(directions, rest);
    const double left = std::sqrt(dot(rest, rest));
    if (left <= kNothingLeft * whole) {  // also 0 <= 0
      Dependent dependent{c};
      const Vector on = whole > 0 ? triangle.solve(std::move(parts)) : Vector(kept.size(), 0.0);
      for (std::size_t k = 0; k < kept.size(); ++k) {
        const Vector& other = *columns[kept[k]];
        if (std::abs(on[k]) * std::sqrt(dot(other, other)) > kNoPart * whole)
          dependent.on.emplace_back(kept[k], on[k]);
      }
      out.dependent.push_back(std::move(dependent));
      continue;
    }
    for (auto& value : rest) value /= left;
    parts.push_back(left);
    triangle.add(std::move(parts));
    directions.push_back(std::move(rest));
    kept.push_back(c);
  }
  Vector rest(response.begin(), response.end());
  const Vector effects = take_out(directions, rest);
  const Vector coefficients = triangle.solve(effects);
  for (std::size_t k = 0; k < kept.size(); ++k)
    out.effects[kept[k]] = effects[k], out.coefficients[kept[k]] = coefficients[k];
  for (std::size_t k = 0; k < kept.size(); ++k) {  // a row of R^-1 is spread over its columns
    Vector unit(kept.size(), 0.0);
    unit[k] = 1;
    const Vector inverse = triangle.solve(std::move(unit));
    for (std::size_t r = 0; r <= k; ++r) out.inverse_diagonal[kept[r]] += inverse[r] * inverse[r];
  }
  out.rank = kept.size(), out.residual_ss = dot(rest, rest);
  return out;
}

}  // namespace tandem::stats
