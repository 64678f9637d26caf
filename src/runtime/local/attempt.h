// One attempt of one task as the local world keeps it: its process, or the processes of a gang's ranks, what
// it holds of the machine, and where its conversation stands.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/ledger.h"
#include "event/event.h"
#include "platform/cgroup.h"
#include "platform/process.h"
#include "protocol/message.h"
#include "runtime/common/conversation.h"

namespace tandem::local {

// The process of one rank, on one node.
struct RankProcess {
  NodeId node = 0;
  platform::Child child;
  std::optional<platform::Cgroup> cgroup;
  std::vector<int> cpus;       // none while it is held
  bool clock_limited = false;  // by cpufreq, to be restored
  bool ended = false;          // by itself or by us; it is not reaped at once
};

struct Attempted {
  TaskId task = 0;
  Attempt number = 1;
  std::vector<RankProcess> ranks;  // rank 0 speaks for all
  platform::Descriptor socket;  // none: it says nothing, or nothing more
  protocol::LineReader lines;
  control::Holding holds;
  std::vector<std::size_t> gpus;  // the machine's, by number
  bool rested = false;            // it was held since its last report
  runtime::Conversation talk;
  bool said_ready = false;  // and its sensor was not told yet

  bool told_to_stop = false;
  bool interrupted = false;                                // by our signal, not by an answer
  std::optional<std::pair<Failure, std::string>> after{};  // how it ended after its last epoch, if badly
  std::optional<std::pair<Failure, std::string>> verdict;  // why we ended it ourselves
  std::optional<Seconds> kill_at;                          // steady
  std::string kind;                                        // of its template (templates.h); empty: it has none
  bool preloaded = false;                                  // forked by it
  bool one_of_many = false;                                // a tuning job's: others like it will start
  std::optional<platform::Credentials> as;                 // the user its programs run as; none: ours

  const Resources& granted() const { return holds.granted; }  // on each node
  bool gang() const { return ranks.size() > 1; }
  bool may_stall() const { return talk.stall_at && !told_to_stop && !verdict; }
};

}  // namespace tandem::local
