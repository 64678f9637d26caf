// One attempt of one task as the local world keeps it: its process, or a gang's processes, what it was
// granted, and where its conversation stands.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "event/decision.h"
#include "event/event.h"
#include "platform/cgroup.h"
#include "platform/process.h"
#include "protocol/message.h"

namespace tandem::local {

using Moment = std::chrono::steady_clock::time_point;
Moment after(Seconds);  // from now; years at most

// One process of an attempt, on one node.
struct Seat {
  NodeId node = 0;
  platform::Child child;
  std::optional<platform::Cgroup> cgroup;
  std::vector<int> cpus;
  bool clock_limited = false;  // by cpufreq, to be restored
  bool ended = false;          // its process, by itself or by us; it is not reaped at once
};

struct Attempted {
  TaskId task = 0;
  Attempt number = 1;
  bool plain = false;       // it reports nothing
  double drop = 0;          // share of its work it leaves out
  std::vector<Seat> seats;  // by rank; rank 0 speaks for all
  platform::Descriptor socket;
  protocol::LineReader lines;
  Resources granted;              // on each node
  std::vector<std::size_t> gpus;  // the machine's, by number
  bool counted = false;           // its memory is taken from what is free
  bool rested = false;            // it was held since its last report

  bool gang() const { return seats.size() > 1; }
  bool held() const { return seats.front().cpus.empty(); }

  protocol::Begin begin;            // what Hello is answered with
  std::int64_t counted_before = 0;  // epochs of earlier attempts
  std::int64_t cloned_at = 0;       // the epoch of another task it begins after; 0: not a clone
  Seconds startup;                  // until it was ready, not yet reported
  std::int64_t last_epoch = 0;      // last one this attempt reported (or resumed after)
  bool first_report = true;
  bool keeps_checkpoints = false;
  bool sets_precision = false;    // it says that it can
  bool owes_answer = false;       // it has reported and waits
  std::optional<Resources> news;  // changed since its last answer
  std::optional<DecisionId> checkpoint_asked;

  bool told_to_stop = false;
  std::optional<std::pair<Failure, std::string>> verdict;  // why we ended it ourselves
  bool may_stall() const { return !owes_answer && !told_to_stop && !verdict; }
  Seconds stall_after{600};
  Moment stretch_from, stall_at;
  bool slices = false;  // its controller wants to hear of parts of its epochs
  double progress = 0;  // of the present epoch, as far as it said
  struct Slice {
    double from_share = 0;  // of the epoch
    Moment from;
  };
  std::optional<Slice> slice;  // none: it is settling
  Moment settled_at, settling_from;
  std::optional<Moment> kill_at;
  off_t output_from = 0;  // where its part of the output file begins
};

// The number of the epoch a report speaks of, or why it cannot be.
struct Numbered {
  std::int64_t epoch = 0;
  std::string error;
};
Numbered number_report(const Attempted&, const protocol::Epoch&);

// What an ended process comes to, from its wait status and what is known of it.
struct Ending {
  bool well = false;
  Failure failure = Failure::crashed;
  std::string detail;
};
Ending judge(const Attempted&, int code, int status, std::int64_t oom_kills);

// The environment of docs/protocol.md.
std::map<std::string, std::string> environment_for(const Attempted&);
// What each process of a gang is told beside it, in our names and in those torchrun uses.
std::map<std::string, std::string> gang_environment(std::size_t rank, std::size_t size,
                                                    const std::string& master, int port);
// Where a gang's processes can meet: free now, who takes it first has it. On any address where none is given.
int free_port(const char* address = nullptr);

// A clone begins with what the other task has on disk. It is copied once: a second attempt goes on from the
// clone's own.
void copy_checkpoints(const std::filesystem::path& from_task, const std::filesystem::path& to_task);

// The last lines a program printed, made printable.
std::string tail_of(const std::string& output_file, off_t from);

}  // namespace tandem::local
