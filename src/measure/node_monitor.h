// Looks at this machine for infrastructure-aware placement: what is installed, what is in use, and how far
// the master is. It counts what looking costs and says when to look again, so that it stays under 0.5 % of
// one core (place/infra/infra_period.h).
//
// A share of CPU or network is that of the time since the look before, so the first look observes nothing;
// GPUs are sampled by their driver. What cannot be seen is said in `unknown`, never made up: where the
// network's speed is unknown its bandwidth is 0, and no job that demands some is sent there.
// One thread at a time; the cost is that thread's CPU time (NVML has no threads of its own).
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "place/infra/infra_nodes.h"
#include "place/infra/infra_period.h"
#include "platform/machine_load.h"
#include "platform/nvml.h"

namespace tandem::measure {

struct MonitorOptions {
  std::filesystem::path proc = "/proc", sys = "/sys";  // tests: recorded files
  double bandwidth = 0;  // bytes a second of its way to the network; 0: what the interface says
  // To the master and back (platform/round_trip.h); may throw SystemError. Empty: this is the master.
  std::function<Seconds()> latency{};
  place::PeriodOptions period{};
};

struct Look {
  place::NodeFacts facts{};
  std::optional<place::Observation> observation{};  // nullopt: `unknown` says why
  std::map<int, Seconds> busy{};  // with an observation: time each CPU was not idle since the look before,
  Seconds since;                  // and how long that is
  std::vector<std::string> unknown{};  // for people
  Seconds cost;                        // CPU time of this look
  Seconds next;                        // until the next one
};

class NodeMonitor {
 public:
  // `nvml` may be null: no GPUs.
  explicit NodeMonitor(MonitorOptions = {}, std::unique_ptr<platform::Nvml> nvml = nullptr);

  // `now`: the master's clock. Throws SystemError: /proc does not tell of cores or memory.
  Look look(Seconds now);

 private:
  struct Counters {
    Seconds at;
    platform::CpuTimes cpu;
    std::map<int, platform::CpuTimes> each_cpu;
    std::optional<platform::Uplink> uplink;
  };
  Counters read_machine(Seconds now, Look&, place::Shares&) const;
  void read_gpus(Look&, place::Shares&) const;
  std::optional<Seconds> read_latency(Look&) const;
  bool compare(const Counters& now, Look&, place::Shares&) const;
  bool compare_network(const Counters& now, Look&, place::Shares&) const;

  MonitorOptions options_;
  std::unique_ptr<platform::Nvml> nvml_;
  platform::MachineLoad load_;
  // Read once: without cpufreq it is the clock of the moment, and would look like new hardware every time.
  double clock_ = 0;
  std::optional<Counters> before_;
  place::Period period_;
};

// Of this thread so far: what a look costs is the difference of two.
Seconds thread_cpu_time();

// Enters what was seen into the catalogue; says whether the hardware was new or had changed.
place::Found enter(place::Catalogue&, const std::string& host, const Look&);

}  // namespace tandem::measure
