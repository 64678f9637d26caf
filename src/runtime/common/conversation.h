// One attempt's conversation with its program (docs/protocol.md), over all the processes or jobs it runs in:
// the same in every world that runs programs. Pure, the clock is handed in (steady seconds). The world sends
// what is returned here and turns what was heard into events.
//
// A program that moves (resized, held, or at the end of its time) is told to stop after a report, whose
// checkpoint is durable, and is started again from it elsewhere. If it moved while its report was not
// answered, `gated` keeps the answer to its next hello back until the Continue comes: a report is answered by
// a decision only.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "event/decision.h"
#include "event/event.h"
#include "event/view.h"
#include "protocol/message.h"

namespace tandem::runtime {

// Parts of an epoch that are told one by one, where the controller asks for them. What a program does at once
// after its GPUs were set, or at the beginning of an epoch, shows nothing of how it goes on. A GPU follows a
// new limit within a tenth of a second, and its energy counter moves in steps of up to that.
struct SliceLengths {
  Seconds settling{0.2}, slice{0.5};
};

// A program says a few lines an epoch, and may say how far it is as often as it likes; one that says more than
// this beside its reports floods, and has broken the contract (docs/protocol.md).
inline constexpr std::int64_t kMostLines = 10'000;
inline constexpr Seconds kLinesWithin{10};

struct Conversation {
  TaskId task = 0;
  protocol::Begin begin{};          // what Hello is answered with
  bool plain = false;               // a command that reports nothing: its exit status is all there is
  std::int64_t counted_before = 0;  // epochs of earlier attempts, and of earlier jobs of this one
  std::int64_t cloned_at = 0;       // the epoch of another task it begins after; 0: not a clone
  std::int64_t last_epoch = 0;      // the last one reported (or resumed after)
  bool first_report = true;         // none yet in this process
  bool said_hello = false;          // in this process
  // Metrics that must be numbers; others that were none, and of which that was said.
  std::vector<std::string> objectives{};
  std::set<std::string> not_finite{};
  bool keeps_checkpoints = false;   // as its last hello said
  bool sets_precision = false;      // the same
  bool owes_answer = false;         // it has reported and waits
  bool gated = false;               // its next Begin waits for a Continue
  bool begin_due = false;           // its hello waits for that
  std::optional<Resources> news{};  // changed since its last answer
  std::optional<DecisionId> checkpoint_asked{};
  Seconds stretch_from{}, startup{};  // of the present epoch; until it was ready, not yet reported
  Seconds stall_after{600};           // without a word
  std::optional<Seconds> stall_at{};  // none: it waits for us

  bool slices = false;  // its controller wants to hear of parts of its epochs
  SliceLengths lengths{};
  double progress = 0;  // of the present epoch, as far as it said
  struct Slice {
    double from_share = 0;  // of the epoch
    Seconds from;
  };
  std::optional<Slice> slice{};  // none: it is settling
  Seconds settling_from{};
  std::int64_t lines = 0;  // beside reports, since
  Seconds lines_from{};

  // It could be stopped now and started again elsewhere without losing more than the epoch it is at.
  bool movable() const { return keeps_checkpoints || (!plain && !said_hello && first_report); }
  // All its epochs are reported: what it does now is its own, and may take as long as an epoch.
  bool complete() const { return !plain && last_epoch >= begin.epochs; }
  bool reported_any() const { return last_epoch > 0 || counted_before > 0; }
};

// As a task's attempt begins. `folder`: the task's own.
Conversation begin_conversation(const std::string& run, const Start&, const TaskView&, const spec::TrainJob&,
                                const std::string& folder);
// The metrics its job is judged by.
std::vector<std::string> objectives_of(const View&, const TaskView&);
// Its process has begun: its time counts from here.
void begun(Conversation&, Seconds now);
// It was resized: it hears of it with its next answer, or when it begins again.
void resized(Conversation&, const Resources&);
// A new process of the same attempt is to come.
void begin_again(Conversation&, Seconds now);

// What a line of the program came to; at most one of these, and `ready` or `slice` beside none.
struct Heard {
  bool wants_begin = false;  // a hello: answer with begin_line, unless it is gated
  bool ready = false;        // what it does from here on is training
  std::optional<EpochEnded> epoch{};
  std::optional<SliceEnded> slice{};
  std::optional<CheckpointTaken> checkpoint{};             // one that was asked for
  std::optional<std::pair<Failure, std::string>> fails{};  // it is not what its spec needs, in words
  std::string warning{};       // for people, beside an epoch
  std::string loaded{};        // what it has imported (protocol::Epoch)
  std::string past_the_end{};  // a report that is not counted, in words; answer with stop, unless it is plain
};
// Throws protocol::ProtocolError: the program broke the contract.
Heard hear(Conversation&, const std::string& line, Seconds now);

// The line that answers its hello.
std::string begin_line(Conversation&, Seconds now);
// The line that answers its report.
std::string answer(Conversation&, bool stop, Seconds now);
// The line that answers what broke the contract, and how long it may take to end after it by itself.
std::string refusal(const std::string& reason);
inline constexpr Seconds kLastWords{1};
// What it does now shows nothing of how it will go on: the slice at hand is dropped.
void settle(Conversation&, Seconds now);

std::string stalled(const Conversation&);  // what is said of one that was silent for too long

// How a process ended, as the operating system says.
struct Exit {
  bool signalled = false;
  int status = 0;                  // or the signal
  std::int64_t out_of_memory = 0;  // of its processes, ended by the kernel
  Bytes memory_limit = 0;          // 0: not known
};
// What an attempt comes to that was not told to stop.
struct Judgement {
  bool well = false;
  Failure failure = Failure::lost;
  std::string detail{};
};
Judgement judge(const Exit&);                       // of a process that need not report: a follower's
Judgement judge(const Exit&, const Conversation&);  // of the one that speaks

}  // namespace tandem::runtime
