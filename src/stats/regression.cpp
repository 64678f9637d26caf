#include "stats/regression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "stats/boosting.h"

namespace tandem::stats {
namespace {

constexpr double kRidge = 1e-9;  // of standardised columns: nothing, unless two of them say the same
constexpr int kTrees = 100, kDepth = 8;

void check(std::span<const double> rows, std::span<const double> targets) {
  if (targets.empty() || rows.size() % targets.size() != 0)
    throw UserError(
        fmt::format("{} values in rows do not fit {} targets of a regression", rows.size(), targets.size()));
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(rows.begin(), rows.end(), finite) || !std::all_of(targets.begin(), targets.end(), finite))
    throw UserError("a regression was given a value that is not finite");
}

// Solves m·x = v for a symmetric positive definite m (n × n), by Cholesky; v becomes x.
void solve(std::vector<double>& m, std::vector<double>& v) {
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
  void fit(std::span<const double> rows, std::span<const double> targets) override {
    check(rows, targets);
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
    for (std::size_t c = 0; c < columns; ++c) products[c * columns + c] += scale[c] > 0 ? kRidge : 1;
    solve(products, slopes);
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

 private:
  std::vector<double> slopes_;
  double constant_ = 0;
};

class Forest final : public Regression {
 public:
  void fit(std::span<const double> rows, std::span<const double> targets) override {
    check(rows, targets);
    columns_ = static_cast<std::int64_t>(rows.size() / targets.size());
    BoostingOptions options;
    options.kind = BoostingOptions::Kind::forest;
    options.max_depth = kDepth;
    options.subsample = 0.8, options.regularisation = 0;
    const std::vector<float> x(rows.begin(), rows.end()), y(targets.begin(), targets.end());
    trees_.assign(1, Boosting(options));
    trees_[0].train({x, columns_}, y, kTrees);
  }

  double predict(std::span<const double> row) const override {
    assert(!trees_.empty());
    const std::vector<float> x(row.begin(), row.end());
    return trees_[0].predict({x, columns_}).front();
  }

 private:
  std::int64_t columns_ = 0;
  std::vector<Boosting> trees_;  // one, once it has learnt
};

}  // namespace

const std::vector<RegressionEntry>& regressions() {
  static const std::vector<RegressionEntry> table = {
      {"linear", "least squares", [] { return std::unique_ptr<Regression>(new Linear); }},
      {"forest", "a hundred trees, averaged", [] { return std::unique_ptr<Regression>(new Forest); }},
  };
  return table;
}

std::unique_ptr<Regression> make_regression(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : regressions()) {
    if (entry.name == name) return entry.make();
    names.push_back(entry.name);
  }
  throw UserError(fmt::format("there is no regression '{}'{}; there are: {}", printable(name, 60),
                              did_you_mean(name, names), join(names)));
}

}  // namespace tandem::stats
