#include "tune/recurring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "search/pareto.h"
#include "stats/numeric/distributions.h"

namespace tandem::tune {
namespace {

// Before anything was seen, one run in ten may be much unluckier than the others of its batch size, and one
// in twenty never arrives.
constexpr double kUnlucky = 0.1, kBadLuck = 0.5, kBroken = 0.05;
constexpr double kSliceError = 0.02;  // of a measured epoch cost
constexpr double kFewestToCome = 50;

}  // namespace

Recurring::Recurring(RecurringJob job) : job_(std::move(job)), costs_(job_), arms_(job_.batches.size()) {
  check(job_);
}

std::size_t Recurring::index(std::int64_t batch) const {
  check_batch(job_, batch);
  const auto found = std::lower_bound(job_.batches.begin(), job_.batches.end(), batch);
  return static_cast<std::size_t>(found - job_.batches.begin());
}

bool Recurring::any_success() const {
  return std::any_of(arms_.begin(), arms_.end(), [](const Arm& of) { return of.reached > 0; });
}

double Recurring::Outlook::mean() const {
  const double arrives = epochs.mean + epoch_cost.mean + (epochs.variance + epoch_cost.variance + luck) / 2;
  return std::exp(arrives) / (1 - broken);
}

double Recurring::Outlook::an_epoch() const {
  return std::exp(epoch_cost.mean + epoch_cost.variance / 2);
}

std::vector<Recurring::Outlook> Recurring::outlooks() const {
  const double luck_now = luck(attempts_ + 1);
  std::vector<Sighting> costs;
  for (const auto batch : job_.batches)
    if (const auto known = costs_.best(batch))
      costs.push_back({static_cast<double>(batch), std::log(known->cost), kSliceError * kSliceError});
  const auto of_epochs = batch_curve(sightings(luck_now), job_.batches);
  const auto of_costs = batch_curve(std::move(costs), job_.batches);
  std::vector<Outlook> out;
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    const auto failed = static_cast<double>(arms_[i].failed), reached = static_cast<double>(arms_[i].reached);
    out.push_back({of_epochs[i], of_costs[i], luck_now, (kBroken + failed) / (1 + reached + failed)});
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
  Trial out{0, INFINITY};
  double arrived = 0, spent = 0;  // share of runs, and what they cost
  for (std::int64_t n = 1; n <= job_.most_epochs; ++n) {
    const double by_now = (1 - of.broken) * arrived_by(of, static_cast<double>(n) + 0.5);
    const double so_far = static_cast<double>(n) * of.an_epoch();
    spent += (by_now - arrived) * so_far;
    arrived = by_now;
    const double cost = spent + (1 - arrived) * (so_far + alternative);
    const bool enough = so_far >= alternative || n == job_.most_epochs;
    if (enough && cost < out.cost) out = {static_cast<double>(n), cost};
    if (cost > 10 * alternative && so_far > 10 * alternative) break;  // it only gets worse
  }
  return out;
}

// By how much a run of it is expected to lower what runs to come cost each, where the cheapest of the others
// costs `other`: it may turn out to be cheaper than that or, if it is the cheapest, dearer after all.
double Recurring::gain(const Outlook& of, double other) const {
  const double unknown = of.epochs.variance + of.epoch_cost.variance, mean = of.mean();
  const double deviation = unknown / std::sqrt(unknown + of.luck);  // of what will be believed after it
  const double d = std::log(other / mean) / deviation, half = deviation / 2;
  const double cheaper = other * stats::normal_cdf(d + half) - mean * stats::normal_cdf(d - half);
  return std::max(0.0, mean > other ? cheaper : cheaper - (other - mean));
}

// Next to a batch size that ran, or within a doubling of one: what is learned there says whether to go on, at
// less risk than a leap into what the curves know nothing of.
bool Recurring::near(std::size_t at) const {
  const auto ran = [&](std::size_t i) { return i < arms_.size() && arms_[i].ran(); };
  if ((at > 0 && ran(at - 1)) || ran(at + 1)) return true;
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

std::variant<RecurringPlan, std::string> Recurring::propose(const std::vector<std::int64_t>& running) const {
  if (!any_success()) return before_any_success();
  const auto all = outlooks();
  const std::size_t known = best(all);
  const double cost = all[known].mean();
  const auto worth = [&](std::size_t i) {
    double other = INFINITY;
    for (std::size_t j = 0; j < all.size(); ++j)
      if (j != i && arms_[j].reached > 0) other = std::min(other, all[j].mean());
    const double learned = std::isfinite(other) ? runs_to_come() * gain(all[i], other) : 0;
    return i == known ? learned : learned - (trial(all[i], cost).cost - cost);
  };
  std::size_t chosen = known;
  double most = worth(known);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool runs = std::find(running.begin(), running.end(), job_.batches[i]) != running.end();
    if (i == known || runs || arms_[i].given_up() || !near(i)) continue;
    if (const double here = worth(i); here > most) most = here, chosen = i;
  }
  const auto batch = job_.batches[chosen];
  RecurringPlan out{batch, limit(batch).watts, stop_cost(batch), chosen != known, {}, worth_a_look(batch)};
  out.why = chosen == known
                ? fmt::format("cheapest known: about {:.3g} J a run", cost)
                : fmt::format("about {:.3g} J a run, and may be less than the best known ({:.3g} J)",
                              all[chosen].mean(), cost);
  return out;
}

// Nothing to compare with: the default, then what is nearest to it, smaller ones first, the least failed
// before the others.
std::variant<RecurringPlan, std::string> Recurring::before_any_success() const {
  std::optional<std::size_t> chosen;
  const auto rank = [&](std::size_t i) {
    const double away =
        std::log(static_cast<double>(job_.batches[i]) / static_cast<double>(job_.default_batch));
    return std::tuple(arms_[i].failed, std::abs(away), away > 0);
  };
  for (std::size_t i = 0; i < arms_.size(); ++i)
    if (!arms_[i].given_up() && (!chosen || rank(i) < rank(*chosen))) chosen = i;
  if (!chosen)
    return fmt::format(
        "no batch size reached the target within {} epochs, each was tried twice: allow more epochs, or "
        "choose a target that can be reached, other batch sizes or other learning rates",
        job_.most_epochs);
  const auto batch = job_.batches[*chosen];
  return RecurringPlan{batch,
                       limit(batch).watts,
                       INFINITY,
                       batch != job_.default_batch,
                       batch == job_.default_batch ? "the default" : "no batch size reached the target yet",
                       worth_a_look(batch)};
}

std::vector<double> Recurring::beside(double limit) const {
  const auto at = std::find(job_.limits.begin(), job_.limits.end(), limit);
  return {at == job_.limits.begin() ? at : std::prev(at),
          std::next(at) == job_.limits.end() ? job_.limits.end() : std::next(at, 2)};
}

std::optional<double> Recurring::settled(std::int64_t batch) const {
  const auto best = costs_.best(batch);
  if (!best) return std::nullopt;
  const auto near = beside(best->limit);
  const bool seen =
      std::all_of(near.begin(), near.end(), [&](double limit) { return costs_.find(batch, limit); });
  return seen ? std::optional(best->limit) : std::nullopt;
}

std::vector<double> Recurring::worth_a_look(std::int64_t batch) const {
  if (const auto one = settled(batch)) return {*one};
  if (const auto best = costs_.best(batch)) return beside(best->limit);
  std::optional<double> there;
  double nearest = INFINITY;
  for (const auto& [other, cells] : costs_.cells()) {
    const double away = std::abs(std::log(static_cast<double>(batch) / static_cast<double>(other)));
    if (const auto found = settled(other); found && away < nearest) there = found, nearest = away;
  }
  return there ? beside(*there) : job_.limits;
}

Recurring::Limit Recurring::limit(std::int64_t batch) const {
  index(batch);
  if (const auto probe = costs_.worth_probing(batch)) return {*probe, true};
  return {costs_.best(batch)->limit, false};
}

double Recurring::stop_cost(std::int64_t batch) const {
  const std::size_t at = index(batch);
  if (!any_success()) return INFINITY;
  const auto all = outlooks();
  const double cost = all[best(all)].mean();
  return trial(all[at], cost).stop_epochs * all[at].an_epoch();
}

std::vector<RecurringCell> Recurring::cells() const {
  std::vector<RecurringCell> out;
  std::vector<search::Losses> taken;
  if (!any_success()) return out;
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
