// bench/journal: how fast events become durable, and how fast a long journal is replayed.
//
// Floors (issue 2): 50 000 events a second appended durably in batches; a million replayed in under 5 s.
// Prints every repeat, the median and whether the floor holds; exits 1 when one does not.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "control/loop.h"
#include "platform/temporary.h"
#include "store/store.h"

using namespace tandem;

namespace {

constexpr int kEvents = 1'000'000, kBatch = 500, kRepeats = 5;
constexpr double kAppendFloor = 50'000, kReplayCeiling = 5;

double seconds_of(const std::function<void()>& work) {
  const auto from = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
}

// What a real run writes most: an epoch with metrics, energy and a profile, and its Continue.
control::Entry epoch_entry(std::int64_t number) {
  EpochEnded epoch{0,
                   1,
                   number,
                   {{"accuracy", 0.95}, {"loss", 0.17}},
                   Seconds{1.25},
                   Energy{Joules{31.5}, "model (idle 8 W, busy 30 W)"},
                   {{{"task-clock", 1.98}, {"page-faults", 120.0}}}};
  return {number,
          {Seconds{1e9 + static_cast<double>(number)}, std::move(epoch)},
          {{number, Continue{0, 1, number}}}};
}

double append(store::Store& store, const std::string& run, std::int64_t from, std::int64_t count,
              std::int64_t batch) {
  auto journal = store.journal(run);
  std::vector<control::Entry> entries;
  return seconds_of([&] {
    for (std::int64_t number = from; number < from + count;) {
      entries.clear();
      for (std::int64_t i = 0; i < batch && number < from + count; ++i)
        entries.push_back(epoch_entry(number++));
      journal->append(entries);
    }
  });
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  const platform::TemporaryFolder folder("tandem-bench-journal");
  store::Store store(folder.path());
  fmt::print("one event: an epoch with metrics, energy, profile and its decision; WAL, synchronous=FULL\n\n");

  const auto run = store.create_run("train", "bench", "{}", Seconds{1}).id;
  const int share = kEvents / kRepeats;
  std::vector<double> rates;
  for (int r = 0; r < kRepeats; ++r)
    rates.push_back(share / append(store, run, 1 + static_cast<std::int64_t>(r) * share, share, kBatch));
  fmt::print("append, batches of {}: {:.0f} events/s (median of {}: {:.0f}), floor {:.0f}\n", kBatch,
             fmt::join(rates, " "), kRepeats, median(rates), kAppendFloor);

  const auto single = store.create_run("train", "one by one", "{}", Seconds{2}).id;
  fmt::print("append, one by one:   {:.0f} events/s (each its own commit)\n",
             500 / append(store, single, 1, 500, 1));

  std::vector<double> replays;
  for (int r = 0; r < 3; ++r) {
    auto journal = store.journal(run);
    std::int64_t seen = 0;
    replays.push_back(seconds_of([&] { journal->replay([&](control::Entry&&) { ++seen; }); }));
    if (seen != kEvents) return 1;
  }
  fmt::print("replay of {}:    {:.2f} s (median of 3: {:.2f} s), ceiling {:.0f} s\n", kEvents,
             fmt::join(replays, " "), median(replays), kReplayCeiling);
  const bool good = median(rates) >= kAppendFloor && median(replays) <= kReplayCeiling;
  fmt::print("\n{}\n", good ? "both hold" : "MISSED");
  return good ? 0 : 1;
}
