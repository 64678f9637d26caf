// Fitting the residual process: merging rows, choosing sizes and lengths by marginal likelihood, and weights.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/random.h"
#include "stats/numeric/cholesky.h"
#include "stats/numeric/matern.h"
#include "stats/numeric/median.h"
#include "stats/regression/residual_process.h"

namespace tandem::stats {

class ResidualFit {
 public:
  ResidualFit(std::span<const double> rows, const ResidualProcess::Columns& columns,
              std::span<const LawShares> shares, std::span<const double> residuals, ResidualProcess& out)
      : out_(out), count_(residuals.size()) {
    out_ = {};
    for (std::size_t c = 0; c < columns.width; ++c) {
      const std::size_t before = out_.columns_.size();
      add_column(rows, columns.width, c);
      if (c == columns.main && out_.columns_.size() > before) main_ = before;
      if (c == columns.replicas && out_.columns_.size() > before) replicas_ = before;
    }
    merge(shares, residuals);
  }

  void run() {
    set_up_parts();
    if (out_.columns_.empty() || kept_.size() < 3) return finish_without();
    std::vector<double> at;
    for (const auto& prior : prior_) at.push_back(prior.middle);
    choose(at, std::min(kept_.size(), ResidualProcess::kScout), 8);
    // Stalled runs make all look noisy: chosen again once it is known which they are.
    const std::size_t chosen = std::min(kept_.size(), ResidualProcess::kChosen);
    doubt_.assign(kept_.size(), 1);
    doubt(chosen);
    choose(at, chosen, 4);
    doubt_.assign(kept_.size(), 1);
    weigh();
  }

 private:
  using FitColumn = ResidualProcess::Column;
  struct Merged {
    std::vector<std::uint32_t> levels{};
    LawShares share{};
    double mean = 0, count = 0;
  };
  struct Table {
    std::vector<double> values{};
    std::size_t width = 0;
  };
  struct Prior {
    double middle, spread;
  };
  // How far a part reaches along a column: not in it, so far as that column's number says, the same times one
  // ratio, the main column's or a session's number, or only to rows that have the very same value.
  enum class Reach { absent, own, scaled, main, drift, exact };

  void add_column(std::span<const double> rows, std::size_t width, std::size_t c) {
    FitColumn column{c, true, 1, {}};
    std::vector<double> values;
    for (std::size_t i = 0; i < count_; ++i) values.push_back(rows[i * width + c]);
    column.logarithm = *std::min_element(values.begin(), values.end()) > 0;
    if (column.logarithm)
      for (double& each : values) each = std::log(each);
    double mean = 0, variance = 0;
    for (const double each : values) mean += each / static_cast<double>(count_);
    for (const double each : values) variance += (each - mean) * (each - mean) / static_cast<double>(count_);
    if (!(variance > 1e-18 * (1 + mean * mean))) return;  // it never changes
    column.scale = std::sqrt(variance);
    for (double& each : values) each /= column.scale;
    column.levels = values;
    std::sort(column.levels.begin(), column.levels.end());
    column.levels.erase(std::unique(column.levels.begin(), column.levels.end()), column.levels.end());
    for (std::size_t i = 0; i < count_; ++i)
      level_at_.push_back(static_cast<std::uint32_t>(
          std::lower_bound(column.levels.begin(), column.levels.end(), values[i]) - column.levels.begin()));
    out_.columns_.push_back(std::move(column));
  }

  // Rows that are alike become one, which is so much surer.
  void merge(std::span<const LawShares> shares, std::span<const double> residuals) {
    std::map<std::vector<std::uint32_t>, std::size_t> seen;
    std::vector<std::vector<double>> repeats;
    const std::size_t columns = out_.columns_.size();
    for (std::size_t i = 0; i < count_; ++i) {
      std::vector<std::uint32_t> levels(columns);
      for (std::size_t c = 0; c < columns; ++c) levels[c] = level_at_[c * count_ + i];
      const auto [at, fresh] = seen.emplace(levels, kept_.size());
      if (fresh) {
        kept_.push_back({levels, shares[i], 0, 0}), synced_ = synced_ || shares[i].sync > 0;
        repeats.emplace_back();
      }
      repeats[at->second].push_back(residuals[i]);
    }
    for (std::size_t i = 0; i < kept_.size(); ++i) settle(repeats[i], kept_[i]);
    Random random(1, hash_name("rows of a residual"));
    for (std::size_t i = 0; i + 1 < kept_.size(); ++i)
      std::swap(kept_[i], kept_[i + random.below(kept_.size() - i)]);
    if (kept_.size() > ResidualProcess::kKept) kept_.resize(ResidualProcess::kKept);
    for (std::size_t c = 0; c < columns; ++c) number_levels(c);
  }

  // Their mean, without those that most of the others contradict: a stalled run says nothing of the next one.
  // Of two that differ nobody knows which one is right.
  static void settle(const std::vector<double>& repeats, Merged& out) {
    constexpr double kStalled = 6, kLeast = 0.02;
    const double middle = median(repeats);
    std::vector<double> off;
    for (const double each : repeats) off.push_back(std::abs(each - middle));
    const double most = repeats.size() < 3 ? INFINITY : kStalled * std::max(kLeast, median(off));
    for (const double each : repeats)
      if (std::abs(each - middle) <= most) out.count += 1, out.mean += (each - out.mean) / out.count;
  }

  // In the order in which kept rows need them: the first rows need the first levels only, and nobody the
  // levels of rows that were not kept.
  void number_levels(std::size_t c) {
    auto& levels = out_.columns_[c].levels;
    std::vector<double> needed;
    std::map<std::uint32_t, std::uint32_t> number;
    for (auto& row : kept_) {
      const auto [at, fresh] = number.emplace(row.levels[c], static_cast<std::uint32_t>(needed.size()));
      if (fresh) needed.push_back(levels[row.levels[c]]);
      row.levels[c] = at->second;
    }
    levels = std::move(needed);
  }

  void add_part(ResidualProcess::Acts acts, Reach of_main, Reach of_others) {
    out_.parts_.push_back({acts});
    reach_.emplace_back(out_.columns_.size(), of_others);
    if (main_ < out_.columns_.size()) reach_.back()[main_] = of_main;
  }

  void set_up_parts() {
    using Acts = ResidualProcess::Acts;
    add_part(Acts::everywhere, Reach::own, Reach::own);
    if (main_ < out_.columns_.size() && out_.columns_.size() > 1) {
      add_part(Acts::on_work, Reach::main, Reach::absent);
      add_part(Acts::everywhere, Reach::absent, Reach::scaled);
      if (synced_) add_part(Acts::on_sync, Reach::absent, Reach::scaled);
      rough_ = out_.parts_.size();
      add_part(Acts::on_host, Reach::drift, Reach::exact);
      if (synced_) add_part(Acts::on_sync, Reach::drift, Reach::exact);
      if (replicas_ < out_.columns_.size() && out_.columns_.size() > 2) {
        add_part(Acts::on_work, Reach::exact, Reach::absent);
        reach_.back()[replicas_] = Reach::exact;
      }
    }
    set_priors();
  }

  // Numbers to be chosen: noise, and how much noisier synchronisation is; the size of each part; the lengths
  // of each column, of the main one where it is alone, a ratio for the others then, and along a session.
  void set_priors() {
    double square = 0;
    for (const auto& each : kept_) square += each.mean * each.mean / static_cast<double>(kept_.size());
    const double typical = 0.5 * std::log(std::max(square, 1e-8));
    prior_ = {{typical - 1, 1.5}, {0, 1.5}};
    for (std::size_t p = 0; p < out_.parts_.size(); ++p)
      prior_.push_back({typical - (p < rough_ ? 0.5 : 1.5), 1.5});
    for (std::size_t c = 0; c < out_.columns_.size(); ++c) prior_.push_back({0.7, 1});
    if (out_.parts_.size() > 1) prior_.insert(prior_.end(), {{-0.5, 1}, {-0.5, 1}, {1, 1}});
  }

  void put(const std::vector<double>& at) {
    constexpr double kExact = 1e-6;  // of a deviation
    const std::size_t columns = out_.columns_.size(), parts = out_.parts_.size(), own = 2 + parts;
    out_.noise_ = std::exp(at[0]), sync_noise_ = std::exp(2 * at[1]);
    const auto length = [&](Reach reach, std::size_t c) {
      switch (reach) {
        case Reach::own:
          return std::exp(at[own + c]);
        case Reach::main:
          return std::exp(at[own + columns]);
        case Reach::scaled:
          return std::exp(at[own + c] + at[own + columns + 1]);
        case Reach::drift:
          return std::exp(at[own + columns + 2]);
        case Reach::exact:
          return kExact;
        case Reach::absent:
          break;
      }
      return 0.0;
    };
    for (std::size_t p = 0; p < parts; ++p) {
      out_.parts_[p].size = std::exp(2 * at[2 + p]);
      out_.parts_[p].lengths.resize(columns);
      for (std::size_t c = 0; c < columns; ++c) out_.parts_[p].lengths[c] = length(reach_[p][c], c);
    }
  }

  // The covariance of the first n kept rows, noise included; its lower half.
  std::vector<double> covariance(std::size_t n) const {
    const std::size_t columns = out_.columns_.size();
    std::vector<double> sum(n * n, 0.0), line(n);
    for (const auto& part : out_.parts_) {
      std::vector<Table> near(columns);
      for (std::size_t c = 0; c < columns; ++c)
        if (part.lengths[c] > 0) near[c] = closeness(c, part.lengths[c], n);
      for (std::size_t i = 0; i < n; ++i) {
        const double size = part.size * ResidualProcess::exposure(part.acts, kept_[i].share);
        for (std::size_t j = 0; j <= i; ++j)
          line[j] = size * ResidualProcess::exposure(part.acts, kept_[j].share);
        for (std::size_t c = 0; c < columns; ++c) {
          if (near[c].values.empty()) continue;
          const double* to = &near[c].values[kept_[i].levels[c] * near[c].width];
          for (std::size_t j = 0; j <= i; ++j) line[j] *= to[kept_[j].levels[c]];
        }
        for (std::size_t j = 0; j <= i; ++j) sum[i * n + j] += line[j];
      }
    }
    for (std::size_t i = 0; i < n; ++i) sum[i * n + i] += noise_of(i);
    return sum;
  }

  // Of the levels that the first n kept rows need.
  Table closeness(std::size_t c, double length, std::size_t n) const {
    Table out;
    for (std::size_t i = 0; i < n; ++i) out.width = std::max<std::size_t>(out.width, kept_[i].levels[c] + 1);
    const auto& levels = out_.columns_[c].levels;
    for (std::size_t i = 0; i < out.width; ++i)
      for (std::size_t j = 0; j < out.width; ++j)
        out.values.push_back(matern((levels[i] - levels[j]) / length));
    return out;
  }

  double noise_of(std::size_t i) const {
    const double doubt = doubt_.empty() ? 1 : doubt_[i], sync = kept_[i].share.sync;
    return out_.noise_ * out_.noise_ * (1 + sync_noise_ * sync * sync) * doubt / kept_[i].count + 1e-10;
  }

  std::vector<double> means(std::size_t n) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(kept_[i].mean);
    return out;
  }

  // Minus twice the logarithm of likelihood and prior, of the first n kept rows.
  double cost(const std::vector<double>& at, std::size_t n) {
    put(at);
    double sum = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double off = (at[i] - prior_[i].middle) / prior_[i].spread;
      sum += off * off;
    }
    const Cholesky factor(covariance(n), n);
    if (!factor.ok()) return INFINITY;
    for (const double each : factor.half(means(n))) sum += each * each;
    return sum + factor.log_determinant();
  }

  // From `at` on, one number at a time, by steps that grow while they help and shrink when they do not.
  void choose(std::vector<double>& at, std::size_t n, int rounds) {
    std::vector<double> stride(at.size(), 0.7);
    double best = cost(at, n);
    for (int round = 0; round < rounds; ++round) {
      const double before = best;
      for (std::size_t i = 0; i < at.size(); ++i) {
        const double was = at[i];
        bool better = false;
        for (const double sign : {1.0, -1.0}) {
          at[i] = was + sign * stride[i];
          const double there = cost(at, n);
          if (there < best) {
            best = there, better = true, stride[i] *= sign * 1.3;
            break;
          }
        }
        if (!better) at[i] = was, stride[i] *= 0.45;
      }
      if (before - best < 0.1) break;
    }
    put(at);
  }

  // Of the first n kept rows: how much less each counts, so that the least squares of a Gaussian process are
  // the least |said/measured - 1|. That is a density with the edge of Laplace's, lopsided: a run that took
  // much longer than the others say counts little, one that was faster a lot.
  void doubt(std::size_t n) {
    constexpr int kSweeps = 6;
    constexpr double kLeast = 0.3;   // no row counts more than three times as much as a usual one
    constexpr double kFarthest = 2;  // of a logarithm: beyond, a row is as wrong as can be
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const Cholesky factor(covariance(n), n);
      if (!factor.ok()) return;
      const std::vector<double> weights = factor.solve(means(n));
      for (std::size_t i = 0; i < n; ++i) {
        const double off = -weights[i] * noise_of(i);  // log(said/measured)
        const double usual = std::sqrt(2 * noise_of(i) / doubt_[i] * kept_[i].count);
        doubt_[i] =
            std::max(kLeast, std::abs(off) / usual) * std::exp(-std::clamp(off, -kFarthest, kFarthest));
      }
    }
  }

  void weigh() {
    const std::size_t n = kept_.size();
    doubt(n);
    const Cholesky factor(covariance(n), n);
    if (!factor.ok()) return finish_without();
    out_.weights_ = factor.solve(means(n));
    for (const auto& each : kept_) out_.shares_.push_back(each.share);
    for (const auto& each : kept_)
      out_.level_of_.insert(out_.level_of_.end(), each.levels.begin(), each.levels.end());
  }

  void finish_without() {
    out_.columns_.clear(), out_.parts_.clear();
    double square = 0;
    for (const auto& each : kept_) square += each.mean * each.mean / static_cast<double>(kept_.size());
    out_.noise_ = std::sqrt(square);
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  ResidualProcess& out_;
  std::size_t count_, main_ = kNone, replicas_ = kNone;
  std::size_t rough_ = kNone;            // the first part that tells rows apart which lie side by side
  std::vector<std::uint32_t> level_at_;  // column after column
  std::vector<Merged> kept_;
  std::vector<std::vector<Reach>> reach_;  // of each part along each column
  std::vector<Prior> prior_;
  bool synced_ = false;
  double sync_noise_ = 0;
  std::vector<double> doubt_;  // noise of a kept row, as a multiple
};

void ResidualProcess::fit(std::span<const double> rows, const Columns& columns,
                          std::span<const LawShares> shares, std::span<const double> residuals) {
  ResidualFit(rows, columns, shares, residuals, *this).run();
}

}  // namespace tandem::stats
