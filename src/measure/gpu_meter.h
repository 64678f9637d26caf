// The energy of GPUs by NVML: each card's own counter, or samples of its power where it has none.
//
// A counter that went back (the driver was loaded anew) is a break: that stretch is not known, never
// negative. Samples are taken at each `read`, so read at least once a second; they are marked in the source,
// as is a recording. One thread; the library is shared with others of the same thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "measure/counter_steps.h"
#include "measure/meter.h"
#include "measure/power_integral.h"
#include "platform/nvml.h"

namespace tandem::measure {

// One GPU.
class GpuMeter : public Meter {
 public:
  GpuMeter(std::shared_ptr<platform::Nvml>, std::size_t gpu, Clock);
  // "nvml", "nvml (power samples)", "nvml recording", "nvml recording (power samples)".
  std::string source() const override;
  bool measured() const override { return true; }
  std::optional<MeterReading> read() override;
  // Polls the counter until it is known when it steps (a tenth of a second or two; at most 0.6 s a GPU), so
  // that readings of the next seconds are better than its steps. What was read last is made up for.
  void find_steps(const std::function<void(Seconds)>& pause);

 private:
  struct Count {
    Seconds at;
    std::uint64_t millijoules;
  };
  std::optional<Count> count() const;
  std::optional<MeterReading> read_counter();
  std::optional<MeterReading> read_power();

  std::shared_ptr<platform::Nvml> nvml_;
  std::size_t gpu_;
  Clock clock_;
  bool counts_;  // it has a counter
  std::optional<Count> last_;
  MeterReading reading_;  // by the counter
  CounterSteps steps_;
  double ahead_ = 0, told_ = 0;  // joules: what earlier readings were short of; what was told last
  PowerIntegral integral_;
};

// All GPUs of the machine together. Can tell only while all of them can.
class NvmlMeter : public Meter {
 public:
  NvmlMeter(const std::shared_ptr<platform::Nvml>&, const Clock&);
  std::string source() const override;  // each way of measuring once
  bool measured() const override { return true; }
  std::optional<MeterReading> read() override;

 private:
  std::vector<GpuMeter> gpus_;
};

}  // namespace tandem::measure
