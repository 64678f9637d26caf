#include "bench/dias_local/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/dias_server.h"

namespace tandem::bench {
namespace {

using stats::Discipline;

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

Outcome really(Stage& stage, const Contender& contender, const Calibration& measured,
               const std::vector<sim::DiasArrival>& arrivals) {
  bags::BagPolicy policy{contender.discipline, {}, contender.limit, measured.power.extra()};
  for (const std::size_t which : {kHigh, kLow})
    policy.classes.push_back(
        {stage.options().tasks, contender.choice.drops[which], contender.choice.timeouts[which]});
  std::vector<bags::BagArrival> jobs;
  for (const auto& arrival : arrivals) jobs.push_back({Seconds{arrival.at}, arrival.which});
  const auto played = stage.play(jobs, policy);
  Outcome out;
  for (const std::size_t which : {kHigh, kLow}) {
    std::vector<double> responses, losses;
    for (std::size_t i = 0; i < played.run.ends.size(); ++i) {
      if (played.run.ends[i].which != which) continue;
      responses.push_back(played.run.ends[i].response().value);
      losses.push_back(played.loss[i]);
    }
    out.classes.push_back({mean(responses), p95(responses), mean(losses), responses.size()});
  }
  out.waste = played.run.waste();
  out.sprinted = played.run.sprinted.value;
  if (played.run.energy) {
    out.joules = played.run.energy->joules.value;
    out.energy_source = played.run.energy->source;
  }
  return out;
}

Outcome simulated(const Contender& contender, const Calibration& measured,
                  const std::vector<sim::DiasArrival>& arrivals) {
  sim::DiasServer server(2,
                         {contender.discipline, measured.power, contender.choice.timeouts, contender.limit});
  for (const auto& arrival : arrivals)
    server.arrive({arrival.at, arrival.which, service(measured, contender, arrival.which)});
  server.arrive({arrivals.back().at + 1e6, kHigh, 1});  // long after: works off who is still there
  Outcome out;
  for (const std::size_t which : {kHigh, kLow}) {
    const auto& seen = server.seen(which).response;
    out.classes.push_back({seen.mean(), seen.percentile(0.95),
                           measured.classes[which].by_drop.at(contender.choice.drops[which]).loss,
                           seen.count()});
  }
  const auto& account = server.account();
  out.waste = account.waste();
  out.sprinted = account.sprinted;
  out.joules = (measured.power.base * Seconds{account.busy - account.sprinted} +
                measured.power.sprint * Seconds{account.sprinted})
                   .value;
  out.energy_source = "model, while a job runs";
  return out;
}

Table outcome_table(const std::string& caption, const std::vector<Comparison>& all, bool here) {
  Table table{caption,
              {"policy", "high mean s", "Δ", "high p95 s", "low mean s", "Δ", "low p95 s", "Δ", "waste",
               "sprinted s", "energy J", "low loss"},
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
         delta(low.p95, first.classes[kLow].p95), percent(seen.waste), plain(seen.sprinted, 1),
         seen.joules ? plain(*seen.joules, 0) : "unknown", percent(low.loss)});
  }
  return table;
}

}  // namespace tandem::bench
