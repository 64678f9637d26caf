// The energy the whole machine has used, from one source.
//
// A Meter counts up from some moment of its own; what matters is the difference of two readings. Where a
// stretch went unmeasured (the meter was away, or its counter jumped), `breaks` grows, and the difference
// across it means nothing. One thread uses a meter; those that wait for a network do so in a thread of their
// own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "platform/powercap.h"
#include "platform/procfs.h"

namespace tandem::measure {

using Clock = std::function<Seconds()>;  // never goes backwards
Seconds steady_now();
void sleep_for(Seconds);

struct MeterReading {
  Joules total;
  std::int64_t breaks = 0;
};

class Meter {
 public:
  virtual ~Meter() = default;
  virtual std::string source()
      const = 0;                      // "rapl", "model (idle 8 W, busy 30 W)"; goes wherever its joules go
  virtual bool measured() const = 0;  // false: a model
  // The machine's draw when it does nothing, and the most it may be; nullopt: not known.
  virtual std::optional<Watts> idle() const { return std::nullopt; }
  virtual std::optional<Watts> most() const { return std::nullopt; }
  virtual std::optional<MeterReading> read() = 0;  // nullopt: it cannot tell now
};

// CPU packages and memory by RAPL. Read it at least once a minute: a counter that may have wrapped more than
// once since the last reading is a break.
class RaplMeter : public Meter {
 public:
  RaplMeter(std::vector<platform::EnergyZone>, Clock);
  std::string source() const override { return "rapl"; }
  bool measured() const override { return true; }
  std::optional<MeterReading> read() override;

 private:
  struct Zone {
    platform::EnergyZone zone;
    std::uint64_t last = 0;
  };
  bool may_have_wrapped_twice(const platform::EnergyZone&, Seconds since) const;

  std::vector<Zone> zones_;
  Clock clock_;
  std::optional<Seconds> last_at_;
  MeterReading reading_;
};

// Power = idle + (busy - idle) * utilisation, over all cores. The kernel counts busy time as it passes, so
// the integral is exact and needs no sampling.
struct PowerModel {
  Watts idle, busy;  // of the whole machine
};
// Without better knowledge: 4 W a core idle and 15 W a core busy, about what a server with its memory, fans
// and supply draws for each of its cores.
PowerModel default_power_model(int cores);

class ModelMeter : public Meter {
 public:
  ModelMeter(PowerModel, int cores, platform::ProcFs, Clock);
  std::string source() const override;
  bool measured() const override { return false; }
  std::optional<Watts> idle() const override { return model_.idle; }
  std::optional<Watts> most() const override { return model_.busy; }
  std::optional<MeterReading> read() override;

 private:
  PowerModel model_;
  int cores_;
  platform::ProcFs proc_;
  Clock clock_;
  std::optional<Seconds> last_at_, last_busy_;
  MeterReading reading_;
};

}  // namespace tandem::measure
