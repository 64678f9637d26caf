#include "bench/dias_local/calibrate.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "bench/sim_validation/report.h"

namespace tandem::bench {
namespace {

constexpr double kDrops[] = {0, 0.1, 0.2, 0.4};
constexpr std::size_t kOneHighIn = 10;

bags::BagPolicy plain_policy(const Stage& stage, double drop) {
  bags::BagPolicy policy;
  policy.classes.assign(2, bags::BagClass{stage.options().tasks, drop, {}});
  return policy;
}

// Jobs of one class, one after the other.
Played repeat(Stage& stage, std::size_t which, int runs, const bags::BagPolicy& policy) {
  return stage.play(std::vector<bags::BagArrival>(static_cast<std::size_t>(runs), {Seconds{0}, which}),
                    policy);
}

double median_execution(const Played& played) {
  std::vector<double> seconds;
  for (const auto& end : played.run.ends) seconds.push_back(end.executing().value);
  return median(seconds);
}

// What is compared is run in turn, so that all meet the machine as it is then.
Calibration::Class calibrate_class(Stage& stage, std::size_t which, int runs) {
  std::map<double, std::vector<double>> seconds, losses;
  std::vector<double> sprinting;
  auto at_once = plain_policy(stage, 0);
  for (auto& of : at_once.classes) of.timeout = Seconds{0};
  for (int run = 0; run < runs; ++run) {
    for (const double drop : kDrops) {
      const auto played =
          stage.play({{Seconds{0}, which}}, plain_policy(stage, drop), static_cast<std::uint64_t>(run));
      seconds[drop].push_back(median_execution(played));
      losses[drop].push_back(played.loss[0]);
    }
    if (stage.speed().can_sprint()) sprinting.push_back(median_execution(repeat(stage, which, 1, at_once)));
  }
  Calibration::Class out;
  for (const double drop : kDrops) {
    const auto& loss = losses[drop];
    out.by_drop[drop] = {median(seconds[drop]),
                         std::accumulate(loss.begin(), loss.end(), 0.0) / static_cast<double>(loss.size()),
                         *std::max_element(loss.begin(), loss.end())};
  }
  out.sprinting = median(sprinting);
  return out;
}

// The power model's states at either speed; high jobs are those that sprint, so their speed-up counts.
place::PowerStates states_of(const Stage& stage, const Calibration::Class& high) {
  const auto model = stage.power();
  place::PowerStates out;
  out.sprint_hz = 1e9;
  out.base_hz = stage.options().base * out.sprint_hz;
  out.idle = model.idle;
  out.base = model.idle + (model.busy - model.idle) * stage.options().base;
  out.sprint = model.busy;
  // Where a sprint seems to gain more than the clock does, that is noise: all of the time depends on it.
  out.cpu_share = std::clamp((1 - 1 / high.speed()) / (1 - stage.options().base), 0.0, 1.0);
  return out;
}

// A straight line through the times over the number of tasks run gives the time of a task; what is left at
// none is the set-up. Tasks count as exponential: there are so many waves of them that their spread hardly
// shows in a job, and the model of equation 4.1 is quick.
place::DiasJob fitted_job(const Calibration::Class& seen, int tasks, int slots) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [drop, at] : seen.by_drop) {
    const double run = place::tasks_left(tasks, drop);
    n += 1, x += run, y += at.seconds, xx += run * run, xy += run * at.seconds;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);  // s a task run
  const double setup = (y - slope * x) / n;
  if (!(slope > 0))
    throw UserError("jobs with fewer tasks did not take less time: the machine is too busy to measure on");
  return {{place::DiasStage{{{tasks, 1}}, std::max(0.0, setup), slope * slots, 1, true, 0}}};
}

place::AccuracyCurve curve_of(const Calibration::Class& seen) {
  std::vector<place::AccuracyCurve::Point> points;
  for (const auto& [drop, at] : seen.by_drop)
    if (drop > 0) points.push_back({drop, at.loss});
  return place::AccuracyCurve(points);
}

}  // namespace

Calibration calibrate(Stage& stage, int runs) {
  Calibration out;
  for (const std::size_t which : {kHigh, kLow}) out.classes.push_back(calibrate_class(stage, which, runs));
  out.power = states_of(stage, out.classes[kHigh]);
  return out;
}

Calibration refreshed(Stage& stage, Calibration before, int runs) {
  for (const std::size_t which : {kHigh, kLow}) {
    auto& of = before.classes[which];
    const double now = median_execution(repeat(stage, which, runs, plain_policy(stage, 0)));
    const double by = now / of.service();
    for (auto& [drop, at] : of.by_drop) at.seconds *= by;
    of.sprinting *= by;
  }
  return before;
}

std::vector<double> rates_of(const Calibration& measured, double load) {
  const double high = measured.classes[kHigh].service(), low = measured.classes[kLow].service();
  const double rate = load / ((high + (kOneHighIn - 1) * low) / kOneHighIn);
  return {rate / kOneHighIn, rate * (kOneHighIn - 1) / kOneHighIn};
}

place::DiasSystem system_of(const Stage& stage, const Calibration& measured, double load) {
  place::DiasSystem system;
  for (const std::size_t which : {kHigh, kLow})
    system.classes.push_back({kNames[which],
                              fitted_job(measured.classes[which], stage.options().tasks, stage.slots()),
                              curve_of(measured.classes[which])});
  system.arrivals = stats::poisson(rates_of(measured, load));
  system.slots = stage.slots();
  system.power = measured.power;
  // As in the thesis: full, it lasts for 1.65 low jobs (22 kJ at 90 W, 148 s), and 6 minutes an hour return.
  system.limit = place::SprintLimit{measured.power.extra() * Seconds{1.65 * measured.classes[kLow].service()},
                                    place::refill_for(measured.power, Seconds{360})};
  return system;
}

std::optional<place::DiasDecision> deflate(const place::DiasSystem& system, const Calibration& measured,
                                           bool may_sprint, double low_loss) {
  std::vector<place::DiasTarget> targets(2);
  targets[kLow].loss = low_loss;
  place::DiasSearch search;
  search.drops = {0, 0.1, 0.2};
  if (may_sprint) {
    search.timeouts = {std::nullopt, Seconds{0}, Seconds{measured.classes[kHigh].service() / 2}};
    search.sprints = {true, false};
  }
  search.latency = 1;
  return place::choose(system, targets, search);
}

std::vector<bags::BagArrival> arrivals_of(const std::vector<double>& rates, std::size_t jobs,
                                          std::uint64_t seed) {
  Random gaps(seed, hash_name("dias local gaps")), places(seed, hash_name("dias local places"));
  std::vector<bags::BagArrival> out;
  Seconds now{0};
  std::size_t high = 0;
  for (std::size_t i = 0; i < jobs; ++i) {
    if (i % kOneHighIn == 0) high = i + places.below(kOneHighIn);
    now += Seconds{gaps.exponential(1 / (rates[kHigh] + rates[kLow]))};
    out.push_back({now, i == high ? kHigh : kLow});
  }
  return out;
}

}  // namespace tandem::bench
