#include "stats/regression/forest.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "stats/regression/regression_tree.h"

namespace tandem::stats {
namespace {

constexpr std::uint64_t kSeed = 1;

// A tree that could make `predict` run in circles or out of its arrays was not written by us.
bool sound(const RegressionTree& tree, std::size_t columns) {
  const std::size_t nodes = tree.column.size();
  if (nodes == 0 || tree.value.size() != nodes || tree.left.size() != nodes) return false;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (tree.column[i] < 0) continue;
    if (static_cast<std::size_t>(tree.column[i]) >= columns) return false;
    if (tree.left[i] <= i || tree.left[i] + std::size_t{1} >= nodes) return false;
  }
  return true;
}

class Forest final : public Regression {
 public:
  explicit Forest(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  void fit(std::span<const double> rows, std::span<const double> targets) override {
    check_training(rows, targets, columns_);
    const std::size_t count = targets.size();
    mean_ = 0;
    for (const double target : targets) mean_ += target / static_cast<double>(count);
    // Around their mean, so that sums of squares keep their digits.
    std::vector<double> around(targets.begin(), targets.end());
    for (double& target : around) target -= mean_;
    const SortedColumns sorted(rows, columns_.size());
    const TreeOptions options{depth_, columns_tried(), leaf_};
    std::vector<double> weights(count);
    trees_.clear();
    for (std::uint64_t tree = 0; tree < number_; ++tree) {
      Random random(kSeed, tree);
      std::fill(weights.begin(), weights.end(), 0.0);
      for (std::size_t i = 0; i < count; ++i) weights[random.below(count)] += 1;
      trees_.push_back(grow_tree(sorted, around, weights, options, random));
    }
  }

  double predict(std::span<const double> row) const override {
    assert(!trees_.empty() && row.size() == columns_.size());
    double sum = 0;
    for (const auto& tree : trees_) sum += tree.predict(row);
    return mean_ + sum / static_cast<double>(trees_.size());
  }

  nlohmann::json written() const override {
    nlohmann::json trees = nlohmann::json::array();
    for (const auto& tree : trees_)
      trees.push_back({{"column", tree.column}, {"value", tree.value}, {"left", tree.left}});
    return {{"regression", "forest"}, {"columns", columns_}, {"mean", mean_}, {"trees", std::move(trees)}};
  }

  void read(const nlohmann::json& from) override {
    from.at("mean").get_to(mean_);
    trees_.clear();
    for (const auto& each : from.at("trees")) {
      RegressionTree tree;
      each.at("column").get_to(tree.column);
      each.at("value").get_to(tree.value);
      each.at("left").get_to(tree.left);
      if (!sound(tree, columns_.size())) throw UserError("a stored forest is damaged: train it anew");
      trees_.push_back(std::move(tree));
    }
    if (trees_.empty()) throw UserError("a stored forest has no trees: train it anew");
  }

  void set(const std::string& option, double value) override {
    if (option == "trees")
      number_ = static_cast<std::uint64_t>(whole_option(option, value, 1, 100000));
    else if (option == "depth")
      depth_ = static_cast<std::uint32_t>(whole_option(option, value, 0, 1000));
    else if (option == "leaf")
      leaf_ = whole_option(option, value, 1, 1000000);
    else if (option == "features" && value > 0 && value <= 1)
      share_ = value;
    else if (option == "features")
      throw UserError("a forest's features are the share of columns tried at a split: above 0, at most 1");
    else
      refuse_option(option, forest_options());
  }

 private:
  std::uint32_t columns_tried() const {
    const double tried = std::round(share_ * static_cast<double>(columns_.size()));
    return static_cast<std::uint32_t>(std::max(1.0, tried));
  }

  std::vector<std::string> columns_;
  std::uint64_t number_ = 100;
  std::uint32_t depth_ = 0;
  double leaf_ = 1, share_ = 1;
  double mean_ = 0;
  std::vector<RegressionTree> trees_;
};

}  // namespace

const std::vector<RegressionOption>& forest_options() {
  static const std::vector<RegressionOption> options = {
      {"trees", "that are averaged (100)"},
      {"depth", "of a tree, at most (0: as deep as it gets)"},
      {"features", "share of the columns tried at a split (1)"},
      {"leaf", "rows on either side of a split, at least (1)"},
  };
  return options;
}

std::unique_ptr<Regression> make_forest(const std::vector<std::string>& columns) {
  return std::make_unique<Forest>(columns);
}

}  // namespace tandem::stats
