// The words of recurring jobs: what may be chosen, what was measured, how an attempt ended. Plain values, and
// all that a chooser (recurring.h) ever learns from: keep these and you keep everything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tandem::tune {

// A training that comes again and again (new data, the same program) and shall reach its target at the least
// cost: energy_weight · joules + (1 - energy_weight) · price · seconds (Zeus, NSDI'23). In joules.
struct RecurringJob {
  std::vector<std::int64_t> batches;  // ascending
  std::int64_t default_batch = 0;     // the one its authors use
  // Of power, in watts; ascending. Where clocks are chosen too: the settings' numbers, of which limit() knows
  // no physics.
  std::vector<double> limits;
  double price = 0;                           // watts that a second is taken to cost; 0: the largest limit
  double energy_weight = 0.5;                 // 0: only time counts; 1: only energy
  std::int64_t most_epochs = 0;               // an attempt that has not reached the target by then has failed
  std::optional<std::int64_t> recurrences{};  // how often it will come in all, where that is known
};

// So much of an epoch (or so many epochs) of one batch size under one limit took so long and so much energy.
struct EpochSlice {
  std::int64_t batch = 0;
  double limit = 0;
  double epochs = 0, seconds = 0, joules = 0;
  double error = 0;  // relative standard error of the joules; 0: as good as exact
};

enum class Ending {
  reached,  // the target, in so many epochs
  stopped,  // by us, because it cost too much
  failed,   // all its epochs without reaching the target, or it broke (too large for the memory, ...)
};

struct AttemptEnded {
  std::int64_t batch = 0;
  double epochs = 0;  // that it ran
  Ending ending = Ending::reached;
};

// UserError: it makes no sense, and what to do about it.
void check(const RecurringJob&);
void check(const RecurringJob&, const EpochSlice&);
void check(const RecurringJob&, const AttemptEnded&);
void check_batch(const RecurringJob&, std::int64_t batch);

}  // namespace tandem::tune
