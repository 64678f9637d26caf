#include "bench/dias_local/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tandem::bench {
namespace {

using stats::Discipline;

constexpr double kFarApart = 1e6;  // s

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// The value that one in twenty exceeds; of few values the largest.
double p95(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(0.95 * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(rank) - 1];
}

// The drops that were measured are the ones that are offered.
double service(const Calibration& measured, const Contender& contender, std::size_t which) {
  return measured.classes[which].by_drop.at(contender.choice.drops[which]).seconds;
}

std::string named(const std::string& what, const std::vector<double>& drops) {
  return fmt::format("{}({:g},{:g})", what, 100 * drops[kHigh], 100 * drops[kLow]);
}

}  // namespace

std::vector<Contender> contenders(const place::DiasSystem& system, const place::DiasChoice& chosen) {
  const place::DiasChoice nothing{{0, 0}, {std::nullopt, std::nullopt}};
  const place::DiasChoice drops{chosen.drops, nothing.timeouts};
  std::vector<Contender> out{{"P (kill, restart)", Discipline::preemptive_restart, nothing, {}},
                             {"NP", Discipline::non_preemptive, nothing, {}},
                             {named("DA", chosen.drops), Discipline::non_preemptive, drops, {}}};
  if (chosen.timeouts[kHigh])
    out.push_back(
        {named("DiAS", chosen.drops) + " + sprint", Discipline::non_preemptive, chosen, system.limit});
  return out;
}

void Real::play(Stage& stage, const Contender& contender, const Calibration& measured,
                const std::vector<bags::BagArrival>& arrivals) {
  bags::BagPolicy policy{contender.discipline, {}, contender.limit, measured.power.extra()};
  for (const std::size_t which : {kHigh, kLow})
    policy.classes.push_back(
        {stage.options().tasks, contender.choice.drops[which], contender.choice.timeouts[which]});
  const auto played = stage.play(arrivals, policy);
  std::vector<double> low;
  for (std::size_t i = 0; i < played.run.ends.size(); ++i) {
    const auto& end = played.run.ends[i];
    classes_[end.which].responses.push_back(end.response().value);
    classes_[end.which].losses.push_back(played.loss[i]);
    classes_[end.which].executions.push_back(end.executing().value);
    if (end.which == kLow) low.push_back(end.response().value);
  }
  low_means_.push_back(mean(low));
  busy_ += played.run.busy;
  wasted_ += played.run.wasted;
  sprinted_ += played.run.sprinted;
  if (!played.run.energy) joules_.reset();
  if (joules_) *joules_ += played.run.energy->joules;
}

Outcome Real::outcome() const {
  Outcome out;
  for (const auto& of : classes_)
    out.classes.push_back(
        {mean(of.responses), p95(of.responses), mean(of.losses), mean(of.executions), of.responses.size()});
  out.waste = wasted_ / busy_;
  out.sprinted = sprinted_.value;
  if (joules_) out.joules = joules_->value;
  return out;
}

Simulated::Simulated(const Contender& contender, const Calibration& measured)
    : server_(2, {contender.discipline, measured.power, contender.choice.timeouts, contender.limit}) {}

void Simulated::play(const Contender& contender, const Calibration& measured,
                     const std::vector<bags::BagArrival>& arrivals) {
  for (const auto& arrival : arrivals)
    server_.arrive({begin_ + arrival.at.value, arrival.which, service(measured, contender, arrival.which)});
  begin_ += arrivals.back().at.value + kFarApart;
}

Outcome Simulated::outcome(const Contender& contender, const Calibration& measured) {
  server_.arrive({begin_, kHigh, 1});  // long after: works off who is still there
  Outcome out;
  for (const std::size_t which : {kHigh, kLow}) {
    const auto& seen = server_.seen(which).response;
    out.classes.push_back({seen.mean(), seen.percentile(0.95),
                           measured.classes[which].by_drop.at(contender.choice.drops[which]).loss,
                           server_.seen(which).executing / static_cast<double>(seen.count()), seen.count()});
  }
  const auto& account = server_.account();
  out.waste = account.waste();
  out.sprinted = account.sprinted;
  out.joules = (measured.power.base * Seconds{account.busy - account.sprinted} +
                measured.power.sprint * Seconds{account.sprinted})
                   .value;
  return out;
}

Table spread_table(const std::vector<Comparison>& all) {
  Table table{
      "Low mean s by round on this machine, and its change against P in the same round", {"policy"}, {}};
  for (std::size_t round = 0; round < all[0].low_means.size(); ++round)
    table.header.insert(table.header.end(), {fmt::format("round {}", round + 1), "Δ"});
  for (const auto& one : all) {
    table.rows.push_back({one.contender.name});
    for (std::size_t round = 0; round < one.low_means.size(); ++round) {
      table.rows.back().push_back(plain(one.low_means[round], 2));
      table.rows.back().push_back(signed_percent(one.low_means[round] / all[0].low_means[round] - 1));
    }
  }
  return table;
}

Table outcome_table(const std::string& caption, const std::vector<Comparison>& all, bool here) {
  Table table{caption,
              {"policy", "high mean s", "Δ", "high p95 s", "low mean s", "Δ", "low p95 s", "Δ", "low run s",
               "waste", "sprinted s", "energy J", "low loss"},
              {}};
  const auto side = [&](const Comparison& one) -> const Outcome& { return here ? one.here : one.there; };
  const auto& first = side(all[0]);
  const auto delta = [](double now, double before) { return signed_percent(now / before - 1); };
  for (const auto& one : all) {
    const Outcome& seen = side(one);
    const auto &high = seen.classes[kHigh], &low = seen.classes[kLow];
    table.rows.push_back(
        {one.contender.name, plain(high.mean, 2), delta(high.mean, first.classes[kHigh].mean),
         plain(high.p95, 2), plain(low.mean, 2), delta(low.mean, first.classes[kLow].mean), plain(low.p95, 2),
         delta(low.p95, first.classes[kLow].p95), plain(low.executing, 2), percent(seen.waste),
         plain(seen.sprinted, 1), seen.joules ? plain(*seen.joules, 0) : "unknown", percent(low.loss)});
  }
  return table;
}

}  // namespace tandem::bench
