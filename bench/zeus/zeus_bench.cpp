// Recurring jobs on Zeus' traces (NSDI'23): what choosing batch size and power limit costs beside knowing the
// best ones from the start.
//
//   zeus_bench [SEEDS [WEIGHT]]      20 seeds, energy weighs 0.5 (and time the rest), unless said
//
// A job is a dataset and network on a GPU, to the target that Zeus' authors used, at most as many epochs,
// from their default batch size (traces.cpp); it comes 2·|batch sizes|·|limits| times, as in their paper.
// Each attempt takes as many epochs as one of the measured runs of its batch size did, drawn by the seed; its
// time and energy are the measured ones of its batch size and limit. Attempts that were stopped or failed are
// paid and followed by another until the target is reached. Cost is theirs.
// Regret is what was spent beyond the oracle's expectation, in runs of the oracle's cell; the oracle has the
// cell that is cheapest on average, and a regret of its own that is luck. No policy sees the tables.
//
// Judged: ours below all but the oracle in cost, energy and time, over all jobs. Exit code: 0 held; 1 missed;
// 77 the traces are not on this machine (TANDEM_DATA).
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "bench/sim_validation/report.h"
#include "bench/zeus/replay.h"

using namespace tandem;
using namespace tandem::bench;

namespace {

using Policies = std::vector<PolicyMaker>;
const Policies kPolicies = {{"ours", make_ours},
                            {"Zeus", make_zeus},
                            {"default", make_default},
                            {"grid", make_grid},
                            {"oracle", make_oracle}};
const Policies kFollowers = {{"ours", make_ours},
                             {"Zeus", make_zeus},
                             {"Zeus, window of 10", make_zeus_window},
                             {"default", make_default}};

struct Summary {
  Regret mean;
  double spread = 0;  // deviation of the cost's regret between seeds
};

Summary summary(const std::vector<Workload>& worlds, const PolicyMaker& maker, int seeds) {
  Summary out;
  std::vector<double> costs;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto regret = replay(worlds, maker, static_cast<std::uint64_t>(seed));
    costs.push_back(regret.cost);
    out.mean += regret / seeds;
  }
  for (const double cost : costs) out.spread += (cost - out.mean.cost) * (cost - out.mean.cost) / seeds;
  out.spread = std::sqrt(out.spread);
  return out;
}

std::vector<std::string> line_of(const Workload& w) {
  const auto [batch, limit] = best_cell(w);
  return {w.name + (w.target_of_authors ? "" : " *"), w.gpu, fmt::format("{}", recurrences(w)),
          fmt::format("{}", w.job.default_batch), fmt::format("{} {:.0f} W", batch, limit)};
}

struct Totals {
  std::vector<Regret> mean;  // over jobs; one a policy
  int jobs = 0, lowest = 0;  // ours the lowest of those that do not know
};

// Every job by every policy; a table of the cost's regrets, and the means.
Totals compare(const std::vector<Workload>& jobs, const Policies& policies, bool changing, int seeds,
               Section& section) {
  Table table{"regret of cost ± deviation between seeds, in runs of the best cell",
              {"job", "GPU", "times", "default", "best cell"},
              {}};
  for (const auto& policy : policies) table.header.push_back(policy.name);
  Totals out{std::vector<Regret>(policies.size())};
  for (const auto& job : jobs) {
    std::vector<Workload> worlds{job};
    if (changing) worlds.push_back(changed(job));
    auto line = line_of(job);
    double ours = 0, others = INFINITY;
    for (std::size_t i = 0; i < policies.size(); ++i) {
      const auto got = summary(worlds, policies[i], seeds);
      out.mean[i] += got.mean / static_cast<double>(jobs.size());
      line.push_back(fmt::format("{:.2f} ± {:.2f}", got.mean.cost, got.spread));
      if (i == 0)
        ours = got.mean.cost;
      else if (policies[i].name != "oracle")
        others = std::min(others, got.mean.cost);
    }
    table.rows.push_back(std::move(line));
    ++out.jobs;
    out.lowest += ours < others;
  }
  section.show(table);
  Table all{
      "over all jobs, in runs of the best cell", {"who chooses", "cost", "energy", "time", "given up"}, {}};
  for (std::size_t i = 0; i < policies.size(); ++i)
    all.rows.push_back({policies[i].name, plain(out.mean[i].cost, 2), plain(out.mean[i].joules, 2),
                        plain(out.mean[i].seconds, 2), plain(out.mean[i].given_up, 2)});
  section.show(all);
  return out;
}

Section recurring_section(const std::vector<Workload>& jobs, int seeds) {
  Section section;
  section.title = fmt::format("{} recurring jobs of Zeus' traces, {} seeds", jobs.size(), seeds);
  const auto totals = compare(jobs, kPolicies, false, seeds, section);
  section.say(
      "Targets, most epochs and default batch sizes are those of Zeus' authors; marked *: of a dataset they "
      "did "
      "not say them for, by the rule in bench/zeus/traces.cpp. The default policy runs without a limit (the "
      "largest).");
  const auto& ours = totals.mean.front();
  bool below = ours.given_up == 0;
  for (std::size_t i = 1; i + 1 < kPolicies.size(); ++i) {
    const auto& other = totals.mean[i];
    below = below && ours.cost < other.cost && ours.joules < other.joules && ours.seconds < other.seconds;
  }
  section.summary = fmt::format(
      "regret of ours {:.2f} in cost, {:.2f} in energy, {:.2f} in time; of Zeus {:.2f}, {:.2f}, {:.2f} "
      "(asked: "
      "below all but the oracle); lowest in cost for {} of {} jobs",
      ours.cost, ours.joules, ours.seconds, totals.mean[1].cost, totals.mean[1].joules,
      totals.mean[1].seconds, totals.lowest, totals.jobs);
  section.verdict = below ? Verdict::held : Verdict::missed;
  return section;
}

Section changing_section(const std::vector<Workload>& jobs, int seeds) {
  Section section;
  section.title = "The same, but midway epochs take a quarter longer and large batches need fewer of them";
  compare(jobs, kFollowers, true, seeds, section);
  section.say("For information. Each half is held against its own best cell.");
  section.summary = "nothing is asked";
  return section;
}

}  // namespace

int main(int count, char** words) try {
  const char* named = std::getenv("TANDEM_DATA");
  const std::string data = named ? named : "../shared/data";
  const int seeds = count > 1 ? std::stoi(words[1]) : 20;
  const auto jobs = read_workloads(data, count > 2 ? std::stod(words[2]) : 0.5);
  if (jobs.empty()) {
    fmt::print("skipped: no {}/zeus/summary_train.csv (set TANDEM_DATA)\n", data);
    return 77;
  }
  const auto judged = recurring_section(jobs, seeds);
  fmt::print("{}", as_text(judged));
  fmt::print("{}", as_text(changing_section(jobs, seeds)));
  return judged.verdict == Verdict::held ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "zeus_bench: {}\n", error.what());
  return 2;
}
