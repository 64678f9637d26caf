// How long a task waits between Start and its program, on a Slurm cluster on loopback: as a job of its own,
// and as a step of a pilot that is there. Floor: a step starts in a fifth of the time at most.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "platform/temporary.h"
#include "runtime/slurm/cluster_testing.h"
#include "runtime/slurm/world.h"

namespace tandem::slurm {
namespace {

constexpr int kTasks = 15;
constexpr double kFloor = 5;

double steady_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Runner {
 public:
  explicit Runner(Pilots pilots) {
    SlurmOptions options;
    options.run = fmt::format("bench-{}-{}", ::getpid(), static_cast<int>(pilots));
    options.folder = folder_.path();
    options.agent = SLURM_AGENT;
    options.pilots = pilots;
    world_ = std::make_unique<SlurmWorld>(options);
    for (const auto& node : world_->nodes()) view_.apply(Event{Seconds{1}, node});
    spec::TrainJob job;
    job.program.command = {"/bin/true"};
    job.epochs = 0;  // a plain command
    view_.apply(Event{Seconds{1}, JobSubmitted{0, job}});
  }
  // Seconds from Start to TaskStarted; negative when it did not start within a minute.
  double start_one() {
    const TaskId task = next_++;
    const double from = steady_now();
    decide(Request{task, 0, {1, 0, 1.0}});
    decide(Start{task, 1, 0, {1, 0, 1.0}});
    double started = -1;
    while (steady_now() < from + 60)
      for (const auto& event : world_->wait(Seconds{1})) {
        view_.apply(event);
        if (std::holds_alternative<TaskStarted>(event.body)) started = steady_now() - from;
        if (std::holds_alternative<TaskEnded>(event.body)) return started;
        if (std::holds_alternative<TaskFailed>(event.body)) return -1;
      }
    return -1;
  }

 private:
  void decide(DecisionBody body) {
    const Decision decision{view_.next_decision, std::move(body)};
    view_.apply(decision);
    world_->carry_out(decision, view_);
  }
  platform::TemporaryFolder folder_;
  View view_;
  std::unique_ptr<SlurmWorld> world_;
  TaskId next_ = 0;
};

struct Spread {
  double least, median, most;
};
Spread spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), values[values.size() / 2], values.back()};
}

int run() {
  if (const auto& why = TestCluster::instance().missing(); !why.empty()) {
    fmt::print("{}\n", why);
    return 77;
  }
  // One after the other: a pilot holds its whole node.
  std::vector<double> jobs, steps;
  {
    Runner runner(Pilots::never);
    for (int i = 0; i < kTasks; ++i) jobs.push_back(runner.start_one());
  }
  Runner runner(Pilots::always);
  const double first = runner.start_one();
  for (int i = 0; i < kTasks; ++i) steps.push_back(runner.start_one());
  const Spread job = spread(jobs), step = spread(steps);
  fmt::print("from Start to the program, {} tasks each, one after the other: median (least to most)\n",
             kTasks);
  fmt::print("  a job of its own      {:.3f} s ({:.3f} to {:.3f})\n", job.median, job.least, job.most);
  fmt::print("  a step of a pilot     {:.3f} s ({:.3f} to {:.3f}); the pilot's first task {:.3f} s\n",
             step.median, step.least, step.most, first);
  const bool all_ran = job.least >= 0 && step.least >= 0;
  const double ratio = job.median / step.median;
  const bool held = all_ran && ratio >= kFloor;
  fmt::print("  {:.1f} times as fast (floor {}): {}\n", ratio, kFloor, held ? "held" : "MISSED");
  return held ? 0 : 1;
}

}  // namespace
}  // namespace tandem::slurm

int main() {
  return tandem::slurm::run();
}
