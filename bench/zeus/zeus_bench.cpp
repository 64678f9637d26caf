// Recurring jobs on Zeus' traces: what choosing batch sizes and power limits costs beside knowing the best.
//
//   zeus_bench [SEEDS]
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "bench/sim_validation/report.h"
#include "bench/zeus/policies.h"

using namespace tandem;
using namespace tandem::bench;

namespace {

const std::vector<PolicyMaker> kPolicies = {
    {"ours", make_ours}, {"Zeus", make_zeus}, {"default", make_default}, {"grid", make_grid}, {"oracle", make_oracle}};
const bool kOnly = getenv("ONLY") != nullptr;
constexpr int kTries = 20;  // of a recurrence, as in Zeus' simulator

struct Spent { double cost = 0, seconds = 0, joules = 0; };

double needed_by(const Workload& w, std::int64_t batch, std::uint64_t seed, std::int64_t recurrence, int attempt) {
  const auto& runs = w.runs.at(batch);
  Random random(seed, hash_name(fmt::format("{}/{}/{}", recurrence, attempt, batch)));
  return runs[random.below(runs.size())];
}

Spent run(const Workload& w, const PolicyMaker& maker, std::uint64_t seed, std::int64_t recurrences, bool trace) {
  Spent out;
  auto policy = maker.make(w, seed);
  for (std::int64_t r = 0; r < recurrences; ++r)
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const auto batch = policy->batch();
      Attempt a(w, batch, needed_by(w, batch, seed, r, attempt));
      policy->carry_out(a);
      out.cost += a.cost(), out.seconds += a.spent().seconds, out.joules += a.spent().joules;
      if (trace) fmt::print("{}{}{} ", batch, a.reached() ? "" : "x", fmt::format("({:.2f})", a.cost() / w.cost(expected(w, best_cell(w).first, best_cell(w).second))));
      if (a.reached()) break;
    }
  if (trace) fmt::print("\n");
  return out;
}

}  // namespace

int main(int count, char** words) try {
  const char* named = std::getenv("TANDEM_DATA");
  const auto all = read_workloads(named ? named : "../shared/data");
  const int seeds = count > 1 ? std::stoi(words[1]) : 20;
  const bool trace = count > 2;
  std::map<std::string, double> total;
  for (const auto& w : all) {
    const auto [b, l] = best_cell(w);
    const auto best = expected(w, b, l);
    const auto n = static_cast<std::int64_t>(2 * w.job.batches.size() * w.job.limits.size());
    fmt::print("{:34} {:5} |B| {:2} |P| {} n {:3} default {:5} best {:5} {:3}: ", w.name, w.gpu, w.job.batches.size(), w.job.limits.size(), n, w.job.default_batch, b, l);
    if (trace) fmt::print("\n");
    for (const auto& maker : kPolicies) {
      if (kOnly && maker.name != "ours") continue;
      double sum = 0;
      for (int seed = 1; seed <= seeds; ++seed) {
        const auto spent = run(w, maker, seed, n, trace && seed == std::stoi(words[2]) && maker.name[0] != 'd' && maker.name[0] != 'g');
        sum += (spent.cost / w.cost(best) - n) / seeds;
      }
      fmt::print(" {} {:6.2f}", maker.name, sum);
      total[maker.name] += sum;
    }
    fmt::print("\n");
  }
  for (const auto& [name, sum] : total) fmt::print("{} {:.2f}  ", name, sum / all.size());
  fmt::print("\n");
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "zeus_bench: {}\n", error.what());
  return 2;
}
