// A million jobs on 10 000 nodes under first in, first out, on one core; and what an event costs on
// clusters of 10 to 10 000 nodes at the same load. `sim_scale_bench [JOBS]`.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "base/random.h"
#include "sim/trace/replay.h"

namespace {
using namespace tandem;
using namespace tandem::sim;

constexpr double kLoad = 1.05;  // of the cores, in the mean: a queue builds up
constexpr double kLongest = 4 * 3600;
constexpr std::int64_t kCores = 32;

// Jobs of 1 to 16 cores, most of them small, that take minutes to hours (log-normal, cut), arriving at
// random.
ReplayInput workload(std::size_t jobs, std::size_t nodes, std::uint64_t seed) {
  ReplayInput in;
  in.pools.push_back({"node", "", {kCores * 1000, 128 * kGiB, 0, 0}, nodes, NodeDraw{100, 200, 0}});
  const std::int64_t cores[] = {1, 2, 4, 8, 16};
  const double share[] = {0.5, 0.2, 0.15, 0.1, 0.05};
  for (const auto c : cores)
    for (const Bytes gib : {1, 2, 4}) in.shapes.push_back({{c * 1000, c * gib * kGiB, 0, 0}, 1, {0}});
  double mean_cores = 0;
  for (int i = 0; i < 5; ++i) mean_cores += share[i] * static_cast<double>(cores[i]);
  const double mean_seconds = 1800 * std::exp(0.5);
  const double between = mean_cores * mean_seconds / (kLoad * static_cast<double>(nodes * kCores));
  Random random(seed, 0);
  double at = 0;
  for (std::size_t i = 0; i < jobs; ++i) {
    at += -between * std::log(1 - random.uniform(0, 1));
    double u = random.uniform(0, 1);
    std::uint32_t size = 0;
    while (size < 4 && u >= share[size]) u -= share[size++];
    const auto shape = size * 3 + static_cast<std::uint32_t>(random.below(3));
    in.jobs.push_back({at, std::min(kLongest, 1800 * std::exp(random.normal())), shape, 0});
  }
  return in;
}

double resident_gb() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_maxrss) * 1024 / 1e9;
}

struct Timed {
  double seconds = 0;
  Replayed replayed{};
};

Timed timed(const ReplayInput& in) {
  const auto begin = std::chrono::steady_clock::now();
  Timed out;
  out.replayed = replay(in, place::find_order("fifo"));
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}
}  // namespace

int main(int argc, char** argv) {
  const std::size_t jobs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  bool held = true;
  const auto whole = std::chrono::steady_clock::now();
  const auto in = workload(jobs, 10'000, 1);
  const auto big = timed(in);
  const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - whole).count();
  const auto waits = waits_of(in, big.replayed);
  fmt::print(
      "{} jobs on 10000 nodes, fifo: {:.1f} s with making them ({:.1f} s without), {:.2f} GB, {:.2f} M "
      "events a second\n",
      jobs, all, big.seconds, resident_gb(), 1e-6 * static_cast<double>(big.replayed.events) / big.seconds);
  fmt::print(
      "  done {}, used {:.0f} % of the cores, mean wait {:.0f} s, {:.1f} days of cluster time, {:.1f} GJ\n",
      waits.jobs, 100 * big.replayed.core_seconds / big.replayed.core_seconds_there, waits.mean,
      big.replayed.makespan / 86400, *big.replayed.joules * 1e-9);
  held = held && all < 60 && resident_gb() < 2 && waits.jobs == jobs;
  fmt::print("  asked: under 60 s and 2 GB on one core: {}\n\n", held ? "held" : "MISSED");

  // Interleaved, because machines are noisy; the fastest of each.
  const std::size_t sizes[] = {10, 100, 1000, 10'000};
  double best[4] = {1e9, 1e9, 1e9, 1e9};
  for (int round = 0; round < 5; ++round)
    for (int i = 0; i < 4; ++i) {
      const auto run = timed(workload(200'000, sizes[i], 2));
      best[i] = std::min(best[i], run.seconds / static_cast<double>(run.replayed.events));
    }
  for (int i = 0; i < 4; ++i)
    fmt::print("{:6} nodes: {:6.0f} ns an event, {:.2f} of that at 10 nodes\n", sizes[i], best[i] * 1e9,
               best[i] / best[0]);
  const bool flat = best[3] <= 4 * best[0];
  fmt::print("  asked: at 10000 nodes at most 4 times that at 10: {}\n", flat ? "held" : "MISSED");
  return held && flat ? 0 : 1;
}
