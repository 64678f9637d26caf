// What bench/dias_local plays on: the inputs of the jobs, the speed of this machine, the sensor and the wish
// to stop, put together so that whole sequences of jobs can be served.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/task_sensor.h"
#include "platform/temporary.h"
#include "runtime/bags/bag_job.h"
#include "runtime/bags/guardian.h"
#include "runtime/bags/server.h"

namespace tandem::bench {

inline constexpr std::size_t kHigh = 0, kLow = 1;
inline constexpr const char* kNames[] = {"high", "low"};

struct StageOptions {
  std::string bag{};  // the program tandem-bag
  std::size_t bytes = 24'000'000;
  std::uint32_t vertices = 34'000, edges = 32;
  int tasks = 50;         // of a job, as in the thesis' reference set-up
  double base = 1.0 / 3;  // 800 MHz of 2.4 GHz
  std::uint64_t seed = 1;
};

// What a sequence of jobs came to.
struct Played {
  bags::BagRun run{};
  std::vector<double> loss{};  // of each job, against the whole
};

class Stage {
 public:
  explicit Stage(StageOptions);

  // Which tasks are dropped is drawn anew for another draw.
  Played play(const std::vector<bags::BagArrival>&, const bags::BagPolicy&, std::uint64_t draw = 0);

  const std::vector<bags::BagJob>& jobs() const { return jobs_; }  // by class
  bags::Speed& speed() { return *speed_; }
  const StageOptions& options() const { return options_; }
  int slots() const { return static_cast<int>(cpus_.size()); }
  measure::PowerModel power() const { return measure::default_power_model(slots()); }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void make_inputs();
  double loss(const bags::BagEnd&);

  StageOptions options_;
  std::vector<int> cpus_;
  platform::TemporaryFolder folder_{"tandem-dias"};
  bags::Guardian tidy_;
  std::optional<bags::Speed> speed_;
  std::optional<measure::TaskSensor> sensor_;
  platform::Descriptor stop_;
  std::vector<bags::BagJob> jobs_;
  std::map<std::size_t, bags::Counts> whole_;  // by class
  std::vector<std::string> notes_;
};

}  // namespace tandem::bench
