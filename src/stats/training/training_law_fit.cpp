// Fitting the law: which numbers the rows can say anything of, where to start, and Levenberg-Marquardt.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "stats/numeric/cholesky.h"
#include "stats/numeric/median.h"
#include "stats/training/training_law.h"

namespace tandem::stats {
namespace {

constexpr std::size_t kRows = 1200, kScoutRows = 150;  // enough for a dozen numbers; more rows only cost time
constexpr int kRounds = 40, kScoutRounds = 12;
constexpr double kFreedom = 4;  // of the t distribution that errors are taken to have: stalls are no surprise
constexpr double kSlower = 0.6;  // what a row counts that took longer than the law says: stalls only add time
constexpr double kLeastSpread = 2e-3;  // of log(seconds): clocks are no better than that

struct Guess {
  double middle, spread;  // of the logarithm
};

using LawValues = std::vector<double>;

bool varies(std::span<const TrainingRow> rows, double TrainingRow::*field) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const TrainingRow& row) { return row.*field != rows[0].*field; });
}

}  // namespace

// One form of the law (of steps or of jobs) on some rows.
class LawFit {
 public:
  LawFit(std::span<const TrainingRow> rows, std::span<const double> seconds, bool of_jobs,
         const NetworkPrior& network)
      : rows_(rows.begin(), rows.end()), network_(network) {
    for (const double each : seconds) target_.push_back(std::log(each));
    law_.of_jobs_ = of_jobs;
    choose_numbers();
  }

  // The cost reached, and the law in `law`.
  double run(TrainingLaw& law) {
    std::vector<LawValues> starts = some_starts();
    LawValues best = starts[0];
    const auto all_rows = rows_;
    const auto all_targets = target_;
    thin(kScoutRows);
    double cost = INFINITY;
    for (const auto& start : starts) {
      LawValues end = start;
      const double reached = descend(end, kScoutRounds);
      if (reached < cost) cost = reached, best = end;
    }
    rows_ = all_rows, target_ = all_targets;
    thin(kRows);
    cost = descend(best, kRounds);
    put(best);
    law = law_;
    return cost;
  }

 private:
  using Number = TrainingLaw::Number;

  void add(Number which, double middle, double spread) {
    active_.push_back(which);
    prior_.push_back({middle, spread});
  }

  // Numbers that never matter in these rows stay 0, so that the others are not blurred.
  void choose_numbers() {
    const bool batches = varies(rows_, &TrainingRow::batch), cores = varies(rows_, &TrainingRow::cores),
               jobs = varies(rows_, &TrainingRow::jobs);
    scale_of_steps();
    add(TrainingLaw::fixed, step_ - 1, 3);
    if (batches || cores) add(TrainingLaw::record, step_ - 1 - batch_, 3);
    if (batches) add(TrainingLaw::ahead, -2, 1.5);  // one after the other, unless the rows say so
    if (batches && cores) add(TrainingLaw::serial, step_ - 4 - batch_, 2);
    if (cores || jobs) {
      add(TrainingLaw::room, processes_ + 1, 1.5);
      add(TrainingLaw::width, processes_ + 1, 1.5);
      add(TrainingLaw::process, step_ - 6, 2);
    }
    if (jobs) add(TrainingLaw::squeeze, -3, 1.5), add(TrainingLaw::neighbour, step_ - 5, 2);
    add_turns();
    add_sync();
    if (law_.of_jobs_ && (varies(rows_, &TrainingRow::records) || varies(rows_, &TrainingRow::epochs)))
      add(TrainingLaw::startup, median(target_) - 4, 2);
  }

  // Taking turns costs what a fair share does, or more; rows of teams alone cannot tell the two parts apart,
  // so the first one is held close to fair.
  void add_turns() {
    law_.value_[TrainingLaw::waits] = 1;
    if (!varies(rows_, &TrainingRow::contention)) return;
    add(TrainingLaw::waits, 0, 0.3);
    if (std::any_of(rows_.begin(), rows_.end(),
                    [](const TrainingRow& row) { return row.contention > 1 && row.cores > 1; }))
      add(TrainingLaw::stalls, 0, 2);
  }

  void add_sync() {
    const auto any = [&](auto test) { return std::any_of(rows_.begin(), rows_.end(), test); };
    const bool replicated = any([](const TrainingRow& row) { return row.replicas > 1; });
    const bool several = any([](const TrainingRow& row) { return row.nodes > 1; });
    if (!replicated) return;
    if (any([](const TrainingRow& row) { return row.largest > 1; })) {
      add(TrainingLaw::bus, step_ - 2, 3);
      add(TrainingLaw::more_bus, -3, 1.5);
    }
    add(TrainingLaw::overlap, 0, 1);
    if (!several) return;
    add(TrainingLaw::pair, step_ - 1, 3);
    add(TrainingLaw::many, std::log(network_.many), 0.3);
    if (network_.jitter)
      add(TrainingLaw::jitter, step_ + std::log(*network_.jitter), 0.5);
    else
      add(TrainingLaw::jitter, step_ - 4, 2);
  }

  void scale_of_steps() {
    std::vector<double> steps, batches;
    double most = 1;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto& row = rows_[i];
      const double count = row.records * row.epochs / (row.batch * row.replicas);
      steps.push_back(target_[i] - (law_.of_jobs_ ? std::log(count) : 0));
      batches.push_back(std::log(row.batch));
      most = std::max(most, row.cores * row.jobs);
    }
    step_ = median(steps), batch_ = median(batches), processes_ = std::log(most);
  }

  // From the priors, and from where the one or the other part dominates.
  std::vector<LawValues> some_starts() const {
    LawValues middle;
    for (const auto& prior : prior_) middle.push_back(prior.middle);
    std::vector<LawValues> out = {middle};
    const bool teams = std::count(active_.begin(), active_.end(), TrainingLaw::stalls) > 0;
    for (int kind = 0; kind < (teams ? 4 : 3); ++kind) {
      LawValues other = middle;
      for (std::size_t i = 0; i < active_.size(); ++i) {
        const Number which = active_[i];
        const bool sync = which == TrainingLaw::bus || which == TrainingLaw::pair;
        if (kind == 0 && which == TrainingLaw::fixed) other[i] -= 2;
        if (kind == 1 && (which == TrainingLaw::record || which == TrainingLaw::serial)) other[i] -= 2;
        if (kind == 2 && (sync || which == TrainingLaw::room || which == TrainingLaw::width)) other[i] -= 1.5;
        if (kind == 3 && which == TrainingLaw::stalls) other[i] += 2;
      }
      out.push_back(other);
    }
    return out;
  }

  void thin(std::size_t most) {
    if (rows_.size() <= most) return;
    Random random(1, hash_name("rows of a training law"));
    for (std::size_t i = 0; i < most; ++i) {
      const std::size_t other = i + random.below(rows_.size() - i);
      std::swap(rows_[i], rows_[other]), std::swap(target_[i], target_[other]);
    }
    rows_.resize(most), target_.resize(most);
  }

  void put(const LawValues& at) {
    for (std::size_t i = 0; i < active_.size(); ++i) law_.value_[active_[i]] = std::exp(at[i]);
  }

  LawValues errors(const LawValues& at) {
    put(at);
    LawValues out;
    for (std::size_t i = 0; i < rows_.size(); ++i) out.push_back(target_[i] - law_.log_seconds(rows_[i]));
    return out;
  }

  double prior_cost(const LawValues& at) const {
    double sum = 0;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const double off = (at[i] - prior_[i].middle) / prior_[i].spread;
      sum += off * off;
    }
    return sum;
  }

  static double counts(double error) { return error > 0 ? kSlower : 1; }

  // Minus twice the logarithm of the t density, up to a constant, lopsided.
  double cost_of(const LawValues& error, const LawValues& at) const {
    double sum = 0;
    for (const double each : error)
      sum += counts(each) * (kFreedom + 1) * std::log1p(each * each / (kFreedom * spread_ * spread_));
    return sum + prior_cost(at) + 2 * static_cast<double>(error.size()) * std::log(spread_);
  }

  void set_spread(const LawValues& error) {
    std::vector<double> sizes;
    for (const double each : error) sizes.push_back(std::abs(each));
    spread_ = std::max(kLeastSpread, 1.4 * median(sizes));
  }

  // Weighted normal equations of a Gauss-Newton step, the prior included.
  void equations(const LawValues& at, const LawValues& error, LawValues& matrix, LawValues& slope) {
    constexpr double kStep = 1e-5;
    const std::size_t n = at.size();
    std::vector<LawValues> change;
    for (std::size_t i = 0; i < n; ++i) {
      LawValues moved = at;
      moved[i] += kStep;
      change.push_back(errors(moved));
      for (std::size_t r = 0; r < error.size(); ++r) change[i][r] = (error[r] - change[i][r]) / kStep;
    }
    matrix.assign(n * n, 0.0), slope.assign(n, 0.0);
    for (std::size_t r = 0; r < error.size(); ++r) {
      const double weight =
          counts(error[r]) * (kFreedom + 1) / (kFreedom * spread_ * spread_ + error[r] * error[r]);
      for (std::size_t i = 0; i < n; ++i) {
        slope[i] += weight * change[i][r] * error[r];
        for (std::size_t j = 0; j <= i; ++j) matrix[i * n + j] += weight * change[i][r] * change[j][r];
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double stiff = 1 / (prior_[i].spread * prior_[i].spread);
      matrix[i * n + i] += stiff;
      slope[i] -= stiff * (at[i] - prior_[i].middle);
    }
  }

  // Where a damped step leads; no number moves more than two e-folds at once.
  LawValues stepped(const LawValues& at, LawValues matrix, const LawValues& slope, double damping) const {
    constexpr double kLongest = 2;
    constexpr double kFarthest = 12;  // from the prior: beyond, a number is as good as 0 or infinite
    const std::size_t n = at.size();
    for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] *= 1 + damping;
    const Cholesky factor(std::move(matrix), n);
    if (!factor.ok()) return at;
    LawValues next = factor.solve(slope);
    for (std::size_t i = 0; i < n; ++i)
      next[i] = std::clamp(at[i] + std::clamp(next[i], -kLongest, kLongest), prior_[i].middle - kFarthest,
                           prior_[i].middle + kFarthest);
    return next;
  }

  double descend(LawValues& at, int rounds) {
    LawValues error = errors(at), matrix, slope;
    double damping = 1e-2;
    for (int round = 0; round < rounds; ++round) {
      set_spread(error);
      const double cost = cost_of(error, at);
      equations(at, error, matrix, slope);
      bool moved = false;
      double gained = 0;
      for (int tries = 0; tries < 8 && !moved; ++tries) {
        LawValues next = stepped(at, matrix, slope, damping);
        LawValues there = errors(next);
        const double reached = cost_of(there, next);
        moved = reached < cost;
        damping = moved ? damping / 5 : damping * 6;
        if (moved) gained = cost - reached, at = std::move(next), error = std::move(there);
      }
      if (!moved || gained < 1e-5 * (1 + std::abs(cost))) break;
    }
    set_spread(error);
    return cost_of(error, at);
  }

  std::vector<TrainingRow> rows_;
  NetworkPrior network_;
  std::vector<double> target_;  // log(seconds)
  TrainingLaw law_;
  std::vector<Number> active_;
  std::vector<Guess> prior_;
  double step_ = 0, batch_ = 0, processes_ = 0;  // logarithms of the usual step, batch; of the most processes
  double spread_ = 0.1;                          // of the errors
};

void TrainingLaw::fit(std::span<const TrainingRow> rows, std::span<const double> seconds, bool whole_job,
                      const NetworkPrior& network) {
  TrainingLaw of_steps, of_jobs;
  const double steps = LawFit(rows, seconds, false, network).run(of_steps);
  const double jobs = LawFit(rows, seconds, true, network).run(of_jobs);
  // A tie, as of rows that are all alike, goes to what the columns speak of.
  *this = std::abs(steps - jobs) < 1e-6 * (1 + std::abs(steps)) ? (whole_job ? of_jobs : of_steps)
          : steps < jobs                                        ? of_steps
                                                                : of_jobs;
}

}  // namespace tandem::stats
