#include "stats/regression/boosted_regression.h"

#include <cassert>

#include "base/error.h"
#include "stats/regression/boosting.h"

namespace tandem::stats {
namespace {

// A model's bytes as text that any JSON can hold.
std::string hex_of(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    out += kDigits[static_cast<unsigned char>(byte) >> 4];
    out += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return out;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  throw UserError("a stored boosting model is damaged: train it anew");
}

std::string bytes_from_hex(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(digit_of(hex[i]) << 4 | digit_of(hex[i + 1]));
  return out;
}

class Boosted final : public Regression {
 public:
  explicit Boosted(std::vector<std::string> columns) : columns_(std::move(columns)) {
    options_.max_depth = 3, options_.regularisation = 0, options_.half_way = true;  // as scikit-learn's
  }

  void fit(std::span<const double> rows, std::span<const double> targets) override {
    check_training(rows, targets, columns_);
    const std::vector<float> x(rows.begin(), rows.end()), y(targets.begin(), targets.end());
    trees_ = Boosting(options_);
    trees_.train({x, static_cast<std::int64_t>(columns_.size())}, y, rounds_);
  }

  double predict(std::span<const double> row) const override {
    return predict_rows(row, columns_.size()).front();
  }

  std::vector<double> predict_rows(std::span<const double> rows, std::size_t columns) const override {
    assert(columns == columns_.size());
    const std::vector<float> x(rows.begin(), rows.end());
    const auto out = trees_.predict({x, static_cast<std::int64_t>(columns)});
    return {out.begin(), out.end()};
  }

  nlohmann::json written() const override {
    return {{"regression", "boosting"}, {"columns", columns_}, {"xgboost", hex_of(trees_.serialise())}};
  }

  void read(const nlohmann::json& from) override {
    try {
      trees_ = Boosting(options_, bytes_from_hex(from.at("xgboost").get<std::string>()));
    } catch (const SystemError& error) {
      throw UserError(std::string("a stored boosting model cannot be read (") + error.what() +
                      "): train it anew");
    }
  }

  void set(const std::string& option, double value) override {
    if (option == "rounds")
      rounds_ = whole_option(option, value, 1, 100000);
    else if (option == "depth")
      options_.max_depth = whole_option(option, value, 1, 30);
    else if (option == "rate" && value > 0 && value <= 1)
      options_.learning_rate = value;
    else if (option == "rate")
      throw UserError("a learning rate of boosting is above 0 and at most 1");
    else
      refuse_option(option, boosting_options());
  }

 private:
  std::vector<std::string> columns_;
  BoostingOptions options_{};
  int rounds_ = 100;
  Boosting trees_{options_};
};

}  // namespace

const std::vector<RegressionOption>& boosting_options() {
  static const std::vector<RegressionOption> options = {
      {"rounds", "trees, one after the other (100)"},
      {"depth", "of a tree, at most (3)"},
      {"rate", "how much of its correction each tree gets (0.1)"},
  };
  return options;
}

std::unique_ptr<Regression> make_boosting(const std::vector<std::string>& columns) {
  return std::make_unique<Boosted>(columns);
}

}  // namespace tandem::stats
