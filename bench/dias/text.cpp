// Figures 4.3 to 4.7: word counts, dropping only.
#include <fmt/format.h>

#include <cmath>

#include "bench/dias/sections.h"
#include "bench/dias/setups.h"

namespace tandem::bench {
namespace {

using place::Detail;
using place::DiasJob;

constexpr sim::DiasPrecision kPrecise{.half_width = 0.01, .at_least = 200'000, .at_most = 400'000};

double simulated_mean(const DiasJob& job) {
  Random random(1, hash_name("figure 4.3"));
  sim::DiasSlots slots(kSlots);
  double sum = 0;
  const int runs = 20000;
  for (int i = 0; i < runs; ++i) sum += slots.run(job, random);
  return sum / runs;
}

DiasJob with_shape(DiasJob job, int shape) {
  for (auto& stage : job.stages) stage.shape = shape;
  return job;
}

Table processing_table(double& steady_error, double& random_error) {
  Table table{"Figure 4.3, job processing time in s over the drop ratio",
              {"data", "drop", "steady tasks", "wave level", "error", "exponential tasks", "task level",
               "error", "wave level", "error"},
              {}};
  int count = 0;
  for (const double megabytes : {473.0, 1117.0})
    for (const double drop : {0.0, 0.1, 0.2, 0.3, 0.4}) {
      const auto steady = place::with_drop(text_job(megabytes), drop), random = with_shape(steady, 1);
      const double seen = simulated_mean(steady), waves = place::wave_level(steady, kSlots).mean();
      const double seen_random = simulated_mean(random), tasks = place::task_level(random, kSlots).mean();
      const double waves_random = place::wave_level(random, kSlots).mean();
      table.rows.push_back({fmt::format("{:.0f} MB", megabytes), percent(drop, 0), plain(seen, 1),
                            plain(waves, 1), signed_percent(change(waves, seen)), plain(seen_random, 1),
                            plain(tasks, 1), signed_percent(change(tasks, seen_random)),
                            plain(waves_random, 1), signed_percent(change(waves_random, seen_random))});
      steady_error += std::fabs(change(waves, seen));
      random_error += std::fabs(change(tasks, seen_random));
      ++count;
    }
  steady_error /= count, random_error /= count;
  return table;
}

Table response_table(double& error) {
  const auto system = text_system({});
  std::vector<Policy> policies;
  for (const double drop : {0.0, 0.1, 0.2, 0.3, 0.4}) policies.push_back(dropping({0, drop}));
  const auto seen = play(system, policies, kPrecise);
  Table table{
      "Figure 4.4, mean response time in s over the drop ratio of low jobs (non-preemptive, load 80 %)",
      {"drop", "high", "model", "error", "low", "model", "error"},
      {}};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto model = modelled(system, policies[i], Detail::means);
    std::vector<std::string> row{percent(policies[i].choice.drops[1], 0)};
    for (std::size_t k = 0; k < 2; ++k) {
      const double off = change(model.classes[k].response, seen[i].classes[k].mean);
      row.insert(row.end(), {plain(seen[i].classes[k].mean, 1), plain(model.classes[k].response, 1),
                             signed_percent(off)});
      error += std::fabs(off) / static_cast<double>(2 * seen.size());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Seen> variation(Section& section, const std::string& caption, const TextSetup& setup) {
  const auto system = text_system(setup);
  auto seen = play(system, {evicting(2), dropping({0, 0}), dropping({0, 0.1}), dropping({0, 0.2})}, kPrecise);
  section.show(latency_table(caption, system, seen));
  return seen;
}

std::string moved(const std::vector<Seen>& seen, std::size_t policy, std::size_t which, bool tail = false) {
  const auto &now = seen[policy].classes[which], &first = seen[0].classes[which];
  return fmt::format("{:+.0f} %", 100 * (tail ? change(now.p95, first.p95) : change(now.mean, first.mean)));
}

void claims_of_reference(Claims& claims, const std::vector<Seen>& seen) {
  const auto &p = seen[0], &np = seen[1];
  claims.add("(a) waste of machine time under P (kill and restart)", "roughly 4 %", percent(p.waste));
  claims.add("(a) waste without preemption", "none", percent(np.waste));
  claims.add("(a) mean queueing under P, high / low", "0.03 s / 310 s",
             fmt::format("{:.2f} s / {:.0f} s", p.classes[0].queueing, p.classes[1].queueing));
  claims.add("(a) NP against P, low mean", "roughly -20 %", moved(seen, 1, 1));
  claims.add("(a) NP against P, high mean", "+80 %", moved(seen, 1, 0));
  claims.add("(a) DA(0,20), low mean / tail", "roughly -65 %",
             moved(seen, 3, 1) + " / " + moved(seen, 3, 1, true));
  claims.add("(a) DA(0,20), high mean", "+10 %", moved(seen, 3, 0));
}

void claims_of_variations(Claims& claims, const std::vector<Seen>& a, const std::vector<Seen>& b,
                          const std::vector<Seen>& c, const std::vector<Seen>& d) {
  claims.add("(b) same size: low, best", "up to -80 %", moved(b, 3, 1) + " / tail " + moved(b, 3, 1, true));
  claims.add("(b) high mean with DA(0,20), against (a)", "better than in (a)",
             moved(b, 3, 0) + " / " + moved(a, 3, 0));
  claims.add("(b) high tail with DA(0,20), against (a)", "better than in (a)",
             moved(b, 3, 0, true) + " / " + moved(a, 3, 0, true));
  claims.add("(c) low tail with DA(0,20), (a) then (c)", "-60 % then -20 %",
             moved(a, 3, 1, true) + " then " + moved(c, 3, 1, true));
  claims.add("(c) low mean with DA(0,20), (a) then (c)", "remains the same",
             moved(a, 3, 1) + " then " + moved(c, 3, 1));
  claims.add("(c) high mean / tail with DA(0,20)", "increase considerably",
             moved(c, 3, 0) + " / " + moved(c, 3, 0, true));
  claims.add("(d) load 50 %: NP, high mean", "almost no degradation", moved(d, 1, 0));
  claims.add("(d) DA(0,10), low mean, (a) then (d)", "slightly worse",
             moved(a, 2, 1) + " then " + moved(d, 2, 1));
  claims.add("(d) DA(0,20), low mean, (a) then (d)", "similar", moved(a, 3, 1) + " then " + moved(d, 3, 1));
}

// Mean responses of so many jobs from an empty system on, over many such runs: what an experiment of hours
// sees.
std::vector<double> short_runs(const place::DiasSystem& system, const Policy& policy, int jobs) {
  std::vector<double> sums(2, 0.0), counts(2, 0.0);
  for (std::uint64_t run = 0; run < 100; ++run) {
    std::vector<DiasJob> kinds;
    for (std::size_t k = 0; k < 2; ++k)
      kinds.push_back(place::with_drop(system.classes[k].job, policy.choice.drops[k]));
    sim::DiasStream stream(system.arrivals, kinds, kSlots, 1000 + run);
    sim::DiasServer server(2, {.discipline = policy.discipline});
    for (int i = 0; i < jobs; ++i) server.arrive(stream.next());
    server.arrive({1e12, 0, 1});  // all others end before
    for (std::size_t k = 0; k < 2; ++k) {
      const double count = static_cast<double>(server.seen(k).response.count());
      sums[k] += count * server.seen(k).response.mean();
      counts[k] += count;
    }
  }
  return {sums[0] / counts[0], sums[1] / counts[1]};
}

Table short_table() {
  Table table{"The same from an empty system on, DA(0,20) against P: mean of high / low",
              {"set-up", "50 jobs", "200 jobs", "1000 jobs"},
              {}};
  const std::pair<const char*, TextSetup> setups[] = {{"(a) reference", {}},
                                                      {"(b) both 473 MB", {.low_mb = 473}},
                                                      {"(c) 1 low to 9 high", {.high_share = 0.9}},
                                                      {"(d) load 50 %", {.load = 0.5}}};
  for (const auto& [name, setup] : setups) {
    const auto system = text_system(setup);
    std::vector<std::string> row{name};
    for (const int jobs : {50, 200, 1000}) {
      const auto evicted = short_runs(system, evicting(2), jobs),
                 dropped = short_runs(system, dropping({0, 0.2}), jobs);
      row.push_back(fmt::format("{:+.0f} % / {:+.0f} %", 100 * change(dropped[0], evicted[0]),
                                100 * change(dropped[1], evicted[1])));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Section processing_section() {
  Section section{"figures 4.3 to 4.5: processing and response times over the drop ratio", {}, {}};
  double steady = 0, random = 0, response = 0;
  section.show(processing_table(steady, random));
  section.say(
      "Waves (section 4.3.2 is missing from the text; ours is told in place/dias/dias_job.h) are made for "
      "steady "
      "tasks: exponential ones fill gaps at the end of a wave that they do not see.");
  section.show(response_table(response));
  Table curve{
      "Figure 4.5, loss of accuracy over the drop ratio (10, 20 and 40 % measured by the thesis, linear "
      "between them)",
      {"drop", "loss"},
      {}};
  for (const double drop : {0.05, 0.1, 0.2, 0.3, 0.4})
    curve.rows.push_back({percent(drop, 0), percent(measured_curve().loss(drop))});
  section.show(curve);
  Claims claims;
  claims.add("model's mean error of processing times (their measurements / our simulator)",
             "11.1 % and 7.8 %",
             fmt::format("{} (waves, steady), {} (tasks, exponential)", percent(steady), percent(random)));
  claims.add("model's mean error of response times", "18.7 %", percent(response));
  section.show(claims.table());
  section.summary = fmt::format(
      "the model is off by {} in processing and {} in response times (thesis 7.8 to 11.1, "
      "and 18.7 %)",
      percent(steady), percent(response));
  return section;
}

Section reference_section() {
  Section section{"figure 4.6: dropping in the reference set-up and its variations", {}, {}};
  const auto a = variation(section, "(a) reference: 9 low to 1 high, 1117 and 473 MB, load 80 %", {});
  const auto b = variation(section, "(b) both 473 MB", {.low_mb = 473});
  const auto c = variation(section, "(c) 1 low to 9 high", {.high_share = 0.9});
  const auto d = variation(section, "(d) load 50 %", {.load = 0.5});
  section.say(
      "P kills and restarts (as the thesis measured), Δ is against P. busy is the share of time a job holds "
      "the slots, waste the share of that lost to evictions.");
  section.show(short_table());
  Claims claims;
  claims_of_reference(claims, a);
  claims_of_variations(claims, a, b, c, d);
  section.show(claims.table());
  section.say(
      "Where theory and the thesis part: the high class alone is an M/G/1 queue under P, so with Poisson "
      "arrivals it waits about 1 s, not 0.03 s; without preemption it waits for what is left of a low job, "
      "half of it on average while the slots are busy, which no drop of 20 % brings down to +10 %, and "
      "which does not vanish at a load of 50 %. In (c), P restarts low jobs so often that it hardly settles: "
      "what an experiment sees there depends on its length, which is not told.");
  bool held = true;
  for (const auto* seen : {&a, &b, &c, &d})
    for (std::size_t i = 1; i < seen->size(); ++i) held = held && (*seen)[i].waste == 0;
  section.verdict = held ? Verdict::held : Verdict::missed;
  section.summary = fmt::format(
      "waste {} under P (thesis 4 %) and none without preemption; DA(0,20) moves low jobs by "
      "{} (thesis -65 %), high by {} (+10 %)",
      percent(a[0].waste), moved(a, 3, 1), moved(a, 3, 0));
  return section;
}

Section three_section() {
  Section section{"figure 4.7: three priorities", {}, {}};
  const auto system = three_priorities();
  const auto seen = play(
      system, {evicting(3), dropping({0, 0, 0}), dropping({0, 0.1, 0.2}), dropping({0, 0.2, 0.4})}, kPrecise);
  section.show(latency_table("2.3 jobs a minute, high : medium : low = 1 : 4 : 5, load 80 %", system, seen));
  Claims claims;
  claims.add("waste under P (kill and restart)", "roughly 16 %", percent(seen[0].waste));
  claims.add("waste of the three others", "none", percent(std::max(seen[1].waste, seen[3].waste)));
  double best = 0;
  for (std::size_t k = 0; k < 3; ++k)
    best = std::min(best, change(seen[3].classes[k].p95, seen[0].classes[k].p95));
  claims.add("tails of all three, best", "up to -60 %", fmt::format("{:+.0f} %", 100 * best));
  claims.add("tails with DA(0,20,40), high / medium / low", "all fall",
             moved(seen, 3, 0, true) + " / " + moved(seen, 3, 1, true) + " / " + moved(seen, 3, 2, true));
  claims.add("means with DA(0,10,20), medium / low", "low falls more",
             moved(seen, 2, 1) + " / " + moved(seen, 2, 2));
  claims.add("high mean with DA(0,10,20)", "slightly higher", moved(seen, 2, 0));
  claims.add("loss with DA(0,10,20), medium / low", "8.5 % / 15 %",
             percent(measured_curve().loss(0.1)) + " / " + percent(measured_curve().loss(0.2)));
  section.show(claims.table());
  section.verdict = seen[1].waste + seen[2].waste + seen[3].waste == 0 ? Verdict::held : Verdict::missed;
  section.summary =
      fmt::format("waste {} under P (thesis 16 %), none without preemption; best tail {:+.0f} % (-60 %)",
                  percent(seen[0].waste), 100 * best);
  return section;
}

}  // namespace tandem::bench
