// One tree of a forest (stats/regression/forest.h), and the sorted columns that all trees of it grow from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace tandem::stats {

struct TreeOptions {
  std::uint32_t depth = 0;    // at most; 0: as deep as it gets
  std::uint32_t columns = 0;  // tried at each split, drawn anew; 0: all
  double leaf = 1;            // rows on either side of a split, at least
};

// Columns one after the other, and for each the order of its rows by value.
struct SortedColumns {
  SortedColumns(std::span<const double> rows, std::size_t columns);

  std::size_t count = 0, columns = 0;  // of rows, of columns
  std::vector<double> values;
  std::vector<std::uint32_t> order;
};

// Nodes in three arrays, the root first. An inner node's right child stands behind its left one.
struct RegressionTree {
  std::vector<std::int32_t> column;  // -1: a leaf
  std::vector<double> value;         // a leaf's answer; otherwise rows up to here go left
  std::vector<std::uint32_t> left;

  double predict(std::span<const double> row) const {
    std::uint32_t at = 0;
    while (column[at] >= 0) at = left[at] + (row[static_cast<std::size_t>(column[at])] > value[at] ? 1 : 0);
    return value[at];
  }
};

// `weights`: how often each row was drawn; 0 leaves it out. At least one is above 0.
RegressionTree grow_tree(const SortedColumns&, std::span<const double> targets,
                         std::span<const double> weights, const TreeOptions&, Random&);

}  // namespace tandem::stats
