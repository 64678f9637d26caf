#include "stats/regression/product_regression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "stats/design/model_matrix.h"
#include "stats/numeric/least_squares.h"
#include "stats/regression/penalised.h"

namespace tandem::stats {
namespace {

constexpr int kMostOrder = 8;
constexpr double kNoProductSpread = 1e-12;

enum class ProductKind { anova, ridge, lasso };
constexpr std::array kNames{"anova", "ridge", "lasso"};

// How many sets of at most `order` there are of so many columns; stops counting past kMostTerms.
std::size_t count_terms(std::size_t columns, std::size_t order) {
  double count = 1, all = 1;
  for (std::size_t k = 1; k <= std::min(order, columns); ++k) {
    count *= static_cast<double>(columns - k + 1) / static_cast<double>(k);
    all += count;
    if (all > static_cast<double>(kMostTerms)) return kMostTerms + 1;
  }
  return static_cast<std::size_t>(std::llround(all));
}

class Products final : public Regression {
 public:
  Products(ProductKind kind, std::vector<std::string> columns)
      : kind_(kind), columns_(std::move(columns)), order_(kind == ProductKind::anova ? columns_.size() : 2) {}

  void fit(std::span<const double> rows, std::span<const double> targets) override {
    check_training(rows, targets, columns_);
    standardise(rows, targets.size());
    std::size_t order = std::max<std::size_t>(1, std::min(order_, columns_.size()));
    const std::size_t most = std::min(kMostTerms, targets.size() / 2);
    while (order > 1 && count_terms(columns_.size(), order) > most) --order;
    fitted_order_ = order, sets_ = term_sets(columns_.size(), order);
    Columns products(sets_.size(), std::vector<double>(targets.size()));
    std::vector<double> values(sets_.size());
    for (std::size_t r = 0; r < targets.size(); ++r) {
      multiply(rows.subspan(r * columns_.size(), columns_.size()), values);
      for (std::size_t s = 0; s < sets_.size(); ++s) products[s][r] = values[s];
    }
    if (kind_ == ProductKind::anova)
      fit_plain(products, targets);
    else
      fit_small(std::move(products), targets);
  }

  double predict(std::span<const double> row) const override {
    assert(row.size() == columns_.size() && !slopes_.empty());
    std::vector<double> values(sets_.size());
    multiply(row, values);
    double out = 0;
    for (std::size_t s = 0; s < sets_.size(); ++s) out += slopes_[s] * values[s];
    return out;
  }

  nlohmann::json written() const override {
    return {{"regression", kNames[static_cast<std::size_t>(kind_)]},
            {"columns", columns_},
            {"order", fitted_order_},
            {"lambda", lambda_},
            {"means", means_},
            {"scales", scales_},
            {"slopes", slopes_}};
  }

  void read(const nlohmann::json& from) override {
    from.at("order").get_to(fitted_order_), from.at("lambda").get_to(lambda_);
    from.at("means").get_to(means_), from.at("scales").get_to(scales_), from.at("slopes").get_to(slopes_);
    sets_ = term_sets(columns_.size(), fitted_order_);
    if (means_.size() != columns_.size() || scales_.size() != columns_.size() ||
        slopes_.size() != sets_.size())
      throw UserError(fmt::format("a stored regression '{}' does not fit its columns: train it anew",
                                  kNames[static_cast<std::size_t>(kind_)]));
  }

  void set(const std::string& option, double value) override {
    if (option == "order") {
      order_ = static_cast<std::size_t>(whole_option(option, value, 1, kMostOrder));
    } else if (option == "lambda" && kind_ != ProductKind::anova) {
      if (!std::isfinite(value) || value < 0)
        throw UserError(fmt::format("lambda = {} cannot be: it is a number from 0 on", value));
      given_lambda_ = value;
    } else {
      refuse_option(option, kind_ == ProductKind::anova ? anova_options() : penalised_options());
    }
  }

 private:
  void standardise(std::span<const double> rows, std::size_t n) {
    const std::size_t p = columns_.size();
    means_.assign(p, 0.0), scales_.assign(p, 0.0);
    const double share = 1 / static_cast<double>(n);
    for (std::size_t i = 0; i < rows.size(); ++i) means_[i % p] += rows[i] * share;
    for (std::size_t i = 0; i < rows.size(); ++i)
      scales_[i % p] += (rows[i] - means_[i % p]) * (rows[i] - means_[i % p]) * share;
    for (std::size_t c = 0; c < p; ++c) {
      const double deviation = std::sqrt(scales_[c]);
      scales_[c] =
          deviation > kNoProductSpread * (1 + std::abs(means_[c])) ? 1 / deviation : 0;  // 0: never changes
    }
  }

  void multiply(std::span<const double> row, std::vector<double>& out) const {
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      out[s] = 1;
      for (const auto c : sets_[s]) out[s] *= (row[c] - means_[c]) * scales_[c];
    }
  }

  void fit_plain(const Columns& products, std::span<const double> targets) {
    std::vector<const std::vector<double>*> columns;
    for (const auto& column : products) columns.push_back(&column);
    slopes_ = least_squares(columns, targets).coefficients;
  }

  void fit_small(Columns products, std::span<const double> targets) {
    products.erase(products.begin());  // the constant is free
    const Penalty penalty = kind_ == ProductKind::ridge ? Penalty::ridge : Penalty::lasso;
    lambda_ = given_lambda_ ? *given_lambda_ : choose_lambda(products, targets, penalty);
    auto found = fit_penalised(products, targets, penalty, lambda_);
    slopes_ = std::move(found.slopes);
    slopes_.insert(slopes_.begin(), found.constant);
  }

  ProductKind kind_;
  std::vector<std::string> columns_;
  std::size_t order_, fitted_order_ = 0;
  std::optional<double> given_lambda_;
  double lambda_ = 0;
  std::vector<std::vector<std::size_t>> sets_;  // columns of each product; the first is empty
  std::vector<double> means_, scales_, slopes_;
};

}  // namespace

std::unique_ptr<Regression> make_anova(const std::vector<std::string>& columns) {
  return std::make_unique<Products>(ProductKind::anova, columns);
}
std::unique_ptr<Regression> make_ridge(const std::vector<std::string>& columns) {
  return std::make_unique<Products>(ProductKind::ridge, columns);
}
std::unique_ptr<Regression> make_lasso(const std::vector<std::string>& columns) {
  return std::make_unique<Products>(ProductKind::lasso, columns);
}

const std::vector<RegressionOption>& anova_options() {
  static const std::vector<RegressionOption> known{{"order", "of interactions; all columns if not given"}};
  return known;
}
const std::vector<RegressionOption>& penalised_options() {
  static const std::vector<RegressionOption> known{
      {"order", "of interactions; 2 if not given"},
      {"lambda", "how small slopes are kept; by cross-validation if not given"}};
  return known;
}

}  // namespace tandem::stats
