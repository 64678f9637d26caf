// Who chooses batch size and power limit for recurring jobs. They see what their attempts took and how they
// ended, never the traces; only the oracle does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/zeus/traces.h"

namespace tandem::bench {

constexpr int kTries = 20;  // of a recurrence, as in Zeus' simulator: then it is given up

class RecurringPolicy {
 public:
  virtual ~RecurringPolicy() = default;
  virtual std::int64_t batch() = 0;      // of the next attempt
  virtual void carry_out(Attempt&) = 0;  // to its end, or until the policy stops it; and learns from it
};

struct PolicyMaker {
  std::string name;
  std::unique_ptr<RecurringPolicy> (*make)(const Workload&, std::uint64_t seed);
};

std::unique_ptr<RecurringPolicy> make_ours(const Workload&, std::uint64_t seed);
// Zeus' policy as its paper has it. The paper's window over past costs is off unless data drifts; then 10.
std::unique_ptr<RecurringPolicy> make_zeus(const Workload&, std::uint64_t seed);
std::unique_ptr<RecurringPolicy> make_zeus_window(const Workload&, std::uint64_t seed);
std::unique_ptr<RecurringPolicy> make_default(const Workload&, std::uint64_t seed);
std::unique_ptr<RecurringPolicy> make_grid(const Workload&, std::uint64_t seed);
std::unique_ptr<RecurringPolicy> make_oracle(const Workload&, std::uint64_t seed);

// The cell whose expected cost is least.
std::pair<std::int64_t, double> best_cell(const Workload&);

}  // namespace tandem::bench
