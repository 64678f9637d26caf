// All that is known: the clock, the nodes, the jobs and the tasks. A fold over the journal and nothing else.
//
// One owner (the loop); policies read it and keep no references. What `share` gives may be read by another
// thread. Jobs that were archived, and their tasks, are there no more; their ids stay theirs. Resources leave
// a node when Start is decided, not when the start is confirmed, and come back when the attempt has ended; a
// task that waits for the answer to its report keeps its memory and leaves its cores to others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/boxed.h"
#include "event/decision.h"
#include "event/event.h"
#include "event/id_table.h"

namespace tandem {

enum class TaskState {
  waiting,   // requested, not granted; its process may be there already, waiting for an answer
  starting,  // Start decided
  running,
  stopping,  // Stop decided
  held,      // reported and told to wait
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
  Seconds startup;  // of `seconds`
  Phase phase = Phase::none;
  std::int32_t workload = -1;
  bool mixed = false;  // it ran in more than one configuration; `granted` is the last
  std::optional<Joules> startup_energy{};
  std::vector<std::string> not_finite{};  // metrics without a value

  Seconds working() const { return seconds - startup; }
  // Without the start-up: where its energy was not told apart, its share is taken to be that of its time.
  // None where the epoch's energy is not wholly known.
  std::optional<Joules> working_energy() const;
};

struct TaskView {
  static constexpr Seconds kAtOnce{60};

  TaskId id = 0;
  JobId job = 0;
  TaskState state = TaskState::waiting;
  Resources wanted, granted;  // on each of its nodes
  int nodes_wanted = 1;
  std::optional<TrialPart> trial;  // of a tuning job
  std::vector<Option> options;
  std::int64_t epochs_left = 1;
  int priority = 0;
  Phase phase = Phase::none;
  std::int32_t workload = -1;
  bool slices = false;   // its controller wants to hear of parts of its epochs
  bool mixed = false;    // the present epoch has run in more than one configuration
  Boxed<Energy> sliced;  // what the present epoch's slices used so far
  int cores_held = 0;    // of `granted`, what is its own now, on each of its nodes
  Bytes memory_held = 0;
  int gpus_held = 0;
  bool alive = false;     // an attempt is starting, running, waiting or stopping
  bool parked = false;    // alive, but its CPUs were given to others: it needs a Resize before it can go on
  bool released = false;  // its controller wants no more of it
  bool evicted = false;   // stopped to make room or to move: it shall be asked for again
  std::string release_reason;
  struct Holding {
    Resources granted;
    int cores = 0;
    Bytes memory = 0;
    int gpus = 0;
    bool parked = false;
  };
  Boxed<Holding> before_resize;           // while a Resize is open: what comes back if it is refused
  NodeId node = 0;                        // of rank 0, which speaks for all
  std::vector<NodeId> more;               // those of the other ranks
  double drop = 0;                        // share of its work that is left out, of the newest attempt
  Attempt attempt = 0;                    // the newest; 0 before the first
  int preloaded = 0;                      // so many of its attempts
  std::optional<PlacementReason> reason;  // why it was put where it is; none: none was kept
  std::int64_t pid = 0, pid_started = 0;
  std::vector<int> cpus, gpus;      // by number, of the newest attempt; of a gang rank 0's
  std::vector<EpochRecord> epochs;  // one each, whichever attempt it came from
  Joules joules_between;  // spent outside the counted epochs: tails, failed and superseded stretches
  std::vector<EnergyPart> parts_between;  // of the same
  std::string energy_source;              // the last one seen; empty: none
  bool energy_complete = true;  // false once a stretch, or a part of one, went unmeasured (Tandem was gone)
  Seconds requested_at, started_at, ended_at;
  int failures = 0;  // since the job was last resumed
  int lost_at_once = 0;  // attempts in a row, the newest last, each lost within kAtOnce without a report
  Boxed<TaskFailed> last_failure;  // of an attempt, or of what one did after its last epoch
  bool keeps_size = false;  // a Resize of this attempt was refused: it shall not be asked to change again

  std::int64_t reported() const {
    if (!epochs.empty()) return epochs.back().epoch;
    return trial ? trial->clone_epoch : 0;
  }
  Joules joules() const;                         // all of it
  std::vector<EnergyPart> energy_parts() const;  // the same by device and source
  bool holds_resources() const { return alive; }
  // It ended well as far as its epochs go, and badly after them.
  bool failed_afterwards() const {
    return state == TaskState::ended && last_failure && last_failure->attempt == attempt;
  }
  template <class Visit>
  void each_node(Visit visit) const {  // by rank
    visit(node);
    for (const NodeId other : more) visit(other);
  }
  bool is_on(NodeId) const;
};

struct JobView {
  static constexpr std::size_t kMostRead = 1000;

  JobId id = 0;
  spec::Job spec;
  Owner owner;
  std::string key;  // of its submission
  JobState state = JobState::running;
  std::string reason;
  Seconds submitted_at, finished_at;
  bool cancelled = false;  // asked to end; cleared by JobResumed
  std::string cancel_reason;
  // Time with a task of it at work, over all sessions. While very many are at work at once, that of one that
  // runs is brought up to date when something happens to it (View::kTasksCounted).
  Seconds active;
  Seconds counted;   // View::worked up to which `active` was counted
  int at_work = 0;   // tasks of it that have a process
  Watts most_power;  // the greatest mean power of an epoch so far; 0: none has told
  std::vector<TaskId> tasks;
  std::set<std::string> hyper_read;  // hyperparameters its programs looked at; empty where none says so

  // What every kind has: name, program, limits, what a scheduler shall know.
  const spec::TrainJob& base() const { return spec::base_of(spec); }
  // The job as one of this kind; null where it is of another.
  template <class Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&spec);
  }
};

struct NodeView {
  static constexpr std::size_t kObserved = 30;

  NodeId id = 0;
  std::string name;
  Resources capacity;  // no cores: it is down
  Resources largest;   // capacity it ever had: what it will have again when it comes back
  std::string type;
  NodeTraits traits;
  int free_cores = 0;
  Bytes free_memory = 0;
  int free_gpus = 0;
  struct Observed {
    Seconds at;
    NodeLoad load;
  };
  std::vector<Observed> observed;  // since it joined last; the newest last, of them the last kObserved
};
// What is known of one is good for the other: the parts of a gang run on nodes of one type.
bool same_type(const NodeView&, const NodeView&);

// Something of the view that an event or a decision may have changed.
struct Touched {
  enum class What : std::uint8_t { task, job, node } what = What::task;
  std::int64_t id = 0;
};

class View {
 public:
  // While so many tasks are at work, the time of their jobs is counted at every event; of more, only that of
  // jobs that have a time limit.
  static constexpr std::size_t kTasksCounted = 64;
  Seconds now;
  std::int64_t events = 0;  // events applied; the number of the current one
  IdTable<NodeView> nodes;
  IdTable<JobView> jobs;
  IdTable<TaskView> tasks;
  // Indices, so that policies need not scan: tasks that wait to be granted something, and tasks that have a
  // process.
  std::set<TaskId> waiting, holding;
  IdTable<KnownWorkload> known;  // what earlier jobs learned
  std::int64_t learned = 0;      // Learn decisions so far
  std::map<DecisionId, Decision>
      open;  // decided, without outcome yet (Start, Resize, Stop, TakeCheckpoint, Wake)
  DecisionId next_decision = 1;
  std::map<JobState, std::int64_t> archived;  // how many jobs that ended so
  // For those who look back: jobs that stay here although they are archived.
  std::set<JobId> keeps;
  bool keeps_all = false;
  // Of the open ones: the decisions for each task, and when somebody shall be woken.
  std::set<std::pair<TaskId, DecisionId>> open_of_task;
  std::multiset<double> open_wakes;
  // What changed, so that a policy can keep indices of its own: since the last event but one. The first of
  // them has number `touched_before`; who has not seen that far must look at everything.
  std::vector<Touched> touched;
  std::uint64_t touched_before = 0;
  std::uint64_t touched_in_all() const { return touched_before + touched.size(); }
  Seconds worked;                 // time that passed while sessions were open
  std::set<JobId> at_work_timed;  // jobs with a process and a time limit

  void apply(const Event&);
  void apply(const Decision&);
  // As good as a copy, and cheap (id_table.h).
  View share();
  // Indices that follow from the rest, after that was read from somewhere.
  void index();

 private:
  std::size_t touched_by_last_ = 0;  // of `touched`: before the event being applied
};

inline const TaskView& task_at(const View& view, TaskId id) {
  return view.tasks[static_cast<std::size_t>(id)];
}

// What a task runs: its job, with what its trial changes. Replications of an experiment have seeds of their
// own, because the same seed would give the same result and hide how much it varies.
spec::TrainJob what_runs(const View&, const TaskView&);

}  // namespace tandem
