// DiAS on this machine: bags of tasks that arrive with priorities, served one at a time by real processes.
//
// What is decided comes from place/: which tasks are dropped (dias_job.h's kept_tasks), when a job sprints
// and for how long (dias_sprint.h's budget). Here it is only done: a job is a process behind a gate until it
// is in the speed's control group; evicting it is killing it with all it started; sprinting it is raising the
// speed. The order of service is buffers.h's. An attempt that was killed is machine time wasted.
//
// One thread, no polling: it sleeps until the job ends, the next one arrives, the sprinter wants to be asked,
// or somebody wants it to stop. Jobs die with this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "control/ports.h"
#include "place/dias/dias_sprint.h"
#include "runtime/bags/speed.h"
#include "stats/queues/priority_model.h"

namespace tandem::bags {

struct BagArrival {
  Seconds at{};           // from the beginning
  std::size_t which = 0;  // class; 0 is the highest priority
};

// One start of a job.
struct BagStart {
  std::size_t job = 0, which = 0;  // the job's number is its arrival's
  int attempt = 0;                 // from 0
  std::vector<int> tasks{};        // that were not dropped
  std::filesystem::path result{};  // for the program to write
};

struct BagClass {
  int tasks = 1;                     // of a whole job
  double drop = 0;                   // share of them
  std::optional<Seconds> timeout{};  // sprint after so long; none: never
};

struct BagPolicy {
  stats::Discipline discipline = stats::Discipline::non_preemptive;  // or preemptive_restart
  std::vector<BagClass> classes{};                                   // the highest first
  std::optional<place::SprintLimit> limit{};                         // none: sprint without end
  Watts extra{};                                                     // of a sprint
};

struct BagEnd {
  std::size_t which = 0;
  Seconds arrived{}, began{}, ended{};  // began: the attempt that came to its end
  Seconds sprinted{};
  int attempts = 0;
  int tasks_run = 0;
  std::filesystem::path result{};

  Seconds response() const { return ended - arrived; }
  Seconds executing() const { return ended - began; }
};

struct BagRun {
  std::vector<BagEnd> ends{};  // by job
  Seconds took{};              // until the last one ended
  Seconds busy{}, wasted{}, sprinted{};
  std::optional<Energy> energy{};  // of all attempts; none where one of them went unmeasured

  double waste() const { return busy.value > 0 ? wasted / busy : 0; }
};

struct BagSetting {
  std::function<std::vector<std::string>(const BagStart&)> command{};  // to run
  std::filesystem::path folder{};                                      // for results and output
  Speed* speed = nullptr;
  control::Sensor* sensor = nullptr;  // may be none
  std::uint64_t seed = 1;             // of which tasks are dropped
  int stop = -1;                      // a descriptor: readable, serving stops with a UserError
  std::function<Seconds()> clock{};   // from 0, never back; none: the machine's. Looked at once a second
};

// Until all have ended. UserError where the policy cannot be; SystemError where a job fails: there is no
// answer to a broken program but to say so.
BagRun serve(const std::vector<BagArrival>&, const BagPolicy&, const BagSetting&);

}  // namespace tandem::bags
