// bench/tasks: how many do-nothing tasks a second go all the way: request, allocation, cgroup, process,
// sensor, protocol, journal, and the end.
//
// Each task is the native program `speaker` with one epoch and one core; as many run at a time as there are
// cores. Floor (issue 2): 150 tasks a second on 2 cores. Prints each repeat and the median; exits 1 below the
// floor.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "control/loop.h"
#include "measure/task_sensor.h"
#include "place/engine/scheduler.h"
#include "platform/temporary.h"
#include "runtime/local/world.h"
#include "store/store.h"

using namespace tandem;

namespace {

constexpr int kTasks = 500, kRepeats = 5;
constexpr double kFloor = 150;

// Asks for all tasks at once and continues every epoch; done when all have ended.
class ManyTasks final : public Policy {
 public:
  std::vector<DecisionBody> step(const View& view, const Event& event) override {
    std::vector<DecisionBody> out;
    if (std::holds_alternative<JobSubmitted>(event.body))
      for (TaskId task = 0; task < kTasks; ++task) out.push_back(Request{task, 0, {1, 0, 1.0}});
    if (const auto* epoch = std::get_if<EpochEnded>(&event.body))
      out.push_back(Continue{epoch->task, epoch->attempt, 1});
    if (std::holds_alternative<TaskEnded>(event.body) && view.waiting.empty() && view.holding.empty())
      out.push_back(FinishJob{0, JobState::finished, ""});
    if (std::holds_alternative<TaskFailed>(event.body))
      out.push_back(FinishJob{0, JobState::failed, "a task failed"});
    return out;
  }
};

double tasks_a_second(bool measured) {
  const platform::TemporaryFolder folder("tandem-bench-tasks");
  store::Store store(folder.path());
  const auto run = store.create_run("train", "bench", "{}", Seconds{1}).id;
  auto journal = store.journal(run);
  measure::SensorOptions sensing;
  sensing.around.cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  measure::TaskSensor sensor(sensing);
  local::LocalWorld world(
      {.run = run, .folder = store.run_folder(run), .sensor = measured ? &sensor : nullptr});
  std::vector<std::unique_ptr<Policy>> policies;
  policies.push_back(std::make_unique<ManyTasks>());
  policies.push_back(std::make_unique<place::Scheduler>(place::parse_policy("fifo:malleable"), 1));
  control::Loop loop({world, *journal, measured ? &sensor : nullptr, nullptr}, std::move(policies));
  loop.open();
  spec::TrainJob job;
  job.epochs = 1;
  job.program.command = {SPEAKER, "--no-checkpoints"};
  const auto from = std::chrono::steady_clock::now();
  loop.submit(job);
  loop.run();
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
  if (loop.view().jobs[0].state != JobState::finished) {
    fmt::print("failed: {}\n", loop.view().jobs[0].reason);
    std::exit(1);
  }
  return kTasks / took;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  std::vector<double> with, without;
  for (int r = 0; r < kRepeats; ++r) {
    with.push_back(tasks_a_second(true));
    without.push_back(tasks_a_second(false));
  }
  fmt::print("{} do-nothing tasks on {} cores, one core each, all events durable\n", kTasks,
             ::sysconf(_SC_NPROCESSORS_ONLN));
  fmt::print("measured (counters, energy): {:.0f} tasks/s, median {:.0f}\n", fmt::join(with, " "),
             median(with));
  fmt::print("without sensors:             {:.0f} tasks/s, median {:.0f}\n", fmt::join(without, " "),
             median(without));
  const bool good = median(with) >= kFloor;
  fmt::print("floor {:.0f}: {}\n", kFloor, good ? "holds" : "MISSED");
  return good ? 0 : 1;
}
