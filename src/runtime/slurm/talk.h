// One attempt's conversation with its program (docs/protocol.md), over all the jobs it runs in: pure, the
// clock is handed in. The world sends what is returned here and turns what was heard into events.
//
// A program that moves (resized, held, or at the end of its time) is told to stop after a report, whose
// checkpoint is durable, and is started again from it elsewhere. If it moved while its report was not
// answered, `gated` keeps the answer to its next hello back until the Continue comes: a report is answered by
// a decision only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "event/decision.h"
#include "event/event.h"
#include "protocol/message.h"
#include "runtime/slurm/life.h"

namespace tandem::slurm {

struct Talk {
  protocol::Begin begin;            // what Hello is answered with
  std::int64_t counted_before = 0;  // epochs of earlier attempts, and of earlier jobs of this one
  std::int64_t cloned_at = 0;       // the epoch of another task it begins after; 0: not a clone
  std::int64_t last_epoch = 0;      // the last one reported (or resumed after)
  bool first_report = true;         // none yet in this job
  bool said_hello = false;          // in this job
  bool keeps_checkpoints = false;   // as its last hello said
  bool owes_answer = false;         // it has reported and waits
  bool gated = false;               // its next Begin waits for a Continue
  bool begin_due = false;           // its hello waits for that
  std::optional<Resources> news;    // changed since its last answer
  std::optional<DecisionId> checkpoint_asked;
  Seconds stretch_from, startup;

  // A command that reports nothing: its exit status is all there is, and it may take as long as it likes.
  bool plain() const { return begin.epochs == 0; }
  // It could be stopped now and started again elsewhere without losing more than the epoch it is at.
  bool movable() const { return keeps_checkpoints || (!plain() && !said_hello && first_report); }
  // A new job of the same attempt begins.
  void begin_again(Seconds now);
};

// What a line of the program came to; at most one of these.
struct Heard {
  bool wants_begin = false;                // a hello: answer with talk.begin, unless it is gated
  std::optional<EpochEnded> epoch;         // task and attempt are the caller's to fill in
  std::optional<std::int64_t> checkpoint;  // the epoch of one that was asked for
  std::string cannot_begin;                // a hello of one that has not what it needs, in words
  std::string past_the_end;                // a report that is not counted, in words; to be answered with stop
};
// Throws protocol::ProtocolError: the program broke the contract.
Heard hear(Talk&, const std::string& line, Seconds now);

// The line that answers its report.
std::string answer(Talk&, bool stop, Seconds now);

// What an attempt that was not told to stop comes to.
struct Judgement {
  bool well = false;
  Failure failure = Failure::lost;
  std::string detail;
};
Judgement judge(const Ended&, const Talk&);

}  // namespace tandem::slurm
