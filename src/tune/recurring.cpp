#include "tune/recurring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "search/pareto.h"
#include "stats/distributions.h"

namespace tandem::tune {
namespace {

// Before anything was seen: runs of one batch size differ by 15 % (of time to accuracy, 14 % has been
// reported), as if three runs had shown it; one in ten may be unluckier still, and one in fifty never
// arrives.
constexpr double kLuck = 0.15, kLuckWeight = 3, kUnlucky = 0.1, kBadLuck = 0.5, kBroken = 0.02;
constexpr double kDrift = 0.005;      // by which a curve may have moved from one attempt to the next
constexpr double kSliceError = 0.02;  // of a measured epoch cost
constexpr double kFewestToCome = 50;

bool ascending_and_positive(const auto& numbers) {
  if (numbers.empty()) return false;
  double last = 0;
  for (const auto number : numbers) {
    if (!std::isfinite(static_cast<double>(number)) || !(number > last)) return false;
    last = static_cast<double>(number);
  }
  return true;
}

void check(const RecurringJob& job) {
  const auto refuse = [](const std::string& what) { throw UserError("recurring job: " + what); };
  if (!ascending_and_positive(job.batches)) refuse("its batch sizes must be positive and ascending");
  if (!ascending_and_positive(job.limits)) refuse("its power limits must be positive watts, ascending");
  if (std::find(job.batches.begin(), job.batches.end(), job.default_batch) == job.batches.end())
    refuse(fmt::format("its default batch size {} is not among its batch sizes: add it", job.default_batch));
  if (!(job.energy_weight >= 0 && job.energy_weight <= 1))
    refuse(fmt::format("the weight of energy is {}: it must be from 0 (only time) to 1", job.energy_weight));
  if (job.most_epochs < 1) refuse("it must be allowed at least one epoch");
  if (job.recurrences && *job.recurrences < 1) refuse("it must come at least once");
}

}  // namespace

Recurring::Recurring(RecurringJob job) : job_(std::move(job)), costs_(job_), arms_(job_.batches.size()) {
  check(job_);
}

std::size_t Recurring::index(std::int64_t batch) const {
  const auto found = std::lower_bound(job_.batches.begin(), job_.batches.end(), batch);
  if (found == job_.batches.end() || *found != batch)
    throw UserError(fmt::format("recurring job: batch size {} is none of its own", batch));
  return static_cast<std::size_t>(found - job_.batches.begin());
}

Recurring::Arm& Recurring::arm(std::int64_t batch) {
  return arms_[index(batch)];
}

void Recurring::learn(const EpochSlice& slice) {
  index(slice.batch);
  if (std::find(job_.limits.begin(), job_.limits.end(), slice.limit) == job_.limits.end())
    throw UserError(fmt::format("recurring job: {} W is none of its power limits", slice.limit));
  const auto positive = [](double number) { return std::isfinite(number) && number > 0; };
  if (!positive(slice.epochs) || !positive(slice.seconds) || !positive(slice.joules))
    throw UserError(fmt::format("recurring job: {} epochs in {} s with {} J cannot be: all must be positive",
                                slice.epochs, slice.seconds, slice.joules));
  costs_.add(slice);
}

void Recurring::learn(const AttemptEnded& end) {
  auto& of = arm(end.batch);
  const bool ran = std::isfinite(end.epochs) && end.epochs > 0;
  if (!ran && !(end.ending == Ending::failed && end.epochs == 0))
    throw UserError(fmt::format("recurring job: an attempt of {} epochs cannot be", end.epochs));
  ++attempts_;
  of.reached += end.ending == Ending::reached;
  of.failed += end.ending == Ending::failed;
  if (ran) of.past.push_back({end.epochs, attempts_, end.ending != Ending::reached});
}

// Pooled over batch sizes: each has too few runs of its own.
double Recurring::luck() const {
  double squares = kLuckWeight * kLuck * kLuck, freedom = kLuckWeight;
  for (const auto& of : arms_) {
    double sum = 0, count = 0, square = 0;
    for (const auto& past : of.past) {
      if (past.at_least) continue;
      const double log = std::log(past.epochs);
      sum += log, square += log * log, count += 1;
    }
    if (count == 0) continue;
    squares += std::max(0.0, square - sum * sum / count);
    freedom += count - 1;
    // Stopped later than the others arrived: at least that unlucky.
    for (const auto& past : of.past) {
      const double beyond = std::log(past.epochs) - sum / count;
      if (past.at_least && beyond > 0) squares += beyond * beyond, freedom += 1;
    }
  }
  return squares / freedom;
}

double Recurring::Outlook::mean() const {
  return std::exp(epochs.mean + epoch_cost.mean + (epochs.variance + epoch_cost.variance + luck) / 2);
}

std::vector<Recurring::Outlook> Recurring::outlooks() const {
  const double luck_now = luck();
  std::vector<Sighting> epochs, costs;
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    const auto batch = static_cast<double>(job_.batches[i]);
    if (const auto known = costs_.best(job_.batches[i]))
      costs.push_back({batch, std::log(known->cost), kSliceError * kSliceError});
    double weight = 0, sum = 0;
    for (const auto& past : arms_[i].past) {
      const double variance = luck_now + kDrift * kDrift * static_cast<double>(attempts_ - past.when);
      if (past.at_least)
        epochs.push_back({batch, std::log(past.epochs), variance, true});
      else
        weight += 1 / variance, sum += std::log(past.epochs) / variance;
    }
    if (weight > 0) epochs.push_back({batch, sum / weight, 1 / weight});
  }
  const auto of_epochs = batch_curve(std::move(epochs), job_.batches);
  const auto of_costs = batch_curve(std::move(costs), job_.batches);
  std::vector<Outlook> out;
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    const auto& of = arms_[i];
    const double runs = static_cast<double>(of.reached + of.failed);
    out.push_back(
        {of_epochs[i], of_costs[i], luck_now, (kBroken + static_cast<double>(of.failed)) / (1 + runs)});
    if (const auto known = costs_.best(job_.batches[i]))
      out.back().epoch_cost = {std::log(known->cost), 0};  // measured: no curve knows better
  }
  return out;
}

// The cheapest of those that have reached the target; call only when there is one.
std::size_t Recurring::best(const std::vector<Outlook>& all) const {
  std::size_t out = all.size();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (arms_[i].reached > 0 && (out == all.size() || all[i].mean() < all[out].mean())) out = i;
  return out;
}

// Of the runs that arrive at all. Some are much less lucky than others of their kind: without room for them,
// whoever stops what takes longer than usual never learns that it would have arrived.
double Recurring::arrived_by(const Outlook& of, double epochs) const {
  const double variance = of.epochs.variance + of.luck, away = std::log(epochs) - of.epochs.mean;
  return (1 - kUnlucky) * stats::normal_cdf(away / std::sqrt(variance)) +
         kUnlucky * stats::normal_cdf(away / std::sqrt(variance + kBadLuck * kBadLuck));
}

// After which epoch to stop an attempt, so that it and what follows cost least: an attempt that is stopped is
// followed by `alternative`. It gets at least what that would have cost, or it could not show to be better.
Recurring::Trial Recurring::trial(const Outlook& of, double alternative) const {
  const double an_epoch = std::exp(of.epoch_cost.mean + of.epoch_cost.variance / 2);
  Trial out{0, INFINITY};
  double arrived = 0, spent = 0;  // share of runs, and what they cost
  for (std::int64_t n = 1; n <= job_.most_epochs; ++n) {
    const double by_now = (1 - of.broken) * arrived_by(of, static_cast<double>(n) + 0.5);
    const double so_far = static_cast<double>(n) * an_epoch;
    spent += (by_now - arrived) * so_far;
    arrived = by_now;
    const double cost = spent + (1 - arrived) * (so_far + alternative);
    const bool enough = so_far >= alternative || n == job_.most_epochs;
    if (enough && cost < out.cost) out = {static_cast<double>(n), cost};
    if (cost > 10 * alternative && so_far > 10 * alternative) break;  // it only gets worse
  }
  return out;
}

// By how much a run of it is expected to lower what the best known costs a run.
double Recurring::gain(const Outlook& of, double best) const {
  const double unknown = of.epochs.variance + of.epoch_cost.variance;
  const double deviation = unknown / std::sqrt(unknown + of.luck);  // of what will be believed after it
  const double mean = std::log(of.mean()) - deviation * deviation / 2;
  const double d = (std::log(best) - mean) / deviation;
  const double out = best * stats::normal_cdf(d) - of.mean() * stats::normal_cdf(d - deviation);
  return (1 - of.broken) * std::max(0.0, out);
}

// Next to a batch size that ran, or within a doubling of one: what is learned there says whether to go on, at
// less risk than a leap into what the curves know nothing of.
bool Recurring::near(std::size_t at) const {
  const auto ran = [&](std::size_t i) { return i < arms_.size() && !arms_[i].past.empty(); };
  if (ran(at - 1) || ran(at + 1)) return true;
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    const auto [small, large] = std::minmax(job_.batches[i], job_.batches[at]);
    if (ran(i) && large <= 2 * small) return true;
  }
  return false;
}

double Recurring::runs_to_come() const {
  if (job_.recurrences) return std::max(0.0, static_cast<double>(*job_.recurrences - attempts_ - 1));
  return std::max(kFewestToCome, static_cast<double>(attempts_));
}

std::variant<RecurringPlan, std::string> Recurring::propose() const {
  const bool success = std::any_of(arms_.begin(), arms_.end(), [](const Arm& of) { return of.reached > 0; });
  if (!success) return before_any_success();
  const auto all = outlooks();
  const std::size_t known = best(all);
  const double cost = all[known].mean();
  std::size_t chosen = known;
  double most = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == known || arms_[i].given_up() || !near(i)) continue;
    const double worth = runs_to_come() * gain(all[i], cost) - (trial(all[i], cost).cost - cost);
    if (worth > most) most = worth, chosen = i;
  }
  const auto batch = job_.batches[chosen];
  RecurringPlan out{batch, limit(batch).watts, stop_cost(batch), chosen != known, {}};
  out.why = chosen == known
                ? fmt::format("cheapest known: about {:.3g} J a run", cost)
                : fmt::format("about {:.3g} J a run, and may be less than the best known ({:.3g} J)",
                              all[chosen].mean(), cost);
  return out;
}

// Nothing to compare with: the default, then what is nearest to it, smaller ones first, the least failed
// before the others.
std::variant<RecurringPlan, std::string> Recurring::before_any_success() const {
  const auto tried = [](const Arm& of) { return of.past.size() + static_cast<std::size_t>(of.failed); };
  std::optional<std::size_t> chosen;
  const auto rank = [&](std::size_t i) {
    const double away =
        std::log(static_cast<double>(job_.batches[i]) / static_cast<double>(job_.default_batch));
    return std::tuple(tried(arms_[i]), std::abs(away), away > 0);
  };
  for (std::size_t i = 0; i < arms_.size(); ++i)
    if (!arms_[i].given_up() && (!chosen || rank(i) < rank(*chosen))) chosen = i;
  if (!chosen)
    return fmt::format(
        "no batch size reached the target within {} epochs, each was tried twice: allow more epochs, choose "
        "a "
        "target that can be reached, or other batch sizes or learning rates",
        job_.most_epochs);
  const auto batch = job_.batches[*chosen];
  return RecurringPlan{batch, limit(batch).watts, INFINITY, batch != job_.default_batch,
                       batch == job_.default_batch ? "the default" : "no batch size reached the target yet"};
}

Recurring::Limit Recurring::limit(std::int64_t batch) const {
  index(batch);
  if (const auto probe = costs_.worth_probing(batch)) return {*probe, true};
  return {costs_.best(batch)->limit, false};
}

double Recurring::stop_cost(std::int64_t batch) const {
  const std::size_t at = index(batch);
  if (std::none_of(arms_.begin(), arms_.end(), [](const Arm& of) { return of.reached > 0; })) return INFINITY;
  const auto all = outlooks();
  const double cost = all[best(all)].mean();
  const auto plan = trial(all[at], cost);
  return plan.stop_epochs * std::exp(all[at].epoch_cost.mean + all[at].epoch_cost.variance / 2);
}

std::vector<RecurringCell> Recurring::cells() const {
  std::vector<RecurringCell> out;
  std::vector<search::Losses> taken;
  if (std::none_of(arms_.begin(), arms_.end(), [](const Arm& of) { return of.reached > 0; })) return out;
  const auto all = outlooks();
  for (const auto& [batch, limits] : costs_.cells()) {
    const std::size_t at = index(batch);
    if (arms_[at].reached == 0) continue;
    const double epochs = std::exp(all[at].epochs.mean + (all[at].epochs.variance + all[at].luck) / 2);
    for (const auto& [limit, cell] : limits)
      out.push_back(
          {batch, limit, epochs, epochs * cell.seconds, epochs * cell.joules, epochs * costs_.cost(cell)});
  }
  for (const auto& cell : out) taken.push_back({cell.seconds, cell.joules});
  const auto ranks = search::ranks(taken);
  for (std::size_t i = 0; i < out.size(); ++i) out[i].rank = ranks[i];
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.cost < b.cost; });
  return out;
}

}  // namespace tandem::tune
