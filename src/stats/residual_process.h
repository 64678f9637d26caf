// What a law leaves over, learnt: a Gaussian process on log(measured/law), which fades to 0 away from the
// rows it has seen.
//
// Its covariance is a sum of parts: one along the main column (the batch size: which kernels a library
// chooses at a size is the same wherever it runs), one over all other columns (a placement that is slow is so
// at every batch size), and one over all columns together. Each part is a product of one Matérn 3/2 a column,
// on logarithms where a column is positive. Where the law knows which share of a row's time is
// synchronisation, the batch size acts on the rest, and there is one more part over all other columns that
// acts on that share. Sizes, lengths and noise are those of the largest marginal likelihood under weak
// priors, found on at most `kScout` rows. Rows that are alike are merged, without those
// that their repeats contradict; of more than `kKept` different ones
// a sample is kept. Rows that all others contradict count less. Deterministic; pure.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

namespace tandem::stats {

class ResidualProcess {
 public:
  static constexpr std::size_t kKept = 900, kScout = 220;

  // `rows` row after row, `width` columns wide; `main`: which column is the main one, or `width` for none;
  // `sync`: of each row, the share of its time that is synchronisation.
  void fit(std::span<const double> rows, std::size_t width, std::size_t main, std::span<const double> sync,
           std::span<const double> residuals);
  double predict(std::span<const double> row, double sync) const;
  double noise() const { return noise_; }  // deviation of one measurement

  nlohmann::json written() const;
  void read(const nlohmann::json&, std::size_t width);  // json::exception or UserError where it is not that

 private:
  friend class ResidualFit;
  struct Column {
    std::size_t at = 0;  // in a row
    bool logarithm = false;
    double scale = 1;              // units of this many deviations
    std::vector<double> levels{};  // that kept rows have, transformed
  };
  enum class Acts { everywhere, on_work, on_sync };
  struct Part {
    Acts acts = Acts::everywhere;
    double size = 0;                // variance
    std::vector<double> lengths{};  // one a column; 0: not in this part
  };

  static double exposure(Acts acts, double sync) {
    return acts == Acts::everywhere ? 1 : acts == Acts::on_work ? 1 - sync : sync;
  }

  std::vector<Column> columns_;  // those that vary
  std::vector<Part> parts_;
  std::vector<std::uint32_t> level_of_;  // kept row × column
  std::vector<double> weights_, sync_;   // of kept rows
  double noise_ = 0;
};

}  // namespace tandem::stats
