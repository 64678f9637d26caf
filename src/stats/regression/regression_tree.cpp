#include "stats/regression/regression_tree.h"

#include <algorithm>
#include <numeric>

namespace tandem::stats {
namespace {

struct Split {
  std::size_t column = 0;
  double threshold = 0, score = -1;  // score: the larger the better; below 0: none
};

class Grower {
 public:
  Grower(const SortedColumns& sorted, std::span<const double> targets, std::span<const double> weights,
         const TreeOptions& options, Random& random)
      : sorted_(sorted), targets_(targets), weights_(weights), options_(options), random_(random) {
    for (const std::uint32_t row : sorted.order)
      if (weights[row] > 0) order_.push_back(row);
    rows_ = order_.size() / sorted.columns;
    goes_left_.resize(sorted.count);
    spare_.resize(rows_);
    tried_.resize(sorted.columns);
    std::iota(tried_.begin(), tried_.end(), std::size_t{0});
  }

  RegressionTree grow() {
    std::vector<Pending> pending{{add_node(), 0, rows_, 0}};
    while (!pending.empty()) {
      const Pending node = pending.back();
      pending.pop_back();
      const Sums sums = sums_of(node.from, node.to);
      tree_.value[node.at] = sums.target / sums.weight;
      const bool deepest = options_.depth > 0 && node.depth >= options_.depth;
      const Split split = deepest || sums.alike ? Split{} : best_split(node.from, node.to, sums);
      if (split.score < 0) continue;
      const std::size_t middle = deal(node.from, node.to, split);
      const std::uint32_t left = add_node();
      add_node();
      tree_.column[node.at] = static_cast<std::int32_t>(split.column);
      tree_.value[node.at] = split.threshold;
      tree_.left[node.at] = left;
      pending.push_back({left + 1, middle, node.to, node.depth + 1});
      pending.push_back({left, node.from, middle, node.depth + 1});
    }
    return std::move(tree_);
  }

 private:
  // A node whose rows stand at `from` to `to` of every column's order.
  struct Pending {
    std::uint32_t at;
    std::size_t from, to;
    std::uint32_t depth;
  };
  struct Sums {
    double weight = 0, target = 0;
    bool alike = true;  // all targets are the same
  };

  std::uint32_t add_node() {
    tree_.column.push_back(-1);
    tree_.value.push_back(0);
    tree_.left.push_back(0);
    return static_cast<std::uint32_t>(tree_.column.size() - 1);
  }

  std::span<std::uint32_t> order(std::size_t column, std::size_t from, std::size_t to) {
    return std::span(order_).subspan(column * rows_ + from, to - from);
  }

  Sums sums_of(std::size_t from, std::size_t to) {
    Sums out;
    const auto rows = order(0, from, to);
    for (const std::uint32_t row : rows) {
      out.weight += weights_[row];
      out.target += weights_[row] * targets_[row];
      out.alike = out.alike && targets_[row] == targets_[rows[0]];
    }
    return out;
  }

  // Columns in a drawn order, so that of equally good ones none is preferred. Those whose values are all the
  // same do not count as tried.
  Split best_split(std::size_t from, std::size_t to, const Sums& sums) {
    Split best;
    std::size_t wanted = options_.columns > 0 ? options_.columns : tried_.size();
    for (std::size_t i = 0; i < tried_.size() && wanted > 0; ++i) {
      std::swap(tried_[i], tried_[i + random_.below(tried_.size() - i)]);
      const std::size_t column = tried_[i];
      const auto rows = order(column, from, to);
      const double* values = &sorted_.values[column * sorted_.count];
      if (values[rows.front()] == values[rows.back()]) continue;
      --wanted;
      try_column(column, rows, sums, best);
    }
    return best;
  }

  void try_column(std::size_t column, std::span<const std::uint32_t> rows, const Sums& sums, Split& best) {
    const double* values = &sorted_.values[column * sorted_.count];
    double weight = 0, target = 0;
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
      weight += weights_[rows[i]];
      target += weights_[rows[i]] * targets_[rows[i]];
      const double here = values[rows[i]], next = values[rows[i + 1]];
      const double others = sums.weight - weight, theirs = sums.target - target;
      if (here == next || weight < options_.leaf || others < options_.leaf) continue;
      const double score = target * target / weight + theirs * theirs / others;
      if (score <= best.score) continue;
      const double between = here / 2 + next / 2;
      best = {column, between < next ? between : here, score};  // neighbours of 64 bits have nothing between
    }
  }

  // Rows that go left stand first in every column's order from now on, sorted as they were.
  std::size_t deal(std::size_t from, std::size_t to, const Split& split) {
    const double* values = &sorted_.values[split.column * sorted_.count];
    for (const std::uint32_t row : order(0, from, to)) goes_left_[row] = values[row] <= split.threshold;
    std::size_t lefts = 0;
    for (std::size_t column = 0; column < sorted_.columns; ++column) {
      const auto rows = order(column, from, to);
      std::size_t right = 0;
      lefts = 0;
      for (const std::uint32_t row : rows) {
        if (goes_left_[row])
          rows[lefts++] = row;
        else
          spare_[right++] = row;
      }
      std::copy_n(spare_.begin(), right, rows.begin() + static_cast<std::ptrdiff_t>(lefts));
    }
    return from + lefts;
  }

  const SortedColumns& sorted_;
  std::span<const double> targets_, weights_;
  const TreeOptions& options_;
  Random& random_;
  std::size_t rows_ = 0;  // that were drawn at least once
  std::vector<std::uint32_t> order_, spare_;
  std::vector<char> goes_left_;
  std::vector<std::size_t> tried_;
  RegressionTree tree_;
};

}  // namespace

SortedColumns::SortedColumns(std::span<const double> rows, std::size_t columns_)
    : count(rows.size() / columns_), columns(columns_), values(rows.size()), order(rows.size()) {
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < count; ++r) values[c * count + r] = rows[r * columns + c];
    const double* mine = &values[c * count];
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(c * count),
               end = begin + static_cast<std::ptrdiff_t>(count);
    std::iota(begin, end, std::uint32_t{0});
    std::stable_sort(begin, end, [&](std::uint32_t a, std::uint32_t b) { return mine[a] < mine[b]; });
  }
}

RegressionTree grow_tree(const SortedColumns& sorted, std::span<const double> targets,
                         std::span<const double> weights, const TreeOptions& options, Random& random) {
  return Grower(sorted, targets, weights, options, random).grow();
}

}  // namespace tandem::stats
