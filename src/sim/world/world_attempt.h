// One attempt of one task as the simulated world keeps it: what it was granted, and what it is doing until
// when.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "control/ledger.h"
#include "event/event.h"
#include "sim/world/power.h"
#include "sim/world/programs.h"

namespace tandem::sim {

enum class Doing : std::uint8_t {
  starting,  // until it is ready
  training,  // an epoch
  saving,    // the checkpoint it was asked for
  waiting,   // for the answer to its report
  ending,    // told to, or done
};

struct Attempted {
  // One of its nodes; several: it is a gang.
  struct Part {
    NodeId node = 0;
    std::uint32_t place = 0;  // in its node's list
    Claim claim{};            // on its node's energy
  };

  tandem::TaskId task = 0;
  Attempt number = 1;
  std::vector<Part> parts{};  // rank 0 first
  control::Holding holds{};   // of each of its nodes
  ProgramStart program{};
  ProgramEpoch epoch{};             // the one at work, or to come
  std::int64_t epochs = 1;          // the most it may run
  std::int64_t counted_before = 0;  // of earlier attempts
  std::int64_t last_epoch = 0;      // the last it reported, or resumed after
  bool first_report = true;
  bool plain = false;              // it reports nothing: its one epoch is all of it
  bool keeps_checkpoints = false;  // known once it is ready
  bool told_to_stop = false;
  bool stalls = false;  // what happens to it next is its stall limit
  std::optional<DecisionId> checkpoint_asked{};

  Doing doing = Doing::starting;
  Seconds doing_since{};
  double done = 0;  // of the epoch, before `doing_since`
  Seconds stretch_from{}, startup{};
  Seconds stall_after{600}, stall_at{};

  const Resources& granted() const { return holds.granted; }
  int cores() const { return holds.lent ? 0 : holds.granted.cores; }  // its own now: 0 while it is held

  // Share of the epoch that is done.
  double progress(Seconds now) const {
    const double all = epoch.seconds.value;
    return all > 0 ? done + (now - doing_since).value / all : 1;
  }
};

}  // namespace tandem::sim
