// What a law leaves over, learnt: a Gaussian process on log(measured/law), which fades to 0 away from the
// rows it has seen.
//
// Its covariance is a sum of parts, each a product of one Matérn 3/2 a column, on logarithms where a column
// is positive:
//   along the main column        the batch size: which kernels a library chooses at a size is the same
//                                wherever it runs; it acts on the share of a row's time that is work
//   over all other columns       a placement that is slow is so at every batch size; once for all of the
//                                time, once for the share that is synchronisation
//   over all columns together
//   one setting of the others    all that was measured in one session, on the same hosts and links: it acts
//                                on the host's share, and on synchronisation's, and drifts along the main
//                                column
//   one batch size and replicas  the same records, whatever the nodes: long ones make each step long
// Sizes, lengths and noise are those of the largest marginal likelihood under weak priors, found on at most
// `kChosen` rows, once `kScout` of them have told which runs stalled. Rows that are alike are merged, without
// those that their repeats contradict; of more than `kKept` different ones a sample is kept. What is
// predicted makes the relative error small, |said/measured - 1|, not the square of its logarithm: where a
// third of the runs stalled, it is the time of those that did not. Deterministic; pure.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "stats/training/training_law.h"

namespace tandem::stats {

class ResidualProcess {
 public:
  static constexpr std::size_t kKept = 900, kScout = 220, kChosen = 450;

  // How many columns there are; which of them is the main one and which tells replicas, if any.
  struct Columns {
    std::size_t width = 0, main = 0, replicas = 0;
  };
  // `rows` row after row; `shares`: of each row's time, according to the law.
  void fit(std::span<const double> rows, const Columns&, std::span<const LawShares> shares,
           std::span<const double> residuals);
  double predict(std::span<const double> row, const LawShares& shares) const;
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
  enum class Acts { everywhere, on_work, on_host, on_sync };
  struct Part {
    Acts acts = Acts::everywhere;
    double size = 0;                // variance
    std::vector<double> lengths{};  // one a column; 0: not in this part
  };

  static double exposure(Acts acts, const LawShares& share) {
    switch (acts) {
      case Acts::on_work:
        return share.host + share.device;
      case Acts::on_host:
        return share.host;
      case Acts::on_sync:
        return share.sync;
      case Acts::everywhere:
        break;
    }
    return 1;
  }

  std::vector<Column> columns_;  // those that vary
  std::vector<Part> parts_;
  std::vector<std::uint32_t> level_of_;  // kept row × column
  std::vector<double> weights_;          // of kept rows
  std::vector<LawShares> shares_;        // of kept rows
  double noise_ = 0;
};

}  // namespace tandem::stats
