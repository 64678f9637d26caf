#include "bench/zeus/policies.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/error.h"
#include "tune/recurring.h"

namespace tandem::bench {
namespace {

class Fixed final : public RecurringPolicy {
 public:
  Fixed(std::int64_t batch, double limit) : batch_(batch), limit_(limit) {}
  std::int64_t batch() override { return batch_; }
  void carry_out(Attempt& attempt) override {
    while (!attempt.over()) attempt.run(limit_, 1);
  }

 private:
  std::int64_t batch_;
  double limit_;
};

// One cell after another, each to its end, then the cheapest; cells of a batch size that failed are left out
// (the variant Zeus' authors compare with).
class Grid final : public RecurringPolicy {
 public:
  explicit Grid(const Workload& workload) {
    for (const auto batch : workload.job.batches)
      for (const double limit : workload.job.limits) cells_.push_back({batch, limit});
  }
  std::int64_t batch() override {
    while (next_ < cells_.size() && failed_.contains(cells_[next_].batch)) ++next_;
    if (next_ < cells_.size()) return current_ = next_, cells_[next_++].batch;
    current_ = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      if (cells_[i].mean() < cells_[current_].mean()) current_ = i;
    return cells_[current_].batch;
  }
  void carry_out(Attempt& attempt) override {
    auto& cell = cells_[current_];
    while (!attempt.over()) attempt.run(cell.limit, 1);
    if (!attempt.reached())
      failed_.insert(cell.batch);
    else
      cell.sum += attempt.cost(), cell.count += 1;
  }

 private:
  struct Cell {
    std::int64_t batch;
    double limit;
    double sum = 0, count = 0;
    double mean() const { return count > 0 ? sum / count : INFINITY; }
  };
  std::vector<Cell> cells_;
  std::set<std::int64_t> failed_;
  std::size_t next_ = 0, current_ = 0;
};

// Through slices of the first epoch under limits worth a probe, then under the best; stopped when the chooser
// says so. Slices are as long as Zeus': an epoch divided by the number of limits.
class Ours final : public RecurringPolicy {
 public:
  explicit Ours(const Workload& workload) : chooser_(workload.job) {}
  std::int64_t batch() override {
    const auto plan = chooser_.propose();
    if (const auto* why = std::get_if<std::string>(&plan)) throw UserError(*why);
    return std::get<tune::RecurringPlan>(plan).batch;
  }
  void carry_out(Attempt& attempt) override {
    const double slice = 1.0 / static_cast<double>(chooser_.job().limits.size());
    auto limit = chooser_.limit(attempt.batch());
    for (; limit.probe && !attempt.over() && attempt.epochs() < 1 - 1e-9;
         limit = chooser_.limit(attempt.batch()))
      chooser_.learn(attempt.run(limit.watts, slice));
    const double stop = chooser_.stop_cost(attempt.batch());
    while (!attempt.over() && attempt.cost() < stop * (1 - 1e-9)) {
      const double part = attempt.epochs() - std::floor(attempt.epochs() + 1e-9);
      chooser_.learn(attempt.run(chooser_.limit(attempt.batch()).watts, 1 - std::max(0.0, part)));
    }
    chooser_.learn(tune::AttemptEnded{attempt.batch(), attempt.epochs(),
                                      attempt.reached() ? tune::Ending::reached
                                      : attempt.over()  ? tune::Ending::failed
                                                        : tune::Ending::stopped});
  }

 private:
  tune::Recurring chooser_;
};

}  // namespace

std::pair<std::int64_t, double> best_cell(const Workload& w) {
  std::pair<std::int64_t, double> best{};
  double least = INFINITY;
  for (const auto batch : w.job.batches)
    for (const double limit : w.job.limits)
      if (const double cost = w.cost(expected(w, batch, limit)); cost < least)
        least = cost, best = {batch, limit};
  return best;
}

std::unique_ptr<RecurringPolicy> make_ours(const Workload& w, std::uint64_t) {
  return std::make_unique<Ours>(w);
}
std::unique_ptr<RecurringPolicy> make_default(const Workload& w, std::uint64_t) {
  return std::make_unique<Fixed>(w.job.default_batch, w.job.limits.back());
}
std::unique_ptr<RecurringPolicy> make_grid(const Workload& w, std::uint64_t) {
  return std::make_unique<Grid>(w);
}
std::unique_ptr<RecurringPolicy> make_oracle(const Workload& w, std::uint64_t) {
  const auto [batch, limit] = best_cell(w);
  return std::make_unique<Fixed>(batch, limit);
}

}  // namespace tandem::bench
