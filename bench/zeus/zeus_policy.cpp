// Zeus' published policy (NSDI'23), our own code after its description; details that the description leaves
// open (order of pruning, which variance, what stopping compares) are those of the authors' published
// simulator.
//
// Power limit: the first time a batch size runs, its first epoch is cut into as many slices as there are
// limits, one under each; from then on the cheapest. Batch size: first pruning, twice over: from the default
// downwards until one does not reach the target, then upwards likewise; those that reached it are kept, and
// the cheapest is the next round's default. Then Gaussian Thompson sampling over those: flat prior, each
// arm's variance from its own costs. An attempt is stopped before the epoch with which it would cost more
// than twice the cheapest recurrence so far (in the first there is none); the job is then tried again. As in
// the authors' own simulator, an attempt whose first epoch would cost too much is not begun and costs
// nothing.
#include <algorithm>
#include <cmath>
#include <map>

#include "bench/zeus/policies.h"

namespace tandem::bench {
namespace {

constexpr double kBeta = 2;  // as in the paper
constexpr int kRounds = 2;

class Zeus final : public RecurringPolicy {
 public:
  Zeus(const Workload& w, std::uint64_t seed, std::size_t window)
      : job_(w.job),
        random_(seed, hash_name("zeus")),
        window_(window),
        left_(w.job.batches),
        default_(w.job.default_batch) {
    begin_round();
  }

  std::int64_t batch() override {
    if (round_ < kRounds) return queue_[at_];
    std::int64_t best = left_.front();
    double least = INFINITY;
    for (const auto batch : left_)
      if (const double drawn = draw(batch); drawn < least) least = drawn, best = batch;
    return best;
  }

  void carry_out(Attempt& attempt) override {
    const auto batch = attempt.batch();
    const bool profile = !best_limit_.contains(batch);
    const double limit = profile ? cheapest_limit(attempt) : best_limit_.at(batch);
    const double an_epoch = attempt.workload().cost(attempt.workload().epochs.at({batch, limit}));
    const double most = std::floor(kBeta * cheapest_ / an_epoch);
    best_limit_[batch] = limit;
    if (most < 1) return ended(attempt, 100 * kBeta * cheapest_);
    if (profile)
      for (const double each : job_.limits) attempt.run(each, 1.0 / static_cast<double>(job_.limits.size()));
    while (!attempt.over() && attempt.epochs() + 1 <= most + 1e-9) attempt.run(limit, 1);
    ended(attempt, attempt.cost());
  }

 private:
  // What its slices will have shown once they have run; they are paid for in carry_out.
  static double cheapest_limit(const Attempt& attempt) {
    const auto& world = attempt.workload();
    double out = 0, least = INFINITY;
    for (const double limit : world.job.limits)
      if (const double cost = world.cost(world.epochs.at({attempt.batch(), limit})); cost < least)
        least = cost, out = limit;
    return out;
  }

  void begin_round() {
    queue_.clear(), good_.clear(), at_ = 0, upwards_from_ = 0, round_best_ = INFINITY;
    const auto from = std::find(left_.begin(), left_.end(), default_);
    for (auto it = from + 1; it != left_.begin();) queue_.push_back(*--it);
    upwards_from_ = queue_.size();
    queue_.insert(queue_.end(), from + 1, left_.end());
  }

  void ended(const Attempt& attempt, double cost) {
    auto& costs = costs_[attempt.batch()];
    costs.push_back(cost);
    if (window_ > 0 && costs.size() > window_) costs.erase(costs.begin());
    recurrence_ += attempt.cost();
    if (attempt.reached() || ++tries_ == kTries) recurrence_ended(attempt.reached());
    if (round_ < kRounds) prune(attempt.batch(), cost, attempt.reached());
  }

  // With a window, what a recurrence cost before it does not count for stopping either; one that was given up
  // counts as it came, or nothing would ever be allowed to cost more again.
  void recurrence_ended(bool reached) {
    if (reached || window_ > 0) recurrences_.push_back(recurrence_);
    if (window_ > 0 && recurrences_.size() > window_) recurrences_.erase(recurrences_.begin());
    cheapest_ = recurrences_.empty() ? INFINITY : *std::min_element(recurrences_.begin(), recurrences_.end());
    recurrence_ = 0, tries_ = 0;
  }

  void prune(std::int64_t batch, double cost, bool reached) {
    if (reached) {
      good_.push_back(batch);
      if (cost < round_best_) round_best_ = cost, default_ = batch;
      ++at_;
    } else {
      at_ = at_ < upwards_from_ ? upwards_from_ : queue_.size();
    }
    if (at_ < queue_.size()) return;
    if (!good_.empty()) left_ = good_;  // none at all: the paper does not say; all stay
    std::sort(left_.begin(), left_.end());
    if (std::find(left_.begin(), left_.end(), default_) == left_.end()) default_ = left_.front();
    if (++round_ < kRounds) begin_round();
  }

  double draw(std::int64_t batch) {
    const auto& costs = costs_[batch];
    const auto count = static_cast<double>(costs.size());
    double mean = 0, variance = 0;
    for (const double cost : costs) mean += cost / count;
    for (const double cost : costs) variance += (cost - mean) * (cost - mean) / count;
    return mean + std::sqrt(variance / count) * random_.normal();
  }

  tune::RecurringJob job_;
  Random random_;
  std::size_t window_;  // of past costs that count; 0: all
  std::vector<std::int64_t> left_, queue_, good_;
  std::int64_t default_;
  std::size_t at_ = 0, upwards_from_ = 0;
  int round_ = 0;
  double round_best_ = INFINITY, cheapest_ = INFINITY, recurrence_ = 0;
  int tries_ = 0;
  std::vector<double> recurrences_;  // what each cost
  std::map<std::int64_t, double> best_limit_;
  std::map<std::int64_t, std::vector<double>> costs_;
};

}  // namespace

std::unique_ptr<RecurringPolicy> make_zeus(const Workload& w, std::uint64_t seed) {
  return std::make_unique<Zeus>(w, seed, 0);
}
std::unique_ptr<RecurringPolicy> make_zeus_window(const Workload& w, std::uint64_t seed) {
  return std::make_unique<Zeus>(w, seed, 10);
}

}  // namespace tandem::bench
