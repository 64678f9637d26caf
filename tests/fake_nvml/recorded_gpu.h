// The card that was recorded: what it draws and how fast it is at each power limit, and one such card's
// state.
//
// Time and energy of work are those measured on an H200: 1 500 large bf16 products took 2.62 s and 1 700 J at
// 700 W, 5.59 s and 1 644 J at 300 W, 9.93 s and 2 037 J at 200 W; in between they are interpolated. Not of
// the recording, but invented: 75 W when idle, and that a locked clock scales speed and power above idle.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <iterator>

namespace fake_nvml {

constexpr unsigned kMostGpus = 8, kMostWorkers = 16;
constexpr unsigned kLeastLimit = 200'000, kMostLimit = 700'000;                                 // milliwatts
constexpr unsigned kLeastClock = 345, kMostClock = 1980, kClockStep = 15, kMemoryClock = 3201;  // megahertz
constexpr unsigned long long kMemory = 150'754'820'096;                                         // bytes
constexpr double kIdle = 75;

struct Recorded {
  double limit, watts, products_a_second;
};
constexpr Recorded kRecording[] = {
    {200, 2037 / 9.93, 1500 / 9.93}, {300, 1644 / 5.59, 1500 / 5.59}, {700, 1700 / 2.62, 1500 / 2.62}};

struct Gpu {
  unsigned limit, locked;  // milliwatts; megahertz, 0: not locked
  int lost;
  double millijoules, at;   // counted up to this moment
  unsigned long long sets;  // how often something was set
  pid_t workers[kMostWorkers];
};
inline double now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

inline unsigned workers(Gpu& gpu) {
  unsigned count = 0;
  for (pid_t& worker : gpu.workers) {
    if (worker != 0 && ::kill(worker, 0) != 0) worker = 0;  // it was killed at work
    count += worker != 0;
  }
  return count;
}

inline Recorded at_limit(double limit) {
  if (limit <= kRecording[0].limit) return kRecording[0];
  for (std::size_t i = 1; i < std::size(kRecording); ++i) {
    const Recorded &a = kRecording[i - 1], &b = kRecording[i];
    if (limit > b.limit) continue;
    const double t = (limit - a.limit) / (b.limit - a.limit);
    return {limit, a.watts + t * (b.watts - a.watts),
            a.products_a_second + t * (b.products_a_second - a.products_a_second)};
  }
  return kRecording[2];
}

// When it works: the slower of what the limit and what the clock allow.
inline Recorded when_busy(const Gpu& gpu) {
  Recorded limited = at_limit(gpu.limit * 1e-3);
  const Recorded& full = kRecording[2];
  const double clock = gpu.locked ? static_cast<double>(gpu.locked) / kMostClock : 1;
  limited.watts = std::min(limited.watts, kIdle + (full.watts - kIdle) * clock);
  limited.products_a_second = std::min(limited.products_a_second, full.products_a_second * clock);
  return limited;
}

inline double watts(Gpu& gpu) {
  return workers(gpu) > 0 ? when_busy(gpu).watts : kIdle;
}

inline void count_energy(Gpu& gpu) {
  const double time = now();
  if (time > gpu.at) gpu.millijoules += (time - gpu.at) * watts(gpu) * 1e3;
  gpu.at = time;
}

}  // namespace fake_nvml
