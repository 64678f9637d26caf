// The queueing model beside the simulator: random settings where it claims to be exact, and those where it is
// an approximation.
#include <fmt/format.h>

#include <cmath>

#include "bench/dias/sections.h"
#include "bench/dias/setups.h"

namespace tandem::bench {
namespace {

using place::Detail;
using place::DiasClass;
using place::DiasJob;
using place::DiasStage;
using place::DiasSystem;
using stats::Discipline;

constexpr int kSettings = 52;
constexpr double kMeanFloor = 0.03, kTailFloor = 0.06;
constexpr sim::DiasPrecision kPrecise{.half_width = 0.01, .at_least = 100'000, .at_most = 12'000'000};

int between(Random& random, int low, int high) {
  return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

DiasJob random_job(Random& random, double most_drop) {
  DiasJob job;
  const int stages = between(random, 1, 3);
  for (int i = 0; i < stages; ++i) {
    DiasStage stage;
    const double share = random.uniform(0.2, 0.8);
    stage.counts = {{between(random, 1, 20), share}, {between(random, 1, 20), 1 - share}};
    if (random.below(2)) stage.counts = {{between(random, 1, 20), 1}};
    stage.setup = random.below(2) ? random.uniform(0.1, 3) : 0;
    stage.task = random.uniform(0.5, 5);
    stage.drop = random.uniform(0, most_drop);
    job.stages.push_back(stage);
  }
  return job;
}

// One to three classes, loads of 0.2 to 0.9 after dropping.
DiasSystem random_system(Random& random) {
  DiasSystem system;
  system.slots = between(random, 1, 20);
  const int classes = between(random, 1, 3);
  double all = 0, mean = 0;
  std::vector<double> shares;
  for (int k = 0; k < classes; ++k) {
    system.classes.push_back({fmt::format("class {}", k), random_job(random, 0.4 * k), {}});
    shares.push_back(random.uniform(0.1, 1));
    all += shares.back();
  }
  for (std::size_t k = 0; k < shares.size(); ++k)
    mean += shares[k] / all * place::processing_time(system.classes[k].job, system.slots).mean();
  const double load = random.uniform(0.2, 0.9);
  for (double& share : shares) share *= load / mean / all;
  system.arrivals = stats::poisson(shares);
  return system;
}

std::vector<DiasJob> jobs_of(const DiasSystem& system) {
  std::vector<DiasJob> out;
  for (const auto& c : system.classes) out.push_back(c.job);
  return out;
}

struct Errors {
  std::vector<double> means{}, tails{};
  void add(double mean, double p95, const sim::DiasTally& seen) {
    means.push_back(change(mean, seen.mean()));
    tails.push_back(change(p95, seen.percentile(0.95)));
  }
  std::vector<std::string> row(const std::string& name) const {
    const auto m = spread(means), t = spread(tails);
    return {name,
            fmt::format("{}", m.count),
            percent(m.median, 2),
            percent(m.worst, 2),
            percent(t.median, 2),
            percent(t.worst, 2)};
  }
};

const std::vector<std::string> kErrorHeader{"discipline", "classes",     "mean: median",
                                            "worst",      "p95: median", "worst"};

// The model of one setting, under both disciplines, against a simulation of both on the same jobs.
sim::DiasRun compare(const DiasSystem& system, std::uint64_t seed, Errors (&errors)[2]) {
  const Discipline both[] = {Discipline::non_preemptive, Discipline::preemptive_resume};
  sim::DiasStream stream(system.arrivals, jobs_of(system), system.slots, seed);
  std::vector<sim::DiasServer> servers;
  for (const auto discipline : both)
    servers.emplace_back(system.classes.size(), sim::DiasServerOptions{.discipline = discipline});
  const auto run = sim::simulate(stream, servers, kPrecise);
  const auto rates = stats::mean_rates(system.arrivals);
  std::vector<stats::QueueClass> classes;
  for (std::size_t k = 0; k < rates.size(); ++k)
    classes.push_back({rates[k], stats::service_of(place::task_level(system.classes[k].job, system.slots))});
  for (std::size_t d = 0; d < 2; ++d) {
    const stats::PriorityModel model(classes, both[d]);
    for (std::size_t k = 0; k < rates.size(); ++k)
      errors[d].add(model.mean_response(k), model.percentile(k, 0.95), servers[d].seen(k).response);
  }
  return run;
}

void add_row(Table& table, const std::string& setting, const std::string& model, const Seen& seen,
             const place::DiasPrediction& predicted) {
  for (std::size_t k = 0; k < seen.classes.size(); ++k) {
    const auto& s = seen.classes[k];
    const auto& p = predicted.classes[k];
    table.rows.push_back({setting, model, fmt::format("{}", k), short_number(s.mean),
                          short_number(p.response), signed_percent(change(p.response, s.mean)),
                          short_number(s.p95), short_number(p.p95), signed_percent(change(p.p95, s.p95)),
                          percent(s.half_width)});
  }
}

Table beyond_table(const std::string& caption) {
  return {caption,
          {"setting", "model", "class", "mean s", "model", "error", "p95 s", "model", "error", "± mean"},
          {}};
}

constexpr sim::DiasPrecision kBeyond{.half_width = 0.01, .at_least = 200'000, .at_most = 600'000};
constexpr sim::DiasPrecision kBeyondGraph{.half_width = 0.01, .at_least = 100'000, .at_most = 200'000};

// The restarting queue, and what comes out if the cited method's resuming is taken for it.
void restart_rows(Table& table, const std::string& name, const DiasSystem& system) {
  const auto policy = evicting(system.classes.size());
  const auto seen = play(system, {policy}, kBeyond, 5)[0];
  add_row(table, name, "restart", seen, modelled(system, policy, Detail::percentiles));
  auto resuming = policy;
  resuming.discipline = Discipline::preemptive_resume;
  add_row(table, name, "resume", seen, modelled(system, resuming, Detail::percentiles));
}

void budget_rows(Table& table) {
  const auto system = graph_system();
  std::vector<Policy> policies;
  for (const double minutes : {6.0, 3.0, 1.0}) {
    const place::SprintLimit limit{Joules{22000}, place::refill_for(system.power, Seconds{60 * minutes})};
    for (const double timeout : {kGraphTimeout, 0.0})
      policies.push_back(sprinting(dropping({0, 0.2}),
                                   fmt::format("{:.0f} min an hour, after {:.0f} s", minutes, timeout),
                                   timeout, limit));
  }
  const auto seen = play(system, policies, kBeyondGraph, 5);
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const auto predicted = modelled(system, policies[i], Detail::percentiles);
    add_row(table, seen[i].policy, fmt::format("pays {}", percent(predicted.sprint_paid, 0)), seen[i],
            predicted);
  }
}

void burst_rows(Table& table) {
  for (const double burst : {3.0, 10.0}) {
    DiasSystem system{{{"high", {{{{{12, 1}}, 1, 2, 1, true, 0}}}, {}},
                       {"low", {{{{{20, 1}}, 1, 4, 1, true, 0}}}, measured_curve()}},
                      {},
                      6};
    const auto rates = stats::mean_rates(arrivals_for(system.classes, system.slots, {0.3, 0.7}, 0.7));
    system.arrivals = stats::bursty(rates, burst, 600, 100);
    for (const auto discipline : {Discipline::non_preemptive, Discipline::preemptive_resume}) {
      Policy policy = dropping({0, 0.1});
      policy.discipline = discipline;
      add_row(table, fmt::format("bursts × {:.0f}", burst), stats::name_of(discipline),
              play(system, {policy}, {.half_width = 0.01, .at_least = 200'000, .at_most = 2'000'000}, 5)[0],
              modelled(system, policy, Detail::percentiles));
    }
  }
}

}  // namespace

Section model_section() {
  Section section{"the queueing model beside the simulator", {}, {}};
  Random random(2024, hash_name("bench/dias settings"));
  Errors errors[2];
  std::uint64_t jobs = 0;
  int reached = 0;
  for (int i = 0; i < kSettings; ++i) {
    const auto run = compare(random_system(random), static_cast<std::uint64_t>(100 + i), errors);
    jobs += run.jobs;
    reached += run.reached;
  }
  Table table{
      fmt::format("{} random settings (1 to 3 classes, 1 to 20 slots, 1 to 3 stages of 1 to 20 exponential "
                  "tasks, drops to 80 %, loads of 0.2 to 0.9), relative errors of the model",
                  kSettings),
      kErrorHeader,
      {}};
  table.rows.push_back(errors[0].row(stats::name_of(Discipline::non_preemptive)));
  table.rows.push_back(errors[1].row(stats::name_of(Discipline::preemptive_resume)));
  section.show(table);
  section.say(
      fmt::format("{:.1f} million jobs, each under both disciplines; simulated until every class's mean is "
                  "known to ±1 % (95 %), which {} of {} settings reached.",
                  1e-6 * static_cast<double>(jobs), reached, kSettings));
  double mean = 0, tail = 0;
  for (const auto& e : errors)
    mean = std::max(mean, spread(e.means).worst), tail = std::max(tail, spread(e.tails).worst);
  section.verdict =
      mean <= kMeanFloor && tail <= kTailFloor && reached == kSettings ? Verdict::held : Verdict::missed;
  section.summary = fmt::format("worst error {} of means (at most 3 %) and {} of 95th percentiles (6 %)",
                                percent(mean, 2), percent(tail, 2));
  return section;
}

Section beyond_section() {
  Section section{"the queueing model where it is an approximation", {}, {}};
  auto restart = beyond_table(
      "Kill and restart (the measured baseline): our model of it, and the cited "
      "preemptive-resume method taken for it. Class 0 is the highest");
  auto exponential = text_system({});
  for (auto& c : exponential.classes)
    for (auto& stage : c.job.stages) stage.shape = 1;
  exponential.arrivals = arrivals_for(exponential.classes, kSlots, {0.1, 0.9}, 0.8);
  restart_rows(restart, "reference, exponential tasks", exponential);
  restart_rows(restart, "reference, steady tasks", text_system({}));
  restart_rows(restart, "load 50 %", text_system({.load = 0.5}));
  restart_rows(restart, "three priorities", three_priorities());
  section.show(restart);
  auto budget = beyond_table("DiAS(0,20) with a budget of 22 kJ and less and less of it coming back");
  budget_rows(budget);
  section.show(budget);
  auto bursts = beyond_table("Bursty arrivals (two-phase MMPP; the model is exact for these)");
  burst_rows(bursts);
  section.show(bursts);
  section.summary = "errors printed for restarting, budgeted sprinting and bursty arrivals";
  return section;
}

}  // namespace tandem::bench
