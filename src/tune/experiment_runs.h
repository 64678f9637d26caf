// What an experiment has measured so far, from the view alone: one row a task, and what its numbers mean.
//
// Numbers of a task come from three levels, as in the characterization study:
//   application     what the program says of its model: accuracy, loss, time per thousand records …
//   platform        how its work went: epochs, start-up, load time, wait for data
//   infrastructure  what it took of the machine: counters as means over its epochs, weighted by their length,
//                   and energy
// Scores are those of the last epoch, costs of an epoch are means over epochs, load time is the first one's.
// Only what was measured is there; joules only where every stretch has some. What leaves the machine is known
// to the program alone: bytes_out is the sum of what it reports of each epoch. Pure.
#pragma once

#include <string>
#include <vector>

#include "event/view.h"

namespace tandem::tune {

inline constexpr const char* kBytesOut = "bytes_out";

enum class Level { application, platform, infrastructure };
const char* name(Level);

struct Meaning {
  Level level = Level::application;
  std::string unit;  // "s", "J", "1": a share or a count
  bool more_is_better = false;
};
Meaning meaning_of(const std::string& measured);

struct MeasuredTask {
  TaskId task = 0;
  std::size_t run = 0;  // its number in the order of the experiment, from 0
  std::size_t point = 0, replication = 0;
  int job = 0;         // of those that ran together, from 0
  std::string varied;  // one-at-a-time: what was not as usual
  Values at;           // the point
  std::string state;   // finished, failed, stopped, running, waiting
  std::string reason;  // why it failed
  Attempt attempts = 0;
  std::int64_t epochs = 0, epochs_wanted = 0;
  Metrics measured;  // empty until it has reported
  bool whole() const { return state == "finished" && epochs >= epochs_wanted; }
};
std::vector<MeasuredTask> measured_tasks(const View&, JobId);

// The row of a run: means over its tasks, which are not independent of each other. Only of runs whose tasks
// are all whole; the others are counted by the caller.
std::vector<MeasuredTask> measured_runs(const std::vector<MeasuredTask>&);

}  // namespace tandem::tune
