#include "runtime/slurm/life.h"

#include <fmt/format.h>

#include <utility>

namespace tandem::slurm {

const char* name(Stage stage) {
  switch (stage) {
    case Stage::submitting:
      return "submitting";
    case Stage::queued:
      return "queued";
    case Stage::allocated:
      return "allocated";
    case Stage::running:
      return "running";
    case Stage::silent:
      return "silent";
    case Stage::over:
      return "over";
  }
  return "?";
}

const char* name(End end) {
  switch (end) {
    case End::exited:
      return "exited";
    case End::refused:
      return "refused";
    case End::cancelled:
      return "cancelled";
    case End::timed_out:
      return "timed out";
    case End::out_of_memory:
      return "out of memory";
    case End::failed:
      return "failed";
    case End::node_failed:
      return "node failed";
    case End::lost:
      return "lost";
  }
  return "?";
}

Life::Life(LifeOptions options) : options_(options) {}

void Life::end(End how, const std::string& detail) {
  if (ended_) return;
  ended_ = Ended{how, detail, std::nullopt, ever_joined_};
  stage_ = Stage::over;
}

// ---- sbatch ----

void Life::accepted(SlurmJobId job, Seconds now) {
  job_ = job;
  known_since_ = now;
  if (stage_ == Stage::submitting) stage_ = Stage::queued;
}

void Life::refused(const std::string& reason) {
  end(End::refused, reason);
}

void Life::unanswered(const std::string& reason, Seconds now) {
  submit_error_ = reason;
  known_since_ = now;
}

// ---- squeue ----

void Life::queue_says(const QueuedJob* job, Seconds asked, Seconds now) {
  if (ended_) {
    // What is over must not be listed as waiting or running for long: a cancel may have been lost.
    if (!job || (job->phase != JobPhase::pending && job->phase != JobPhase::running)) wants_cancel_ = false;
    return;
  }
  if (!job) {
    if (known_since_ && asked >= *known_since_ && !missing_since_) missing_since_ = now;
    return tick(now);
  }
  if (!job_) accepted(job->id, now);  // sbatch's answer was lost; the comment found it
  ever_listed_ = true;
  switch (job->phase) {
    case JobPhase::pending:
      waits(*job, now);
      break;
    case JobPhase::running:
      queue_end_.reset();  // a controller that restarted from an old save takes its word back
      missing_since_.reset();
      waits_for_.clear();
      if (stage_ == Stage::submitting || stage_ == Stage::queued) stage_ = Stage::allocated;
      if (job->left) limit_at_ = now + *job->left;
      break;
    default:
      if (!missing_since_) missing_since_ = now;
      queue_end_ = job->phase;
      queue_detail_ = job->reason.empty() || job->reason == "None"
                          ? job->state
                          : fmt::format("{}, {}", job->state, job->reason);
  }
  tick(now);
}

void Life::waits(const QueuedJob& job, Seconds now) {
  if (ever_joined_ || stage_ == Stage::allocated) {
    cancel("Slurm put it back into its queue");
    return;
  }
  stage_ = Stage::queued;
  queue_end_.reset();
  missing_since_.reset();
  waits_for_ = job.reason;
  if (const auto never = hopeless(job.reason); !never.empty()) {
    wants_cancel_ = true;
    return end(End::refused, never);
  }
  if (!node_away(job.reason))
    unavailable_since_.reset();
  else if (!unavailable_since_)
    unavailable_since_ = now;
  if (unavailable_since_ && now - *unavailable_since_ >= options_.unavailable) {
    wants_cancel_ = true;
    end(End::node_failed, fmt::format("its node is not available (Slurm: {})", job.reason));
  }
}

// ---- the agent ----

void Life::joined(Seconds) {
  if (ended_) return;
  ever_joined_ = connected_ = true;
  left_at_.reset();
  stage_ = Stage::running;
}

void Life::left(Seconds now) {
  connected_ = false;
  left_at_ = now;
  if (!ended_) stage_ = Stage::silent;
}

void Life::recorded(const ExitRecord& record) {
  if (ended_) return;
  end(End::exited, "");
  ended_->record = record;
  wants_cancel_ = false;
}

// ---- ours ----

void Life::cancel(const std::string& why) {
  if (ended_ || wants_cancel_) return;
  wants_cancel_ = true;
  why_cancelled_ = why;
}

bool Life::wants_record() const {
  return !ended_ && (left_at_ || missing_since_);
}

bool Life::walltime_near(Seconds now) const {
  return !ended_ && connected_ && limit_at_ && *limit_at_ - now < options_.checkpoint_before;
}

void Life::tick(Seconds now) {
  if (ended_) return;
  if (stage_ == Stage::silent && now - *left_at_ >= options_.record_grace)
    cancel("its agent is gone and left no record");
  // While the agent is there, it knows better than a queue that forgot its job.
  if (connected_) return;
  // What never had an agent has no record to wait for; what is not listed may still turn up.
  const Seconds patience = ever_joined_ || !queue_end_ ? options_.record_grace : Seconds{0};
  if (missing_since_ && now - *missing_since_ >= patience) end_by_queue(now);
  if (!ended_ && left_at_ && now - *left_at_ >= 2 * options_.fence)
    end(End::lost, "its agent is gone, and Slurm does not say what became of the job");
}

// Slurm says it is over, or does not know it (any more), and no record turned up.
void Life::end_by_queue(Seconds now) {
  const bool fenced = !ever_joined_ || (left_at_ && now - *left_at_ >= options_.fence);
  const std::string why = why_cancelled_.empty() ? "" : "; " + why_cancelled_;
  if (!queue_end_) {
    if (!ever_listed_ && !submit_error_.empty()) return end(End::refused, submit_error_);
    if (fenced) end(End::lost, fmt::format("Slurm does not know job {} any more{}", *job_, why));
    return;
  }
  switch (*queue_end_) {
    case JobPhase::node_failed:
      if (fenced) end(End::node_failed, fmt::format("its node failed (Slurm: {})", queue_detail_));
      return;
    case JobPhase::cancelled:
      return end(End::cancelled,
                 fmt::format("job {} was cancelled (Slurm: {}){}", *job_, queue_detail_, why));
    case JobPhase::timed_out:
      return end(End::timed_out, fmt::format("its time on Slurm was up ({})", queue_detail_));
    case JobPhase::out_of_memory:
      return end(End::out_of_memory, fmt::format("Slurm: {}", queue_detail_));
    default:
      return end(End::failed, fmt::format("job {} ended without a record (Slurm: {})", *job_, queue_detail_));
  }
}

}  // namespace tandem::slurm
