// What Slurm's commands print, as values. Pure; never trusts what it reads: a field that is missing or of
// another kind is left out and said so, a listing that is no listing is a SystemError.
//
// Nodes come from `sinfo --json`. Jobs come from `squeue --format`, not from its JSON: that one ignores every
// filter (22.05.8: `squeue --json -u nobody` prints all jobs, 3.6 kB each) and exits with 0 when the
// controller cannot be reached, so that "no answer" looks like "no jobs". `sinfo --json` does the latter too;
// its `errors` are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tandem::slurm {

using SlurmJobId = std::int64_t;

struct SlurmNode {
  std::string name, address, architecture;
  int cpus = 0;
  Bytes memory = 0;
  std::string gres, features;           // "gpu:a100:4"; empty: none
  std::string state;                    // "idle", "mixed", "allocated", "down", ...
  std::vector<std::string> flags;       // "DRAIN", "NOT_RESPONDING", ...
  std::string reason;                   // why an administrator took it away
  std::vector<std::string> partitions;  // it may be in several
  bool usable() const;                  // a job could be started there, now or when others have ended
};

struct SlurmNodes {
  std::vector<SlurmNode> nodes;         // by name
  std::vector<std::string> complaints;  // entries that could not be understood, and why
};
SlurmNodes parse_sinfo(std::string_view json);

enum class JobPhase {
  pending,
  running,  // RUNNING, COMPLETING, CONFIGURING, SUSPENDED...: it may have processes
  completed,
  failed,     // its script exited with another status than 0, or could not be launched
  cancelled,  // by a person, or preempted for another job
  timed_out,  // its time limit, or a deadline
  out_of_memory,
  node_failed  // processes may live on where Slurm cannot see them
};
std::optional<JobPhase> job_phase(std::string_view state);  // none: a word we do not know

struct QueuedJob {
  SlurmJobId id = 0;
  JobPhase phase = JobPhase::pending;
  std::string state, reason, nodes;
  std::optional<Seconds> left;  // until its time limit, where there is one
  std::string comment;
};
inline constexpr const char* kQueueFormat = "--format=%A|%T|%r|%N|%L|%k";

struct Queue {
  std::vector<QueuedJob> jobs;
  std::vector<std::string> complaints;
};
// From `squeue --noheader --states=all` with kQueueFormat.
Queue parse_squeue(std::string_view text);

// "1-02:03:04", "03:04", "59": a span as Slurm writes it. None for UNLIMITED, INVALID, NOT_SET.
std::optional<Seconds> parse_span(std::string_view);

// From `sbatch --parsable`: "123" or "123;cluster". None: that was no answer.
std::optional<SlurmJobId> parse_sbatch(std::string_view);

// Joules, the most of any step, from `sstat` (submit.h): a job's steps are on the same nodes. None where the
// site does not gather energy: Slurm then says 0, or nothing.
std::optional<double> parse_energy(std::string_view);

// Why a pending job will never run as it was submitted ("PartitionConfig": it is larger than any node); empty
// while it may.
std::string hopeless(std::string_view reason);
// A pending job waits for a node that is down, drained or reserved: it may come back, or not for days.
bool node_away(std::string_view reason);

}  // namespace tandem::slurm
