// What simulated programs do: how long an epoch takes, what it reports, and whether it comes to its end at
// all.
//
// The simulated world (world.h) asks when an attempt starts, before each epoch, and again when a task is
// resized in the middle of one. Answers are functions of what is asked and of a seed, never of when or how
// often: asked twice, they are the same. One thread uses them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "event/event.h"

namespace tandem::sim {

// One attempt of a task, and what it was given. Valid while the question is being answered.
struct ProgramRun {
  tandem::TaskId task = 0;
  JobId job = 0;
  Attempt attempt = 1;
  const spec::TrainJob& spec;  // of a tuning job: its base
  const Values& hyper;         // the trial's own, or the job's
  std::int64_t epochs = 1;     // the most it may run
  Resources granted{};
  const std::string& machine;  // the type of its nodes
  int nodes = 1;               // each with what is granted
  double drop = 0;             // share of its work it leaves out
};

// How an attempt begins, and how it ends.
struct ProgramStart {
  Seconds startup{};              // until it is ready to train; infinity: it never is
  bool keeps_checkpoints = true;  // one each epoch, durable before the epoch is reported
  Seconds checkpoint{};           // to take one that is asked for
  Seconds ending{};               // from its last answer to its end
  std::string cannot_start{};     // not empty: why there is no such program
};

struct ProgramEpoch {
  enum class Then {
    reports,
    fails,  // as `failure` says
    exits,  // with status 0, without a report
  };
  Seconds seconds{};  // until then; infinity: it hangs
  Then then = Then::reports;
  Metrics metrics{};               // what it reports
  Metrics rates{};                 // its profile
  double busy = 1;                 // share of its cores at work, in the mean
  Bytes memory = 0;                // the most it needs; above a limit of its own it is ended
  std::optional<Energy> energy{};  // where the node's power is not known (power.h)
  Failure failure = Failure::crashed;
  std::string detail{};
};

class Programs {
 public:
  virtual ~Programs() = default;
  virtual ProgramStart start(const ProgramRun&) = 0;
  // `first`: of its process.
  virtual ProgramEpoch epoch(const ProgramRun&, std::int64_t number, bool first) = 0;
};

// Jobs of a trace: job N takes so long on what it asked for, whatever the machine. Its epochs, usually one,
// are equal parts of that; after a failure it goes on with the part it was at.
class FixedPrograms final : public Programs {
 public:
  explicit FixedPrograms(std::vector<double> seconds_of_job, Seconds startup = {})
      : seconds_(std::move(seconds_of_job)), startup_(startup) {}
  ProgramStart start(const ProgramRun&) override;
  ProgramEpoch epoch(const ProgramRun&, std::int64_t number, bool first) override;

 private:
  std::vector<double> seconds_;
  Seconds startup_;
};

// An epoch is its samples' work, which cores share, and an overhead a batch, which they do not (starting
// kernels, waiting for each other):
//     seconds = (samples · a_sample / cores + batches · a_batch) / (speed · speed factor of the machine)
struct Curve {
  double samples = 60'000;
  double seconds_a_sample = 1e-4, seconds_a_batch = 1e-3;
  double startup = 0.5, ending = 0.01;
  double first = 1;   // how much longer the first epoch of a process takes
  double spread = 0;  // standard deviation of an epoch's time, as a share of it
  std::uint64_t seed = 1;
  bool keeps_checkpoints = true;
  std::map<std::string, double> speed_factor{};  // by type of machine, where it is not 1
  std::function<Metrics(const Values& hyper, std::int64_t epoch)> metrics{};      // none: accuracy, rising
  std::function<Metrics(const Values& hyper, const Resources& granted)> rates{};  // none: no profile
};

class CurvePrograms final : public Programs {
 public:
  explicit CurvePrograms(Curve curve) : curve_(std::move(curve)) {}
  ProgramStart start(const ProgramRun&) override;
  ProgramEpoch epoch(const ProgramRun&, std::int64_t number, bool first) override;

 private:
  Curve curve_;
};

// Other programs, some of whose epochs go wrong, by seed: somewhere in the middle a program crashes, is
// killed, or hangs until its stall limit.
struct Faults {
  double crash = 0, kill = 0, hang = 0;  // chances an epoch of an attempt
  std::uint64_t seed = 1;
};

class FaultyPrograms final : public Programs {
 public:
  FaultyPrograms(Programs& programs, Faults faults) : programs_(programs), faults_(faults) {}
  ProgramStart start(const ProgramRun& run) override { return programs_.start(run); }
  ProgramEpoch epoch(const ProgramRun&, std::int64_t number, bool first) override;

 private:
  Programs& programs_;
  Faults faults_;
};

// The batch size among hyperparameters; 0 where there is none.
double batch_among(const Values& hyper);

}  // namespace tandem::sim
