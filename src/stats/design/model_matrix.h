// The columns of a linear model: numbers and factors, and their products up to a given order.
//
// A number is one column. A factor of k levels is k-1 columns: with treatment coding each is 1 where its
// level is (the first level is the reference), with sum coding the last level is -1 in all of them, so that
// every coefficient is a difference from the mean of the levels. An interaction is all products of its
// factors' columns. Terms come in the order of their degree, so that what depends on earlier columns is the
// finer one. Plain values; pure.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tandem::stats {

struct Variable {
  std::string name;
  std::vector<double> values;         // of each row; of a factor: the index of its level
  std::vector<std::string> levels{};  // of a factor; empty: a number
  bool is_factor() const { return !levels.empty(); }
};
Variable numeric(std::string name, std::vector<double> values);
// Levels in alphabetical order, or in that of the numbers.
Variable factor(std::string name, const std::vector<std::string>& words);
Variable factor(std::string name, const std::vector<double>& numbers);

enum class Coding { treatment, sum };

struct ModelTerm {
  std::string name;                  // "cores:batch"; "1" is the intercept
  std::vector<std::size_t> of{};     // variables, ascending; none: the intercept
  std::size_t first = 0, count = 0;  // its columns
};

struct ModelMatrix {
  std::vector<std::vector<double>> columns;  // the first is the intercept
  std::vector<std::string> names;            // "1", "batch", "cores=4", "cores=4:batch"
  std::vector<ModelTerm> terms;              // the first is the intercept
  std::vector<std::string> notes;            // factors of one level, combinations without rows
};

inline constexpr std::size_t kMostColumns = 2000;

// Which variables make up each term: all sets of at most `order` of so many, small ones first, the empty one
// (the intercept) before all. UserError: more than kMostColumns.
std::vector<std::vector<std::size_t>> term_sets(std::size_t variables, std::size_t order);

// UserError: no rows, lengths that differ, a value that is not finite, a name twice, too many columns.
ModelMatrix model_matrix(std::span<const Variable>, std::size_t rows, std::size_t order, Coding);

}  // namespace tandem::stats
