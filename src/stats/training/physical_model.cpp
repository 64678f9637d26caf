#include "stats/training/physical_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "stats/regression/residual_process.h"
#include "stats/training/input_stall.h"
#include "stats/training/measured_bounds.h"
#include "stats/training/training_law.h"

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
    contention_ = at("crowd");
  }

  void fit(std::span<const double> rows, std::span<const double> targets) override {
    check_training(rows, targets, columns_);
    check_seconds(targets);
    std::vector<TrainingRow> known;
    for (std::size_t i = 0; i < targets.size(); ++i) known.push_back(understood(row_at(rows, i)));
    const std::vector<bool> stalled = fit_law(known, targets);
    Kept kept;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (stalled[i]) continue;
      const auto row = row_at(rows, i);
      kept.rows.insert(kept.rows.end(), row.begin(), row.end());
      kept.seconds.push_back(targets[i]);
      kept.shares.push_back(law_.shares(known[i]));
      kept.residuals.push_back(std::log(targets[i]) - law_.log_seconds(known[i]));
    }
    residual_.fit(kept.rows, {columns_.size(), batch_, replicas_}, kept.shares, kept.residuals);
    bounds_.fit(columns_, kept.rows, kept.seconds, law_.of_jobs());
  }

  double predict(std::span<const double> row) const override { return bounded(row).value; }

  Bounded bounded(std::span<const double> row) const override {
    assert(row.size() == columns_.size());
    const TrainingRow known = understood(row);
    double said = std::exp(law_.log_seconds(known) + residual_.predict(row, law_.shares(known)));
    if (stall_) said = std::max(said, stall_->least(known));
    const auto [least, most, inside] = bounds_.at(row);
    return {std::clamp(said, least, most), said<least, said> most};
  }

  nlohmann::json written() const override {
    return {{"regression", "physical"},
            {"columns", columns_},
            {"law", law_.numbers()},
            {"form", {law_.forward(), law_.sharpness()}},
            {"residual", residual_.written()},
            {"bounds", bounds_.written()},
            {"input", stall_ ? stall_->written() : nlohmann::json()}};
  }

  void read(const nlohmann::json& from) override {
    const auto numbers = from.at("law").get<std::vector<double>>();
    if (numbers.size() != TrainingLaw::kNumbers + 1)
      throw UserError("a stored physical model has another law than this version's: train it anew");
    law_.set_numbers(numbers);
    // Models of earlier versions say nothing of the following: they had this form, and neither of the others.
    const auto form = from.value("form", std::vector<double>{0, 3});
    if (form.size() != 2) throw UserError("a stored physical model has no form: train it anew");
    law_.set_form(form[0], form[1]);
    residual_.read(from.at("residual"), columns_.size());
    bounds_ = {};
    if (from.contains("bounds")) bounds_.read(from.at("bounds"), columns_);
    stall_.reset();
    if (const auto input = from.find("input"); input != from.end() && !input->is_null())
      stall_ = InputStall::read(*input);
  }

  void set(const std::string& option, double value) override {
    if (option != "many" && option != "jitter") refuse_option(option, physical_options());
    if (!(value > 0 && value <= 10))
      throw UserError(fmt::format("{} = {} cannot be: it is above 0 and at most 10", option, value));
    if (option == "many")
      network_.many = value;
    else
      network_.jitter = value;
  }

 private:
  struct Kept {
    std::vector<double> rows{}, seconds{}, residuals{};
    std::vector<LawShares> shares{};
  };

  // Fits without the rows that stalled, and says which they are: fewer of them make the law say less, so that
  // more of them show.
  std::vector<bool> fit_law(const std::vector<TrainingRow>& known, std::span<const double> seconds) {
    constexpr int kRounds = 4;
    const bool whole_job = records_ != kAbsent || epochs_ != kAbsent;
    law_.fit(known, seconds, whole_job, network_);
    std::vector<bool> stalled(known.size(), false);
    for (int round = 0; round < kRounds; ++round) {
      const auto now = InputStall::stalled(known, seconds, law_);
      if (now == stalled) break;
      stalled = now;
      std::vector<TrainingRow> rows;
      std::vector<double> times;
      for (std::size_t i = 0; i < known.size(); ++i)
        if (!stalled[i]) rows.push_back(known[i]), times.push_back(seconds[i]);
      law_.fit(rows, times, whole_job, network_);
    }
    stall_ = InputStall::found(known, seconds, stalled);
    return stalled;
  }

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
    out.contention = value(row, contention_, 1);
    return out;
  }

  std::vector<std::string> columns_;
  std::size_t batch_, cores_, jobs_, replicas_, nodes_, largest_, records_, epochs_, contention_;
  NetworkPrior network_;
  TrainingLaw law_;
  ResidualProcess residual_;
  MeasuredBounds bounds_;
  std::optional<InputStall> stall_;
};

}  // namespace

std::vector<RegressionOption> physical_options() {
  return {{"many", "known of the network: a ring's unit over three or more nodes, as a share of two nodes'"},
          {"jitter", "known of the network: delays that grow with nodes, as a share of a usual step"}};
}

std::unique_ptr<Regression> make_physical(const std::vector<std::string>& columns) {
  return std::make_unique<Physical>(columns);
}

}  // namespace tandem::stats
