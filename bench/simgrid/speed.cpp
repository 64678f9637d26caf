// Completed computations and transfers a second on star clusters, in turns with SimGrid.
#include "bench/simgrid/speed.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/simgrid/child.h"
#include "bench/simgrid/on_simgrid.h"

namespace tandem::bench {
namespace {

// Each host's next step depends on how long the others took, so rounding grows about tenfold every five
// rounds: after a few rounds both must end alike to 0.1 %, after all of them only on average, and less
// closely.
constexpr std::uint32_t kFewRounds = 10;
constexpr double kAllowed = 1e-3, kAllowedLater = 2e-2;

struct Size {
  std::uint32_t hosts, rounds;
  double asked;  // times SimGrid's
};
constexpr Size kSizes[] = {{100, 2500, 5}, {1000, 120, 10}, {5000, 20, 20}};

// A quantity over the repetitions.
struct Sample {
  std::vector<double> values;
  void add(double value) {
    values.push_back(value);
    std::sort(values.begin(), values.end());
  }
  double median() const {
    const std::size_t n = values.size();
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  }
};

template <class Simulate>
StarRun measured(const char* what, const Simulate& simulate) {
  const std::vector<double> numbers = in_child(what, [&] {
    const StarRun run = simulate();
    return std::vector<double>{run.wall, run.cpu, run.completed, run.end, run.mean_end};
  });
  return {numbers.at(0), numbers.at(1), numbers.at(2), numbers.at(3), numbers.at(4)};
}

double apart(double a, double b) {
  return std::fabs(a / b - 1);
}

bool same_start(const Size& size) {
  const Star star(size.hosts, kFewRounds, 1);
  const StarRun ours = measured("Tandem", [&] { return star_on_tandem(star); });
  const StarRun theirs = measured("SimGrid", [&] { return star_on_simgrid(star, Way::mailbox); });
  const double difference = std::max(apart(ours.end, theirs.end), apart(ours.mean_end, theirs.mean_end));
  const bool same = ours.completed == theirs.completed && difference <= kAllowed;
  std::printf("        ends %.1e apart after %u rounds%s", difference, kFewRounds, same ? "" : " (MISSED)");
  return same;
}

bool compare(const Size& size, int repetitions) {
  const Star star(size.hosts, size.rounds, 1);
  Sample ours, sendto, mailbox, ratio, cpu_ratio;
  bool equal = true;
  double later = 0;
  for (int i = 0; i < repetitions; ++i) {
    const StarRun tandem = measured("Tandem", [&] { return star_on_tandem(star); });
    const StarRun one = measured("SimGrid", [&] { return star_on_simgrid(star, Way::sendto); });
    const StarRun other = measured("SimGrid", [&] { return star_on_simgrid(star, Way::mailbox); });
    ours.add(tandem.completed / tandem.wall);
    sendto.add(one.completed / one.wall);
    mailbox.add(other.completed / other.wall);
    // Beside the faster of SimGrid's ways.
    ratio.add(std::min(one.wall, other.wall) / tandem.wall);
    cpu_ratio.add(std::min(one.cpu, other.cpu) / tandem.cpu);
    equal = equal && tandem.completed == one.completed && tandem.completed == other.completed;
    later = std::max({later, apart(tandem.mean_end, one.mean_end), apart(tandem.mean_end, other.mean_end)});
  }
  const bool fast = ratio.median() >= size.asked;
  std::printf("  %5u %10.0f %9.0f %9.0f   %5.1f [%.1f, %.1f]   %5.1f [%.1f, %.1f] %6.0f  %s\n", size.hosts,
              ours.median(), sendto.median(), mailbox.median(), ratio.median(), ratio.values.front(),
              ratio.values.back(), cpu_ratio.median(), cpu_ratio.values.front(), cpu_ratio.values.back(),
              size.asked, fast ? "PASS" : "MISSED");
  const bool same = same_start(size) && equal && later <= kAllowedLater;
  std::printf(", hosts on average %.1e after all %u, %u completions%s\n", later, size.rounds,
              2 * size.hosts * size.rounds, same ? "" : ": NOT THE SAME WORK");
  std::fflush(stdout);
  return fast && same;
}

}  // namespace

bool compare_speed(int repetitions) {
  std::printf(
      "star clusters: completions a second of wall time, set-up excluded; medians of %d repetitions in "
      "turns\n",
      repetitions);
  std::printf("  %5s %10s %9s %9s   %-18s   %-18s %6s\n", "hosts", "Tandem", "sendto", "mailbox",
              "ratio [spread]", "by processor time", "asked");
  bool good = true;
  for (const Size& size : kSizes) good = compare(size, repetitions) && good;
  return good;
}

}  // namespace tandem::bench
