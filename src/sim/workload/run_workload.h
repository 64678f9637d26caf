// A whole workload on a cluster: time, bytes and joules.
//
// Steps are simulated operation by operation, but alike ones only once: a synchronous step starts when all
// workers have their samples and ends when all variables are up to date, so nothing of it reaches into the
// next one, and n steps take n times as long (tested against simulating each). What makes steps different:
// - the last one may be smaller, and the one before it reads fewer samples;
// - stragglers: a worker's step is longer or shorter at random, by the seed. Of many steps kDraws are
//   simulated and stand for all.
// While a step runs, the samples of the next are read; the first ones are waited for. Asynchronous workers
// never meet, so their first steps are simulated together, and when there are many, the rest goes on at the
// pace of the last ones (`extrapolated`). One run has one thread and keeps nothing; many may run at once.
//
// t_exec = t_comp + t_comm + t_io, of an average worker: it computes; it waits for samples; the rest is
// communication, slower colleagues included, and what collectives slow its computing by.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/step/step_run.h"
#include "sim/step/strategy.h"

namespace tandem::sim {

struct RunOptions {
  StrategyOptions strategy{};
  std::uint64_t seed = 1;
  bool jump = true;       // false: every step is simulated
  bool timeline = false;  // of what is simulated, one step after the other
};

inline constexpr std::int64_t kDraws = 32;

struct DeviceUse {
  DeviceId device = 0;
  std::uint32_t node = 0;
  std::string type{};
  bool worker = false, server = false;
  double busy = 0;                 // s
  std::optional<double> joules{};  // nullopt: its power is not known
};

struct RunResult {
  double t_exec = 0, t_comp = 0, t_comm = 0, t_io = 0;  // s
  double t_mem = 0;  // of t_comp: what the memory bound adds to the arithmetic
  double usage = 0;  // t_comp / t_exec
  std::int64_t steps = 0, samples = 0;
  std::int64_t operations = 0;                  // passes of the model, forward and backward, on all workers
  std::array<Traffic, kLinkClasses> traffic{};  // by LinkClass
  // Workers, servers and all processors of their nodes: idle watts all the time, the rest up to the maximum
  // while it computes (at a lower clock in proportion, as voltages are not known).
  std::vector<DeviceUse> devices{};
  // Of cables between nodes that carried anything: idle all the time, the rest as far as they are full.
  std::size_t cables = 0;
  std::optional<double> network_joules{};  // nullopt: their power is not known
  // Of all devices above, and of the network where its power is known; nullopt: the power of a device is not.
  std::optional<double> joules{};
  bool extrapolated = false;
  std::vector<Span> timeline{};
};

// Throws UserError: the job does not fit the cluster, something must pass where there is no bandwidth, memory
// that is too small, nothing to do.
RunResult run_workload(const spec::Cluster&, const spec::Workload&, const graph::Model&,
                       const RunOptions& = {});

}  // namespace tandem::sim
