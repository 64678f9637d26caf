#include "stats/physical_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/error.h"
#include "stats/residual_process.h"
#include "stats/training_law.h"

namespace tandem::stats {
namespace {

constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

class Physical final : public Regression {
 public:
  explicit Physical(std::vector<std::string> columns) : columns_(std::move(columns)) {
    const auto at = [&](const char* name) {
      const auto found = std::find(columns_.begin(), columns_.end(), name);
      return found == columns_.end() ? kAbsent : static_cast<std::size_t>(found - columns_.begin());
    };
    batch_ = at("batch"), cores_ = at("cores"), jobs_ = at("jobs"), replicas_ = at("replicas"),
    nodes_ = at("nodes");
    largest_ = at("largest"), records_ = at("records"), epochs_ = at("epochs");
    crowd_ = at("crowd");
  }

  void fit(std::span<const double> rows, std::span<const double> targets) override {
    check_training(rows, targets, columns_);
    check_seconds(targets);
    std::vector<TrainingRow> known;
    for (std::size_t i = 0; i < targets.size(); ++i) known.push_back(understood(row_at(rows, i)));
    law_.fit(known, targets, records_ != kAbsent || epochs_ != kAbsent);
    std::vector<LawShares> shares;
    std::vector<double> residuals;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      shares.push_back(law_.shares(known[i]));
      residuals.push_back(std::log(targets[i]) - law_.log_seconds(known[i]));
    }
    residual_.fit(rows, {columns_.size(), batch_, replicas_}, shares, residuals);
  }

  double predict(std::span<const double> row) const override {
    assert(row.size() == columns_.size());
    const TrainingRow known = understood(row);
    return std::exp(law_.log_seconds(known) + residual_.predict(row, law_.shares(known)));
  }

  nlohmann::json written() const override {
    return {{"regression", "physical"},
            {"columns", columns_},
            {"law", law_.numbers()},
            {"residual", residual_.written()}};
  }

  void read(const nlohmann::json& from) override {
    const auto numbers = from.at("law").get<std::vector<double>>();
    if (numbers.size() != TrainingLaw::kNumbers + 1)
      throw UserError("a stored physical model has another law than this version's: train it anew");
    law_.set_numbers(numbers);
    residual_.read(from.at("residual"), columns_.size());
  }

 private:
  std::span<const double> row_at(std::span<const double> rows, std::size_t i) const {
    return rows.subspan(i * columns_.size(), columns_.size());
  }

  static void check_seconds(std::span<const double> targets) {
    for (std::size_t i = 0; i < targets.size(); ++i)
      if (!(targets[i] > 0))
        throw UserError(fmt::format("row {} took {} seconds: the physical model learns from times above 0",
                                    i + 1, targets[i]));
  }

  double value(std::span<const double> row, std::size_t column, double otherwise) const {
    if (column == kAbsent) return otherwise;
    if (!(row[column] > 0))
      throw UserError(fmt::format("{} = {} cannot be: the physical model needs more than 0", columns_[column],
                                  row[column]));
    return row[column];
  }

  TrainingRow understood(std::span<const double> row) const {
    TrainingRow out;
    out.batch = value(row, batch_, 1), out.cores = value(row, cores_, 1), out.jobs = value(row, jobs_, 1);
    out.nodes = value(row, nodes_, 1), out.replicas = value(row, replicas_, out.nodes);
    out.largest = value(row, largest_, std::ceil(out.replicas / out.nodes));
    out.records = value(row, records_, 1), out.epochs = value(row, epochs_, 1);
    out.crowd = value(row, crowd_, 1);
    return out;
  }

  std::vector<std::string> columns_;
  std::size_t batch_, cores_, jobs_, replicas_, nodes_, largest_, records_, epochs_, crowd_;
  TrainingLaw law_;
  ResidualProcess residual_;
};

}  // namespace

std::unique_ptr<Regression> make_physical(const std::vector<std::string>& columns) {
  return std::make_unique<Physical>(columns);
}

}  // namespace tandem::stats
