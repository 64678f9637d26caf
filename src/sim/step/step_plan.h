// What is to happen in a training step: tasks, and which of them wait for which.
//
// A strategy writes a plan (strategy.h), a runner carries it out on an engine (step_run.h); a plan knows
// neither time nor engine, so it can be looked at in a test. Tasks that compute take turns on their device:
// of those that are ready, the one with the lowest `order` goes first, and nothing interrupts it. Transfers
// share what they cross. Plain values; pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "sim/step/devices.h"
#include "sim/step/step_cost.h"

namespace tandem::sim {

using TaskIndex = std::uint32_t;
inline constexpr TaskIndex kNoTask = ~TaskIndex{0};

enum class Purpose : std::uint8_t {
  // Take no time: all they wait for is done. A device that could begin when `previous` was done, but begins
  // later, waited for samples.
  join,
  begin,
  // Compute.
  forward,
  backward,
  update,
  // Copies from device to device; reduce is part of a collective: it slows computing, and is slowed.
  pull,
  push,
  send,
  reduce,
  read,    // from storage to the device's node
  feed,    // from there to the device
  launch,  // a wait
};
const char* name(Purpose);
bool computes(Purpose);
bool copies(Purpose);  // from device to device

struct Task {
  Purpose purpose = Purpose::join;
  DeviceId device = 0;           // computes, sends, reads
  DeviceId peer = 0;             // receives
  double amount = 0;             // seconds at full speed; bytes; seconds to wait
  double memory = 0;             // of the seconds, what the memory bound adds
  std::uint32_t messages = 1;    // one after the other in this transfer: each takes the latency
  std::uint32_t operations = 0;  // passes of the model that it stands for
  std::uint32_t operation = 0;   // the first of these
  TaskIndex previous = kNoTask;  // of a begin
  std::uint64_t order = 0;
};

struct Plan {
  struct Edge {
    TaskIndex earlier = 0, later = 0;
  };
  std::vector<Task> tasks{};
  std::vector<Edge> edges{};
  TaskIndex trained = kNoTask;  // the training is over; what is not done then reads ahead

  TaskIndex add(const Task&, std::initializer_list<TaskIndex> earlier = {});
  TaskIndex join(const std::vector<TaskIndex>& earlier);
  TaskIndex compute(Purpose, DeviceId, const Cost&, std::uint64_t order = 0);
  // From a device to itself: a join.
  TaskIndex copy(Purpose, DeviceId from, DeviceId to, double bytes,
                 std::initializer_list<TaskIndex> earlier = {});
  // kNoTask: nothing to wait for.
  void after(TaskIndex later, TaskIndex earlier);
  void after(TaskIndex later, const std::vector<TaskIndex>& earlier);
};

}  // namespace tandem::sim
