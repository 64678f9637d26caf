// One submission from sbatch to its end, as a pure state machine: what is heard of it goes in, what became of
// it comes out. Three sources tell, and any of them may be late, silent or wrong:
//   the agent    beside the program, over its connection: knows best while it is there
//   the record   the agent wrote: final, beats everything
//   the queue    Slurm's word: knows why a job waits and which nodes failed; forgets (MinJobAge, a controller
//   that
//                lost its state) and returns to earlier states (a controller restarted from an old save)
//
//   submitting ──> queued ──> allocated ──> running ──> over        (sbatch, squeue, the agent joins, the
//   record)
//        └───────────┴────────────┴── silent ──┘                    (the agent is gone and left no record)
//
// Rules:
// - It is over only when no process of it can be left: by a record, by a state of Slurm that means so, or,
// where
//   nobody can say (a node failed, the agent is silent), after `fence`: by then an agent that lived on has
//   noticed that it lost Tandem and has ended its program.
// - An answer that does not list the job says something only if the job was known before it was asked for.
// - A job that has run and waits again was requeued behind our back (`--no-requeue` makes Slurm refuse that):
// it is
//   cancelled, because its successor may be on its way.
// - Once over, nothing changes. `wants_cancel` may hold even then: what must not run shall be taken out of
// the queue.
#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "runtime/slurm/parse.h"
#include "runtime/slurm/record.h"

namespace tandem::slurm {

enum class Stage { submitting, queued, allocated, running, silent, over };
const char* name(Stage);

enum class End {
  exited,         // the record says how
  refused,        // Slurm would not take it, or can never run it: nothing ran
  cancelled,      // by a person or for another job, or because we asked for it
  timed_out,      // its time limit
  out_of_memory,  // Slurm's word for it
  failed,         // Slurm says so, and there is no record: the agent could not be run, or died
  node_failed,
  lost  // nobody knows
};
const char* name(End);

struct Ended {
  End end = End::lost;
  std::string detail;
  std::optional<ExitRecord> record;
  bool ran = false;  // the agent had joined
};

struct LifeOptions {
  Seconds record_grace{5};         // a record may take so long to be seen on another machine (NFS)
  Seconds fence{45};               // longer than an agent needs to miss Tandem and to end its program
  Seconds checkpoint_before{120};  // the end of its time
  Seconds unavailable{300};        // so long it waits for a node that is down or drained
};

class Life {
 public:
  explicit Life(LifeOptions = {});

  // sbatch
  void accepted(SlurmJobId, Seconds now);
  void refused(const std::string& reason);
  void unanswered(const std::string& reason,
                  Seconds now);  // it may have been taken all the same: the queue will tell
  // squeue, asked at `asked`; null: a good answer that does not list it. No answer is no call.
  void queue_says(const QueuedJob*, Seconds asked, Seconds now);
  // the agent
  void joined(Seconds now);
  void left(Seconds now);
  void recorded(const ExitRecord&);
  // ours
  void cancel(const std::string& why);
  void tick(Seconds now);

  Stage stage() const { return stage_; }
  const std::optional<Ended>& ended() const { return ended_; }
  std::optional<SlurmJobId> job() const { return job_; }
  // Never of a job that is not listed: its id may be another's by now.
  bool wants_cancel() const { return wants_cancel_ && listed(); }
  bool listed() const { return job_ && !missing_since_; }  // as far as we know, it is in Slurm's queue
  bool wants_record() const;                               // look for it: it may be there
  bool ever_joined() const { return ever_joined_; }
  bool cancel_asked() const { return wants_cancel_; }
  // The time of a step ends with that of its pilot.
  void limited_by(const Life& pilot) { limit_at_ = pilot.limit_at_; }
  const std::string& waits_for() const { return waits_for_; }  // Slurm's reason while it is queued
  // Its time is nearly up: what it has done should be made safe.
  bool walltime_near(Seconds now) const;
  bool time_is_up(Seconds now) const { return limit_at_ && now - *limit_at_ > Seconds{-2}; }

 private:
  void end(End, const std::string& detail);
  void end_by_queue(Seconds now);
  void waits(const QueuedJob&, Seconds now);

  LifeOptions options_;
  Stage stage_ = Stage::submitting;
  std::optional<SlurmJobId> job_;
  std::optional<Ended> ended_;
  bool wants_cancel_ = false, ever_joined_ = false, connected_ = false, ever_listed_ = false;
  std::string why_cancelled_, waits_for_, submit_error_;
  std::optional<JobPhase> queue_end_;  // Slurm says it is over
  std::string queue_detail_;
  std::optional<Seconds> missing_since_;  // Slurm says it is over or does not know it
  std::optional<Seconds> left_at_;
  std::optional<Seconds> unavailable_since_;  // it waits for a node that is away
  std::optional<Seconds> limit_at_;           // the end of its time
  std::optional<Seconds> known_since_;        // sbatch has answered, or has given up
};

}  // namespace tandem::slurm
