#include "bench/decisions/rounds.h"

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "place/scheduler.h"

namespace tandem::bench {
namespace {

constexpr int kNodes = 100, kRounds = 20;

// A full cluster of three machine types and jobs of four sizes that wait.
double milliseconds_a_round(const std::string& policy, int jobs) {
  place::Scheduler scheduler(place::parse_policy(policy), 1);
  View view;
  const auto decide = [&](DecisionBody body) { view.apply(Decision{view.next_decision, std::move(body)}); };
  for (int i = 0; i < kNodes; ++i) {
    NodeTraits traits;
    traits.pace = 1 + i % 3, traits.idle = Watts{5}, traits.busy = Watts{50};
    view.apply(Event{
        Seconds{1},
        NodeJoined{
            i, fmt::format("n{}", i), {4, Bytes{1} << 33, 1.0}, fmt::format("type-{}", i % 3), traits}});
  }
  for (int i = 0; i < jobs; ++i) {
    spec::TrainJob job;
    job.program.plain = true;
    job.epochs = 0;
    job.system.cores = 1 + i % 4;
    job.place.seconds = Seconds{100};
    view.apply(Event{Seconds{1}, JobSubmitted{i, job}});
    decide(Request{i, i, job.system});
  }
  const Event woke{Seconds{1}, Woke{0}};
  for (auto& decision : scheduler.step(view, woke)) decide(std::move(decision));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i)
    for (auto& decision : scheduler.step(view, woke)) decide(std::move(decision));
  return 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kRounds;
}

}  // namespace

void print_rounds() {
  fmt::print(
      "a round of the live scheduler on {} full nodes, ms, by jobs submitted:\n{:<14} {:>8} {:>8} {:>8}\n",
      kNodes, "", 100, 1000, 10000);
  for (const char* policy : {"heats:H=0.5", "fifo", "spread", "backfill", "preempt-resume"})
    fmt::print("{:<14} {:>8.3f} {:>8.3f} {:>8.3f}\n", policy, milliseconds_a_round(policy, 100),
               milliseconds_a_round(policy, 1000), milliseconds_a_round(policy, 10000));
}

}  // namespace tandem::bench
