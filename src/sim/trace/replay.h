// Replays a list of jobs on a cluster under a scheduling policy: who waits how long, how busy the machines
// are, what it costs.
//
// The level above training steps: a job is so many equal parts that run for so long, all at once. The policy
// is that of place/, carried out by the engine that the live scheduler uses too (place/engine/engine.h);
// stops take no time here: who must make room, or moves by checkpoint, waits again at once. At each moment
// jobs that are done leave, nodes fail or come back, jobs arrive, then the queue is served once; a policy
// that reschedules does so last, and only while nobody waits: a move that is under way is undone when
// somebody does. A job whose node fails loses what it did since its last checkpoint and waits again, at its
// old place; after kMostAttempts it is given up. A job that no empty cluster could hold is told as such and
// never waits. Nothing is thrown away: every job is done, given up, or can never be.
//
// The cost of an event grows with the logarithm of nodes and running jobs. Deterministic; any number side
// by side.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "place/engine/nodes.h"
#include "place/policy/policies.h"
#include "spec/cluster.h"

namespace tandem::sim {

// Watts of a node of a pool: linear from idle to busy, devices apart.
struct NodeDraw {
  double idle = 0;
  double cores = 0;  // what all its cores add when busy
  double a_gpu = 0;  // what one busy GPU adds
};

struct ReplayPool {
  std::string name, gpu_type{};
  place::Amount node{};
  std::size_t count = 1;
  std::optional<NodeDraw> draw{};  // none: not known
  std::string architecture{};      // for filters, as what follows
  std::vector<std::string> labels{};
  double slowness = 1;
};

struct ReplayShape {
  place::Amount part{};
  std::int64_t parts = 1;
  std::vector<std::uint32_t> pools{};  // it may run in; one of them, wholly
  std::string architecture{}, gpu_type{};
  std::vector<std::string> labels{};
  bool apart = false;  // each part on a node of its own, as live gangs are
};

struct ReplayJob {
  double submitted = 0;  // s
  double seconds = 0;    // it runs, where nothing else is said
  std::uint32_t shape = 0;
  int priority = 0;
};

struct ReplayInput {
  std::vector<ReplayPool> pools{};
  std::vector<ReplayShape> shapes{};
  std::vector<ReplayJob> jobs{};  // by submission
  // Seconds of each job in each pool, job by job; not finite: it cannot run there. Empty: the job's own.
  // `spread`: when its parts are on more than one node.
  std::vector<double> by_pool{}, by_pool_spread{};
  std::optional<spec::Failures> failures{};
  double checkpoint = 0;  // s between checkpoints; 0: none, a job starts again from its beginning
  std::uint64_t seed = 1;
  double sample = 0;  // s between looks at how full each node is; 0: none
  bool keep_steps = false;
};

inline constexpr std::uint32_t kMostAttempts = 1000;

struct JobFate {
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  double started = kNever, ended = kNever;  // the attempt that came to its end
  std::uint32_t pool = 0;
  std::uint32_t attempts = 0;
  std::uint32_t moves = 0;  // to other nodes while it ran; `pool` is the last
};

// How full the nodes were at one moment: shares of each node's cores and memory, pool by pool.
struct NodeSample {
  double at = 0;
  std::vector<float> cores{}, memory{};
};

// What was decided of a job.
struct ReplayStep {
  double at = 0;
  bool starts = true;  // or is stopped, to make room or to move
  std::uint32_t job = 0, pool = 0;
  std::vector<std::uint32_t> nodes{};  // of the pool, where it starts
};

struct Replayed {
  std::vector<JobFate> jobs{};                           // as in the input
  std::vector<std::uint32_t> never{};                    // no empty cluster could hold them
  std::vector<std::uint32_t> given_up{};                 // nodes failed under them too often
  double makespan = 0;                                   // from the first submission to the last end, s
  std::uint64_t events = 0;                              // arrivals, ends, failures, repairs
  double core_seconds = 0, gpu_seconds = 0;              // used
  double core_seconds_there = 0, gpu_seconds_there = 0;  // of nodes that were up
  double lost_seconds = 0;                               // of parts: done, and done again
  std::uint64_t failures = 0;
  std::uint64_t evictions = 0, moves = 0, moves_undone = 0;
  std::vector<NodeSample> samples{};
  std::vector<ReplayStep> steps{};  // in order, where the input asks for them; no moves without a stop
  std::optional<double> joules{};   // none: the draw of a pool is not known
};

// UserError for input that cannot be: no pools, a shape or pool that is not there, times that are not finite.
// Where the policy predicts, `predictor` does; without one the time the input says and the pools' draw are
// taken as known, and a draw that is not known is a UserError if energy has a weight.
Replayed replay(const ReplayInput&, const place::Policy&, place::Predictor* = nullptr);
Replayed replay(const ReplayInput&, const place::OrderEntry&);

// Joules that a job's parts add to what idle nodes draw, over so many seconds; 0 where the draw is not known.
double added_joules(const ReplayShape&, const ReplayPool&, double seconds);
// Joules that idle nodes draw in that time, by the share of a node that the job's parts hold: of cores,
// memory or GPUs, whichever they hold most of.
double idle_joules(const ReplayShape&, const ReplayPool&, double seconds);

// Of jobs that came to their end: waited from submission to the start of the last attempt, and how much
// longer than running they took in all.
struct Waits {
  std::size_t jobs = 0;
  double mean = 0, median = 0, p95 = 0, p99 = 0, most = 0;  // s
  double mean_response = 0;                                 // s, from submission to the end
  double mean_slowdown = 0;  // response over running, of at least kShortest seconds
};
inline constexpr double kShortest = 10;
Waits waits_of(const ReplayInput&, const Replayed&);

}  // namespace tandem::sim
