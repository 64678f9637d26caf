// What measured rows leave possible for a time nobody measured, so that no fitted law can run away from them.
//
// Rows bound their neighbours by what physics allows, whatever was fitted: more replicas, more nodes, a
// fuller node, more jobs and more threads a CPU never make a step shorter, though they may make it much
// longer; a step grows with its batch, at most in proportion; more cores help at most in proportion, and may
// harm; a column nobody knows changes a time at most with its third power, up or down. Of jobs, what is
// bounded is seconds times replicas.
//
// A setting with rows on both sides lies inside the range of what was measured: its time is between the
// highest lower bound and the lowest upper bound of all rows. A prediction is held to within kOff of both,
// or, where they are farther apart than that, between them: it is never kept from a time that rows leave
// possible, and where the two differ by no more than 2.4 times it is off by no more than 3, noise of a tenth
// included. On one side alone it is held to that side; between the extremes of each column, but beside all
// rows, to the fastest and the slowest of all. Rows that their neighbours contradict are left out: they bound
// nothing. Positive seconds only. Deterministic; pure; one owner.
#pragma once

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace tandem::stats {

class MeasuredBounds {
 public:
  static constexpr double kOff = 2.5;         // leaves room for a tenth of noise below 3
  static constexpr double kNoise = 1.1;       // rows are no better than that
  static constexpr double kContradicted = 2;  // beyond what most of the nearest rows leave possible
  static constexpr std::size_t kKept = 2000;  // rows; of more a sample is kept

  struct Limits {
    double least = 0, most = std::numeric_limits<double>::infinity();
    bool inside = false;  // rows on both sides
  };

  // `of_jobs`: seconds are of whole jobs, not of steps.
  void fit(const std::vector<std::string>& columns, std::span<const double> rows,
           std::span<const double> seconds, bool of_jobs);
  Limits at(std::span<const double> row) const;

  nlohmann::json written() const;
  // UserError where it does not fit together.
  void read(const nlohmann::json&, const std::vector<std::string>& columns);

 private:
  // A time changes with a column by its ratio to a power between these two.
  struct Column {
    double least_power = -3, most_power = 3;
    bool ignored = false;
  };
  // What one row leaves possible: logarithms, infinite where it says nothing.
  struct Candidate {
    double low = 0, high = 0, distance = 0;
  };

  void set_columns(const std::vector<std::string>&);
  void keep(std::span<const double> rows, std::span<const double> seconds);
  void drop_contradicted();
  void note_extremes();
  bool contradicted(std::size_t) const;
  std::vector<double> logarithms(std::span<const double> row) const;
  double replicas_of(std::span<const double> log_row) const;  // logarithm; 0 unless of jobs
  Candidate candidate(std::size_t row, std::span<const double> query) const;
  std::span<const double> kept(std::size_t i) const {
    return std::span(rows_).subspan(i * columns_.size(), columns_.size());
  }

  std::vector<Column> columns_;
  std::size_t replicas_ = static_cast<std::size_t>(-1);
  bool of_jobs_ = false;
  std::vector<double> rows_, times_;      // logarithms
  std::vector<double> lowest_, highest_;  // of each column
  double fastest_ = 0, slowest_ = 0;      // of all rows
};

}  // namespace tandem::stats
