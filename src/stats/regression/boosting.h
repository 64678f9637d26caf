// Classical learners: random forests, gradient-boosted trees and linear models, through XGBoost's C
// interface.
//
// One thread and seeded by iteration, so that the same data, options and seed give the same model, and a
// model that was serialised, restored and trained on equals one that never stopped. A Boosting is a value:
// its state is the models' bytes. XGBoost's own errors come out as SystemError. Values are expected to be
// finite.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::stats {

// Row after row; `values.size()` is rows times columns.
struct Table {
  std::span<const float> values;
  std::int64_t columns = 0;

  std::int64_t rows() const { return columns == 0 ? 0 : static_cast<std::int64_t>(values.size()) / columns; }
};

struct BoostingOptions {
  enum class Kind { forest, boosting, linear };
  Kind kind = Kind::boosting;
  std::int64_t classes = 0;    // 0: regression; otherwise targets are 0 .. classes-1
  double learning_rate = 0.1;  // not used by a forest: its trees are averaged
  int max_depth = 5;
  double subsample = 1, column_sample = 1;
  double regularisation = 1;
  // Splits lie half-way between neighbouring values instead of on one of them: better for values that were
  // not seen, slower where there are many.
  bool half_way = false;
  std::uint64_t seed = 1;
};

class Boosting {
 public:
  explicit Boosting(const BoostingOptions&);
  // From `serialise`; throws SystemError when the bytes are not that.
  Boosting(const BoostingOptions&, std::string_view serialised);

  // From `models`.
  Boosting(const BoostingOptions&, std::vector<std::string> models);

  // Adds `rounds` rounds (for a forest: trees) learnt from these rows.
  void train(const Table&, std::span<const float> targets, int rounds);

  // One number a row, or `classes` probabilities a row. Needs at least one call of `train`.
  std::vector<float> predict(const Table&) const;

  std::string serialise() const;
  // In XGBoost's own format (UBJSON), for other programs: one, or for a forest one a call of `train`, whose
  // predictions are averaged.
  const std::vector<std::string>& models() const { return models_; }

 private:
  BoostingOptions options_;
  std::vector<std::string> models_;
};

}  // namespace tandem::stats
