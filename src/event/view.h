// All that is known: the clock, the nodes, the jobs and the tasks. A fold over the journal and nothing else.
//
// One owner (the loop); policies read it and keep no references. Dense vectors, indexed by id. Resources
// leave a node when Start is decided, not when the start is confirmed, and come back when the attempt has
// ended.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "event/decision.h"
#include "event/event.h"

namespace tandem {

enum class TaskState {
  waiting,   // requested, not granted
  starting,  // Start decided
  running,
  stopping,  // Stop decided
  ended,
  failed,  // of its last attempt; a new Request makes it wait again
};
const char* name(TaskState);

struct EpochRecord {
  std::int64_t epoch = 0;
  Attempt attempt = 0;
  Metrics metrics;
  Seconds at, seconds;
  std::optional<Energy> energy;
  Profile profile;
  Resources granted;
};

struct TaskView {
  TaskId id = 0;
  JobId job = 0;
  TaskState state = TaskState::waiting;
  Resources wanted, granted;
  std::optional<Resources> before_resize;  // while a Resize is open: what comes back if it is refused
  NodeId node = 0;
  Attempt attempt = 0;  // the newest; 0 before the first
  std::int64_t pid = 0, pid_started = 0;
  std::vector<int> cpus;
  std::vector<EpochRecord> epochs;  // one each, whichever attempt it came from
  Joules joules_between;        // spent outside the counted epochs: tails, failed and superseded stretches
  std::string energy_source;    // the last one seen; empty: none
  bool energy_complete = true;  // false once a stretch went unmeasured (Tandem was gone, or no source)
  Seconds requested_at, started_at, ended_at;
  int failures = 0;  // since the job was last resumed
  std::optional<TaskFailed> last_failure;

  std::int64_t reported() const { return epochs.empty() ? 0 : epochs.back().epoch; }
  Joules joules() const;  // all of it
  bool holds_resources() const {
    return state == TaskState::starting || state == TaskState::running || state == TaskState::stopping;
  }
};

struct JobView {
  JobId id = 0;
  spec::TrainJob spec;
  JobState state = JobState::running;
  std::string reason;
  Seconds submitted_at, finished_at;
  bool cancelled = false;  // asked to end; cleared by JobResumed
  std::string cancel_reason;
  Seconds active;  // time with Tandem at work on it, over all sessions
};

struct NodeView {
  NodeId id = 0;
  std::string name;
  Resources capacity;
  int free_cores = 0;
  Bytes free_memory = 0;
};

class View {
 public:
  Seconds now;
  std::int64_t events = 0;  // events applied; the number of the current one
  std::vector<NodeView> nodes;
  std::vector<JobView> jobs;
  std::vector<TaskView> tasks;
  std::set<TaskId> waiting, holding;  // tasks by what they wait for: an index, so that policies need not scan
  std::map<DecisionId, Decision>
      open;  // decided, without outcome yet (Start, Resize, Stop, TakeCheckpoint, Wake)
  DecisionId next_decision = 1;

  void apply(const Event&);
  void apply(const Decision&);
};

}  // namespace tandem
