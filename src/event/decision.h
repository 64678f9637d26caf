// What shall be done: the imperative half of Tandem's vocabulary.
//
// Job controllers emit Request, Continue, Hold, Release, Retune, TakeCheckpoint, Wake, Learn and FinishJob;
// only the allocator emits Start, Resize and Stop, and Continue or Hold for a task whose controller asked by
// Request. An allocator that can never start what a job asks for ends the job by FinishJob too. A decision is
// journalled with the event that led to it before anything is done about it. Start, Resize, Retune, Stop,
// TakeCheckpoint and Wake each end in exactly one outcome event; Request ends in Start, Continue or
// FinishJob; the others are complete once journalled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/resources.h"
#include "base/units.h"
#include "event/ids.h"
#include "event/knowledge.h"

namespace tandem {

// One trial of a tuning job, as far as the task that runs it must know.
struct TrialPart {
  Values hyper;                        // all of it: what varies and what is fixed
  std::int64_t epochs = 1;             // the most it may run
  std::int64_t until = 1;              // it is judged after this epoch
  std::int64_t bracket = 0, rung = 0;  // of an experiment: the run's number, and which replication it is
  std::optional<TaskId> clone_from{};  // begins from the weights of this task
  std::int64_t clone_epoch = 0;        // after this epoch of it
  Values point{};                      // what the searcher proposed
  bool operator==(const TrialPart&) const = default;
};

// What the system tuner is doing with a trial.
enum class Phase {
  none,       // its system parameters are not tuned
  profiling,  // its first epoch, in the reference configuration
  probing,    // configurations are being tried that nothing is known of
  reusing,    // an earlier job's work was alike: its measurements are used
  settled,    // all that matters was measured
};
const char* name(Phase);

// One configuration a task could run in, and how long an epoch takes there, as far as is known. A task with
// one option of 1 s has told nothing; others are compared with each other, too.
struct Option {
  Resources resources;
  double seconds = 1;
  bool operator==(const Option&) const = default;
};

// A job asks for a task to be run, or, once the task has reported an epoch, to be run on. The allocator
// answers with Start, or with Continue (after a Resize where the resources change), when there is room.
struct Request {
  TaskId task = 0;
  JobId job = 0;
  Resources wanted;  // used when there are no options
  std::optional<TrialPart> trial{};
  std::vector<Option> options{};  // any of these will do; the allocator weighs them against what others ask
  std::int64_t epochs_left = 1;   // of work before it is judged
  int priority = 0;               // higher first; among equals the lower task first
  Phase phase = Phase::none;
  std::int32_t workload =
      -1;                  // trials of a job whose epochs cost alike have the same number; -1: not known yet
  std::int32_t nodes = 1;  // of one machine type, each with all that is wanted
  bool slices = false;     // its controller wants to hear of parts of its epochs (SliceEnded)
  bool operator==(const Request&) const = default;
};

// One machine type a task could have been put on, or one node where the policy chooses among nodes, as it was
// seen when the task was placed.
struct PlacementCandidate {
  NodeId node = 0;  // of the type: its first
  bool room = true;
  double score = 0;
  double energy_part = 0;          // HEATS: of the score
  double seconds = 0, joules = 0;  // as expected there; joules 0: nobody knows
  double within = 0;               // place::Expected's
  std::int32_t from = 0;           // place::Expected::From
  std::string why{};               // where there is more to say than the numbers do
  bool operator==(const PlacementCandidate&) const = default;
};

// Why a task was put where it was, kept with the decision so that nobody need replay the journal to tell. The
// policy is the run's.
struct PlacementReason {
  static constexpr std::size_t kKept = 3;  // alternatives, the chosen one among them

  std::vector<PlacementCandidate> best{};  // best first
  NodeId chosen = 0;                       // of these: its `node`
  std::int32_t possible = 0;               // nodes of the types it may use
  std::int32_t waiting = 0;                // tasks that waited then, this one among them
  Seconds waited{};                        // since it was asked for
  std::optional<double> energy_weight{};   // HEATS'
  bool operator==(const PlacementReason&) const = default;
};

struct Start {
  TaskId task = 0;
  Attempt attempt = 1;
  NodeId node = 0;
  Resources granted;           // on each of its nodes
  double drop = 0;             // share of its work it shall leave out (DiAS)
  std::vector<NodeId> more{};  // of a gang: the nodes of its further processes, by rank; `node` is rank 0's
  std::optional<PlacementReason> reason{};  // none: of an allocator or a Tandem that kept none
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

// The GPUs a task has are set otherwise, in the middle of an epoch. It takes nothing from anybody, so that no
// allocator is asked.
struct Retune {
  TaskId task = 0;
  Attempt attempt = 1;
  Watts gpu_power;
  double gpu_clock = 0;
  bool slices = false;  // whether more of them are wanted
  bool operator==(const Retune&) const = default;
};

// The program waits for the answer to its report; its cores are free for others meanwhile, its memory is not.
struct Hold {
  TaskId task = 0;
  Attempt attempt = 1;
  std::int32_t workload = -1;  // as in Request, where it is known
  bool operator==(const Hold&) const = default;
};

// The controller is done with a task that is held or has just reported: the allocator shall stop it.
struct Release {
  TaskId task = 0;
  std::string reason;
  std::int32_t workload = -1;
  bool operator==(const Release&) const = default;
};

struct TakeCheckpoint {
  TaskId task = 0;
  Attempt attempt = 1;
  bool operator==(const TakeCheckpoint&) const = default;
};

// Ends a task: politely at an epoch's end, by force when it does not listen. With `again` it only makes room,
// or moves: its controller asks for it again, and it goes on from its checkpoint where it keeps some.
struct Stop {
  TaskId task = 0;
  Attempt attempt = 1;
  std::string reason;
  bool again = false;
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

// Remembered beyond this run, in the same transaction.
struct Learn {
  JobId job = 0;
  KnownWorkload workload;
  bool operator==(const Learn&) const = default;
};

using DecisionBody = std::variant<Request, Start, Continue, Resize, TakeCheckpoint, Stop, Wake, FinishJob,
                                  Hold, Release, Learn, Retune>;

struct Decision {
  DecisionId id = 0;
  DecisionBody body;
  bool operator==(const Decision&) const = default;
};

const char* name(const DecisionBody&);  // "Start"

}  // namespace tandem
