// Decisions of the live scheduler (place/engine/scheduler.h): Scheduler::step, the events that lead to them
// and the view that takes both, while the cluster and the queue stay full.
#pragma once

#include <cstddef>
#include <string>

namespace tandem::bench {

struct LiveRate {
  double seconds_a_decision = 0;  // starts of tasks; with all events between them
  double seconds_an_event = 0;
  std::size_t running = 0, waiting = 0;
};
// `waiting` tasks of 200 shapes wait throughout on so many nodes of 20 machine types.
LiveRate live_rate(const std::string& policy, int nodes, std::size_t waiting, std::size_t decisions);
// Prints, judges; false: a floor was missed.
bool judge_live(std::size_t waiting);

}  // namespace tandem::bench
