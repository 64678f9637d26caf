#include "stats/regression/linear_regression.h"

#include <cassert>
#include <cmath>

#include "base/error.h"

namespace tandem::stats {
namespace {

constexpr double kLinearRidge = 1e-9;  // of standardised columns: nothing, unless two of them say the same

// Solves m·x = v for a symmetric positive definite m (n × n), by Cholesky; v becomes x.
void solve_normal(std::vector<double>& m, std::vector<double>& v) {
  const std::size_t n = v.size();
  for (std::size_t c = 0; c < n; ++c)
    for (std::size_t r = c; r < n; ++r) {
      double sum = m[r * n + c];
      for (std::size_t k = 0; k < c; ++k) sum -= m[r * n + k] * m[c * n + k];
      m[r * n + c] = r == c ? std::sqrt(sum) : sum / m[c * n + c];
    }
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t k = 0; k < r; ++k) v[r] -= m[r * n + k] * v[k];
    v[r] /= m[r * n + r];
  }
  for (std::size_t r = n; r-- > 0;) {
    for (std::size_t k = r + 1; k < n; ++k) v[r] -= m[k * n + r] * v[k];
    v[r] /= m[r * n + r];
  }
}

class Linear final : public Regression {
 public:
  explicit Linear(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  void fit(std::span<const double> rows, std::span<const double> targets) override {
    check_training(rows, targets, columns_);
    const std::size_t n = targets.size(), columns = rows.size() / n;
    const auto share = 1 / static_cast<double>(n);
    std::vector<double> mean(columns + 1, 0.0), scale(columns, 0.0);
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < columns; ++c) mean[c] += rows[r * columns + c] * share;
      mean[columns] += targets[r] * share;
    }
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < columns; ++c) {
        const double off = rows[r * columns + c] - mean[c];
        scale[c] += off * off * share;
      }
    for (std::size_t c = 0; c < columns; ++c) {
      const double deviation = std::sqrt(scale[c]);
      scale[c] = deviation > 1e-12 * (1 + std::abs(mean[c])) ? 1 / deviation : 0;  // 0: never changes
    }
    std::vector<double> products(columns * columns, 0.0), slopes(columns, 0.0), row(columns);
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < columns; ++c) row[c] = (rows[r * columns + c] - mean[c]) * scale[c];
      for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t k = 0; k <= c; ++k) products[c * columns + k] += row[c] * row[k] * share;
        slopes[c] += row[c] * (targets[r] - mean[columns]) * share;
      }
    }
    for (std::size_t c = 0; c < columns; ++c) products[c * columns + c] += scale[c] > 0 ? kLinearRidge : 1;
    solve_normal(products, slopes);
    constant_ = mean[columns];
    for (std::size_t c = 0; c < columns; ++c) constant_ -= mean[c] * (slopes[c] *= scale[c]);
    slopes_ = std::move(slopes);
  }

  double predict(std::span<const double> row) const override {
    assert(row.size() == slopes_.size());
    double out = constant_;
    for (std::size_t i = 0; i < row.size(); ++i) out += slopes_[i] * row[i];
    return out;
  }

  nlohmann::json written() const override {
    return {{"regression", "linear"}, {"columns", columns_}, {"constant", constant_}, {"slopes", slopes_}};
  }

  void read(const nlohmann::json& from) override {
    from.at("constant").get_to(constant_);
    from.at("slopes").get_to(slopes_);
    if (slopes_.size() != columns_.size())
      throw UserError("a stored linear regression has not one slope a column: train it anew");
  }

 private:
  std::vector<std::string> columns_;
  std::vector<double> slopes_;
  double constant_ = 0;
};

}  // namespace

std::unique_ptr<Regression> make_linear(const std::vector<std::string>& columns) {
  return std::make_unique<Linear>(columns);
}

}  // namespace tandem::stats
