#include "stats/design/model_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace tandem::stats {
namespace {

template <class Key>
Variable as_factor(std::string name, const std::vector<Key>& keys) {
  const std::set<Key> levels(keys.begin(), keys.end());
  const std::vector<Key> sorted(levels.begin(), levels.end());
  Variable out{std::move(name), {}};
  for (const auto& level : sorted) out.levels.push_back(fmt::format("{}", level));
  for (const auto& key : keys)
    out.values.push_back(
        static_cast<double>(std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin()));
  return out;
}

void check_variable(const Variable& variable, std::size_t rows) {
  const auto name = printable(variable.name, 60);
  if (variable.values.size() != rows)
    throw UserError(fmt::format("column '{}' has {} values for {} rows", name, variable.values.size(), rows));
  for (std::size_t r = 0; r < rows; ++r) {
    const double value = variable.values[r];
    if (!std::isfinite(value))
      throw UserError(fmt::format("column '{}' has a value in row {} that is not finite: leave the row out",
                                  name, r + 1));
    if (variable.is_factor() && (value < 0 || value >= static_cast<double>(variable.levels.size())))
      throw UserError(fmt::format("factor '{}' has no level {} (row {})", name, value, r + 1));
  }
}

void check_variable(std::span<const Variable> variables, std::size_t rows) {
  if (rows == 0) throw UserError("a linear model needs at least one row");
  std::set<std::string> names;
  for (const auto& variable : variables) {
    check_variable(variable, rows);
    if (!names.insert(variable.name).second)
      throw UserError(fmt::format("column '{}' is there twice", printable(variable.name, 60)));
  }
}

struct Block {
  std::vector<std::vector<double>> columns;
  std::vector<std::string> names;
};

Block block_of(const Variable& variable, Coding coding) {
  if (!variable.is_factor()) return {{variable.values}, {variable.name}};
  Block out;
  const std::size_t levels = variable.levels.size();
  for (std::size_t c = 0; c + 1 < levels; ++c) {
    const auto shown = static_cast<double>(coding == Coding::treatment ? c + 1 : c);
    auto& column = out.columns.emplace_back();
    for (const double level : variable.values) {
      const bool last = coding == Coding::sum && level == static_cast<double>(levels - 1);
      column.push_back(level == shown ? 1 : last ? -1 : 0);
    }
    out.names.push_back(variable.name + "=" + variable.levels[static_cast<std::size_t>(shown)]);
  }
  return out;
}

Block product(const Block& a, const Block& b) {
  Block out;
  for (std::size_t i = 0; i < a.columns.size(); ++i)
    for (std::size_t j = 0; j < b.columns.size(); ++j) {
      auto& column = out.columns.emplace_back(a.columns[i]);
      for (std::size_t r = 0; r < column.size(); ++r) column[r] *= b.columns[j][r];
      out.names.push_back(a.names[i] + ":" + b.names[j]);
    }
  return out;
}

void check_products(const Block& block, const ModelTerm& term) {
  for (const auto& column : block.columns)
    if (!std::all_of(column.begin(), column.end(), [](double value) { return std::isfinite(value); }))
      throw UserError(fmt::format("the product {} is too large for a number: take other units", term.name));
}

void note_empty_cells(std::span<const Variable> variables, const ModelTerm& term,
                      std::vector<std::string>& notes) {
  std::set<std::vector<double>> seen;
  double cells = 1;
  for (const auto v : term.of) {
    if (!variables[v].is_factor()) return;
    cells *= static_cast<double>(variables[v].levels.size());
  }
  const std::size_t rows = variables[term.of[0]].values.size();
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<double> here;
    for (const auto v : term.of) here.push_back(variables[v].values[r]);
    seen.insert(std::move(here));
  }
  const double missing = cells - static_cast<double>(seen.size());
  if (missing <= 0) return;
  notes.push_back(term.of.size() == 1
                      ? fmt::format("{} of {} levels of '{}' have no rows", missing, cells, term.name)
                      : fmt::format("{} of {} combinations of {} have no rows", missing, cells, term.name));
}

}  // namespace

Variable numeric(std::string name, std::vector<double> values) {
  return {std::move(name), std::move(values)};
}
Variable factor(std::string name, const std::vector<std::string>& words) {
  return as_factor(std::move(name), words);
}
Variable factor(std::string name, const std::vector<double>& numbers) {
  for (std::size_t r = 0; r < numbers.size(); ++r)
    if (!std::isfinite(numbers[r]))
      throw UserError(fmt::format("column '{}' has a value in row {} that is not finite: leave the row out",
                                  printable(name, 60), r + 1));
  return as_factor(std::move(name), numbers);
}

std::vector<std::vector<std::size_t>> term_sets(std::size_t variables, std::size_t order) {
  std::vector<std::vector<std::size_t>> out{{}};
  for (std::size_t begin = 0, degree = 0; degree < std::min(order, variables); ++degree) {
    const std::size_t end = out.size();
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t v = out[i].empty() ? 0 : out[i].back() + 1; v < variables; ++v) {
        auto larger = out[i];
        larger.push_back(v);
        out.push_back(std::move(larger));
        if (out.size() > kMostColumns)
          throw UserError(
              fmt::format("{} columns with interactions up to order {} make more than {} terms: take "
                          "fewer columns or a lower order",
                          variables, order, kMostColumns));
      }
    begin = end;
  }
  return out;
}

ModelMatrix model_matrix(std::span<const Variable> variables, std::size_t rows, std::size_t order,
                         Coding coding) {
  check_variable(variables, rows);
  ModelMatrix out;
  for (const auto& set : term_sets(variables.size(), order)) {
    Block block{{std::vector<double>(rows, 1.0)}, {"1"}};
    ModelTerm term{"1", set, out.columns.size(), 0};
    for (std::size_t i = 0; i < set.size(); ++i) {
      const auto own = block_of(variables[set[i]], coding);
      block = i == 0 ? own : product(block, own);
      term.name = i == 0 ? variables[set[i]].name : term.name + ":" + variables[set[i]].name;
    }
    term.count = block.columns.size();
    check_products(block, term);
    if (set.size() == 1 && term.count == 0)
      out.notes.push_back(fmt::format("factor '{}' has one level only ({}): it explains nothing", term.name,
                                      variables[set[0]].levels[0]));
    if (!set.empty()) note_empty_cells(variables, term, out.notes);
    out.columns.insert(out.columns.end(), block.columns.begin(), block.columns.end());
    out.names.insert(out.names.end(), block.names.begin(), block.names.end());
    out.terms.push_back(std::move(term));
    if (out.columns.size() > kMostColumns)
      throw UserError(
          fmt::format("the model has more than {} columns: take fewer levels, or a lower order of "
                      "interactions",
                      kMostColumns));
  }
  return out;
}

}  // namespace tandem::stats
