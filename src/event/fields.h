// The fields of each event and decision, in one place for every codec and both directions.
//
// The binary codec goes by position: new fields come last, and none is ever removed or changes its type.
#pragma once

#include <type_traits>

#include "event/decision.h"
#include "event/event.h"

namespace tandem {

template <class A, class E>
void fields(A&& a, E& e) {
  using T = std::remove_const_t<E>;
  if constexpr (std::is_same_v<T, JobSubmitted>) a("job", e.job)("spec", e.spec);
  if constexpr (std::is_same_v<T, JobCancelled>) a("job", e.job)("reason", e.reason);
  if constexpr (std::is_same_v<T, JobResumed>) a("job", e.job);
  if constexpr (std::is_same_v<T, NodeJoined>) a("node", e.node)("name", e.name)("capacity", e.capacity);
  if constexpr (std::is_same_v<T, TaskStarted>)
    a("task", e.task)("attempt", e.attempt)("decision", e.decision)("pid", e.pid)(
        "pid_started", e.pid_started)("cpus", e.cpus);
  if constexpr (std::is_same_v<T, EpochEnded>)
    a("task", e.task)("attempt", e.attempt)("epoch", e.epoch)("metrics", e.metrics)("seconds", e.seconds)(
        "energy", e.energy)("profile", e.profile);
  if constexpr (std::is_same_v<T, CheckpointTaken>)
    a("task", e.task)("attempt", e.attempt)("decision", e.decision)("epoch", e.epoch);
  if constexpr (std::is_same_v<T, SystemChanged>)
    a("task", e.task)("attempt", e.attempt)("decision", e.decision)("granted", e.granted);
  if constexpr (std::is_same_v<T, TaskEnded>) a("task", e.task)("attempt", e.attempt)("energy", e.energy);
  if constexpr (std::is_same_v<T, TaskFailed>)
    a("task", e.task)("attempt", e.attempt)("failure", e.failure)("detail", e.detail)(
        "last_output", e.last_output)("energy", e.energy);
  if constexpr (std::is_same_v<T, DecisionRefused>) a("decision", e.decision)("reason", e.reason);
  if constexpr (std::is_same_v<T, Woke>) a("decision", e.decision);

  if constexpr (std::is_same_v<T, Request>) a("task", e.task)("job", e.job)("wanted", e.wanted);
  if constexpr (std::is_same_v<T, Start>)
    a("task", e.task)("attempt", e.attempt)("node", e.node)("granted", e.granted);
  if constexpr (std::is_same_v<T, Continue>) a("task", e.task)("attempt", e.attempt)("epoch", e.epoch);
  if constexpr (std::is_same_v<T, Resize>) a("task", e.task)("attempt", e.attempt)("granted", e.granted);
  if constexpr (std::is_same_v<T, TakeCheckpoint>) a("task", e.task)("attempt", e.attempt);
  if constexpr (std::is_same_v<T, Stop>) a("task", e.task)("attempt", e.attempt)("reason", e.reason);
  if constexpr (std::is_same_v<T, Wake>) a("until", e.at);  // "at" is when an event happened
  if constexpr (std::is_same_v<T, FinishJob>) a("job", e.job)("state", e.state)("reason", e.reason);
}

}  // namespace tandem
