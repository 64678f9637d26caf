// Programs that do again what they did in a real run: for `tandem sim --replay RUN`, with the same policies
// or others.
//
// Times. Epochs that cost alike are one workload class, as the run's tuner sorted them
// (tune/workload_class.h); where it did not, a workload class is one point of hyperparameters. An epoch takes
// the median of what was measured for its work in that configuration, the first ones of their processes
// apart. A configuration nobody ran is predicted from those that were: t(cores) = parallel / cores + serial,
// inversely with speed. Metrics are replayed by (hyperparameters, epoch). An epoch beyond those of the run
// repeats the last one; a point the run did not have is taken for the nearest it had. guesses() counts both,
// because a what-if is only as good as what it rests on. A trial that failed in the run fails in the same
// epoch.
//
// Not foreseen: that a smaller memory would not have been enough, and other types of machines. One owner;
// makes no use of the view once it is made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "event/view.h"
#include "sim/world/programs.h"

namespace tandem::sim {

// One epoch of the run beside what the others tell of it: it is left out when it is predicted.
struct PredictedEpoch {
  tandem::TaskId task = 0;
  std::int64_t epoch = 0;
  Seconds measured{};                  // without start-up
  std::optional<Seconds> predicted{};  // none: nothing else like it was measured
};

struct TaskError {
  tandem::TaskId task = 0;
  std::int64_t epochs = 0, unpredicted = 0;
  Seconds measured{}, predicted{};  // of those that were predicted, all together
  double median = 0;                // of the epochs' errors, as shares of what was measured, signs dropped
};
std::vector<TaskError> errors_by_task(const std::vector<PredictedEpoch>&);

struct Guesses {
  std::int64_t epochs = 0;          // asked for in all
  std::int64_t beyond = 0;          // of trials the run had stopped before
  std::int64_t points = 0;          // of hyperparameters the run did not have
  std::int64_t configurations = 0;  // that were predicted
};

class RecordedPrograms final : public Programs {
 public:
  // Of a run that is over. UserError when no epoch of it was measured. `keeps_checkpoints`: no event tells.
  explicit RecordedPrograms(const View& run, bool keeps_checkpoints = true);

  ProgramStart start(const ProgramRun&) override;
  ProgramEpoch epoch(const ProgramRun&, std::int64_t number, bool first) override;

  std::vector<PredictedEpoch> predictions() const;
  const Guesses& guesses() const { return guesses_; }

 private:
  struct Configuration {
    int cores = 1;
    double speed = 1;
    std::vector<double> first{}, later{};  // seconds of epochs: the first of their processes, and others
    double joules = 0, metered = 0;        // of epochs whose energy is known, and their seconds
    std::string source{};
    Metrics rates{};  // of the last of them
  };
  struct WorkloadClass {
    std::vector<Configuration> configurations{};
  };
  struct Recorded {
    Metrics metrics{}, rates{};
    int cores = 1;
    double speed = 1;
  };
  struct Point {
    std::size_t workload = 0;
    std::map<std::int64_t, Recorded> epochs{};  // by number
    std::optional<TaskFailed> failed{};         // in the epoch after the last
  };
  // Where an epoch of the run went.
  struct Observed {
    tandem::TaskId task = 0;
    std::int64_t epoch = 0;
    std::size_t workload = 0, configuration = 0, place = 0;
    bool first = false;
  };

  void add(const TaskView&, const Values& hyper, std::size_t workload);
  std::size_t configuration_of(WorkloadClass&, const Resources&);
  void observe(const TaskView&, std::size_t index, std::size_t workload);
  const Point& point_of(const Values& hyper);
  const Configuration* seen(const WorkloadClass&, const Resources&) const;

  // `left_out`: one of the measured seconds, as if it were not there.
  std::optional<double> seconds(const WorkloadClass&, int cores, double speed, bool first,
                                const double* left_out) const;
  std::optional<double> predicted(const WorkloadClass&, int cores, double speed, double warm,
                                  const double* left_out) const;
  double warmth(const WorkloadClass&, const double* left_out) const;

  bool keeps_checkpoints_;
  Seconds startup_{}, ending_{};
  std::vector<WorkloadClass> workloads_;
  std::map<Values, Point> points_;
  std::vector<Observed> observed_;
  Guesses guesses_;
};

}  // namespace tandem::sim
