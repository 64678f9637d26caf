// What happened: the past tense half of Tandem's vocabulary.
//
// Worlds report events, the control loop numbers and journals them, policies react to them. Every event is a
// plain value with a JSON form (codec.h). Extend the list when a capability needs a word; never smuggle
// meaning through strings.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/resources.h"
#include "base/units.h"
#include "base/value.h"
#include "event/energy.h"
#include "event/ids.h"
#include "event/knowledge.h"
#include "spec/any_job.h"

namespace tandem {

// One epoch's counters as rates per second of wall time. Only what was really measured is in it: the mask
// that goes with the vector is the set of names.
struct Profile {
  Metrics rates;
  bool operator==(const Profile&) const = default;
};

enum class Failure {
  crashed,          // exited with a non-zero status
  killed,           // by a signal nobody here sent
  stalled,          // no report within limits.stall
  out_of_memory,    // killed at its memory limit
  bad_report,       // it broke the protocol, or reported NaN for an objective
  silent,           // exited 0 without having reported its epochs
  lost,             // Tandem was gone and found it gone
  could_not_start,  // no such program, no permission
  no_space,         // ended by us: the disk of the store is full
};

// The user a job belongs to. A number below 0: the user who runs Tandem, as in journals that named none.
struct Owner {
  std::int64_t user = -1;
  std::string name{};
  bool operator==(const Owner&) const = default;
};

struct JobSubmitted {
  JobId job = 0;
  spec::Job spec;
  Owner owner{};
  // What its submission is known by when it is repeated; empty: it cannot be told from another one.
  std::string key{};
  bool operator==(const JobSubmitted&) const = default;
};

// A person asked for the end: `tandem stop`, Ctrl-C, or a limit of the job's own.
struct JobCancelled {
  JobId job = 0;
  std::string reason;
  bool operator==(const JobCancelled&) const = default;
};

// A person asked a stopped or failed job to go on.
struct JobResumed {
  JobId job = 0;
  std::optional<spec::Limits> limits{};  // raised, for good
  std::optional<spec::Budget> budget{};
  bool operator==(const JobResumed&) const = default;
};

// What is known of a node beside its size, as far as somebody said so.
struct NodeTraits {
  std::string architecture{};  // "x86-64"
  std::string accelerator{};   // the type of its GPUs
  std::vector<std::string> labels{};
  std::optional<Watts> idle{}, busy{};  // the whole node's draw
  double speed_factor = 1;              // how fast its cores are; 2: a job takes half as long
  double bandwidth = 0;                 // bytes a second of its way to the network; 0: not known
  bool operator==(const NodeTraits&) const = default;
};

// A node is there, or has changed: one that is down joins with no cores.
struct NodeJoined {
  NodeId node = 0;
  std::string name;
  Resources capacity;
  std::string type{};  // "AMD EPYC 7B13, 2 cores": what was learned on one is good for others of its type
  NodeTraits traits{};
  bool operator==(const NodeJoined&) const = default;
};

// The outcome of Start. `pid` with `pid_started` (clock ticks since boot, /proc/PID/stat) names the process
// for good.
struct TaskStarted {
  TaskId task = 0;
  Attempt attempt = 0;
  DecisionId decision = 0;
  std::int64_t pid = 0;
  std::int64_t pid_started = 0;
  std::vector<int> cpus;
  std::vector<int> gpus{};  // of its machine, by number
  bool preloaded = false;   // forked by a template that had imported what it imports
  bool operator==(const TaskStarted&) const = default;
};

struct EpochEnded {
  TaskId task = 0;
  Attempt attempt = 0;
  std::int64_t epoch = 0;  // counts from 1
  Metrics metrics;
  Seconds seconds;               // since the last report, or the start
  std::optional<Energy> energy;  // of the same stretch; none where nothing can tell
  Profile profile;               // of the same stretch without the start-up
  Seconds startup{};             // of `seconds`, what passed before the program was ready (its hello)
  std::optional<Joules> startup_energy{};  // of `energy`; none where nothing can tell
  std::vector<std::string> not_finite{};   // metrics that were NaN or infinite, and so have no value
  std::vector<std::string> hyper_read{};   // hyperparameters its program has looked at, where it says so
  bool operator==(const EpochEnded&) const = default;
};

// A part of an epoch passed in one configuration. Told only of tasks whose Request or Retune asks for slices,
// and whose program says how far it is.
struct SliceEnded {
  TaskId task = 0;
  Attempt attempt = 0;
  double share = 0;  // of the epoch's work that was done in it; 0: it was settling, and shows nothing
  Seconds seconds;
  std::optional<Energy> energy;  // of it; part of the epoch's
  bool operator==(const SliceEnded&) const = default;
};

// The outcome of TakeCheckpoint.
struct CheckpointTaken {
  TaskId task = 0;
  Attempt attempt = 0;
  DecisionId decision = 0;
  std::int64_t epoch = 0;
  bool operator==(const CheckpointTaken&) const = default;
};

// The outcome of Resize and Retune.
struct SystemChanged {
  TaskId task = 0;
  Attempt attempt = 0;
  DecisionId decision = 0;
  Resources granted;
  bool operator==(const SystemChanged&) const = default;
};

// The program ended as it should: after its last epoch, or after it was told to stop (the outcome of Stop).
struct TaskEnded {
  TaskId task = 0;
  Attempt attempt = 0;
  std::optional<Energy> energy;  // since the last report
  // All its epochs are reported and count, but what it did after them failed so; no detail: it ended well.
  Failure failure = Failure::crashed;
  std::string detail{}, last_output{};
  bool operator==(const TaskEnded&) const = default;
};

struct TaskFailed {
  TaskId task = 0;
  Attempt attempt = 0;
  Failure failure = Failure::crashed;
  std::string detail;       // "killed by signal 9 (SIGKILL)"
  std::string last_output;  // the last lines it printed
  std::optional<Energy> energy;
  std::optional<Seconds> ran{};  // of a lost one: until Tandem was last seen; none: not known
  bool operator==(const TaskFailed&) const = default;
};

// The world could not, or would not, carry a decision out; nothing changed.
struct DecisionRefused {
  DecisionId decision = 0;
  std::string reason;
  bool operator==(const DecisionRefused&) const = default;
};

// The outcome of Wake.
struct Woke {
  DecisionId decision = 0;
  bool operator==(const Woke&) const = default;
};

// What earlier jobs learned enters a run once, whole, before the job that may use it: the journal explains
// the run without the store, and replay sees what the run saw.
struct KnowledgeArrived {
  std::string source;  // "store", or the file it was imported from
  std::vector<KnownWorkload> known;
  bool operator==(const KnowledgeArrived&) const = default;
};

// What others than our own tasks use of a node, as shares from 0 to 1, and how far it is from the master and
// back; none: nobody can tell. What all share and nobody holds, the network, is counted whoever uses it.
struct NodeLoad {
  std::optional<double> cpu{}, memory{}, network{}, gpu{}, gpu_memory{};
  std::optional<Seconds> latency{};
  bool operator==(const NodeLoad&) const = default;
};

// Somebody looked at a node. It holds until the next one of the node, or until the node joins again; so it is
// reported only when it says something new (daemon/node_watch.h has the rule), not at every look.
struct NodeObserved {
  NodeId node = 0;
  NodeLoad load{};  // nothing known: the node cannot be seen any more
  bool operator==(const NodeObserved&) const = default;
};

// These jobs ended a while ago, and have nothing running: what decides forgets them (View::archived counts
// them). The journal still tells all of them.
struct JobsArchived {
  std::vector<JobId> jobs;
  bool operator==(const JobsArchived&) const = default;
};

using EventBody = std::variant<JobSubmitted, JobCancelled, JobResumed, NodeJoined, TaskStarted, EpochEnded,
                               CheckpointTaken, SystemChanged, TaskEnded, TaskFailed, DecisionRefused, Woke,
                               KnowledgeArrived, NodeObserved, SliceEnded, JobsArchived>;

struct Event {
  Seconds at;  // wall clock, seconds since 1970; the simulator's clock in the simulator
  EventBody body;
  bool operator==(const Event&) const = default;
};

const char* name(const EventBody&);  // "EpochEnded"
const char* name(Failure);           // "out of memory"

}  // namespace tandem
