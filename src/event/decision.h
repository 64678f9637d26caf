// What shall be done: the imperative half of Tandem's vocabulary.
//
// Job controllers emit Request, Continue, TakeCheckpoint, Wake and FinishJob; only the allocator emits Start,
// Resize and Stop. A decision is journalled with the event that led to it before anything is done about it.
// Start, Resize, Stop, TakeCheckpoint and Wake each end in exactly one outcome event; Request ends in Start
// or FinishJob; Continue and FinishJob are complete once journalled.
#pragma once

#include <string>
#include <variant>

#include "base/resources.h"
#include "base/units.h"
#include "event/ids.h"

namespace tandem {

// A job asks for a task to be run with these resources; the allocator answers with Start when they are free.
struct Request {
  TaskId task = 0;
  JobId job = 0;
  Resources wanted;
  bool operator==(const Request&) const = default;
};

struct Start {
  TaskId task = 0;
  Attempt attempt = 1;
  NodeId node = 0;
  Resources granted;
  bool operator==(const Start&) const = default;
};

// Answers a program's epoch report: go on to the next one.
struct Continue {
  TaskId task = 0;
  Attempt attempt = 1;
  std::int64_t epoch = 0;  // the one that was reported
  bool operator==(const Continue&) const = default;
};

// Takes effect at once for the operating system; the program hears of it with its next answer.
struct Resize {
  TaskId task = 0;
  Attempt attempt = 1;
  Resources granted;
  bool operator==(const Resize&) const = default;
};

struct TakeCheckpoint {
  TaskId task = 0;
  Attempt attempt = 1;
  bool operator==(const TakeCheckpoint&) const = default;
};

// Ends a task: politely at an epoch's end, by force when it does not listen.
struct Stop {
  TaskId task = 0;
  Attempt attempt = 1;
  std::string reason;
  bool operator==(const Stop&) const = default;
};

struct Wake {
  Seconds at;
  bool operator==(const Wake&) const = default;
};

enum class JobState { running, finished, stopped, failed };
const char* name(JobState);

struct FinishJob {
  JobId job = 0;
  JobState state = JobState::finished;
  std::string reason;
  bool operator==(const FinishJob&) const = default;
};

using DecisionBody = std::variant<Request, Start, Continue, Resize, TakeCheckpoint, Stop, Wake, FinishJob>;

struct Decision {
  DecisionId id = 0;
  DecisionBody body;
  bool operator==(const Decision&) const = default;
};

const char* name(const DecisionBody&);  // "Start"

}  // namespace tandem
