// Seconds since it was made: on the wall, and of this process on a processor.
#pragma once

#include <ctime>

namespace tandem::bench {

class Stopwatch {
 public:
  double wall() const { return now(CLOCK_MONOTONIC) - wall_; }
  double cpu() const { return now(CLOCK_PROCESS_CPUTIME_ID) - cpu_; }

 private:
  static double now(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  double wall_ = now(CLOCK_MONOTONIC), cpu_ = now(CLOCK_PROCESS_CPUTIME_ID);
};

}  // namespace tandem::bench
