#include "measure/node_monitor.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tandem::measure {
namespace {

using place::Resource;

template <class Value>
Value needed(const std::optional<Value>& value, const std::string& file, const char* what) {
  if (value) return *value;
  throw SystemError(fmt::format("{} does not tell {}: this machine cannot be watched", file, what));
}

}  // namespace

Seconds thread_cpu_time() {
  timespec time{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) throw_errno("reading this thread's CPU time");
  return {static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec)};
}

NodeMonitor::NodeMonitor(MonitorOptions options, std::unique_ptr<platform::Nvml> nvml)
    : options_(std::move(options)),
      nvml_(std::move(nvml)),
      load_(options_.proc, options_.sys),
      clock_(load_.clock().value_or(0)),
      period_(options_.period) {}

Look NodeMonitor::look(Seconds now) {
  const Seconds start = thread_cpu_time();
  Look out;
  place::Shares in_use;
  const Counters counters = read_machine(now, out, in_use);
  read_gpus(out, in_use);
  const auto latency = read_latency(out);
  const bool compared = compare(counters, out, in_use);
  // Too soon for a share of time: the counters of before stay, so that the next look has more to compare.
  if (!before_ || counters.cpu.total > before_->cpu.total) before_ = counters;
  if (compared && latency) out.observation = place::Observation{now, in_use, *latency};
  out.cost = thread_cpu_time() - start;
  out.next = period_.looked(out.cost);
  return out;
}

NodeMonitor::Counters NodeMonitor::read_machine(Seconds now, Look& look, place::Shares& in_use) const {
  const std::string proc = options_.proc.string(), sys = options_.sys.string();
  const auto memory = needed(load_.memory(), proc + "/meminfo", "how much memory is available");
  look.facts.memory = memory.total;
  in_use[Resource::memory] = 1 - static_cast<double>(memory.available) / static_cast<double>(memory.total);
  look.facts.cores = needed(load_.cores(), sys + "/devices/system/cpu/online", "which cores are online");
  look.facts.clock = clock_;
  if (clock_ == 0) look.unknown.push_back("the clock of its cores: neither cpufreq nor cpuinfo tells");

  Counters out{now, needed(load_.cpu(), proc + "/stat", "how busy its cores are"), load_.cpus(),
               load_.uplink()};
  look.facts.bandwidth = options_.bandwidth;
  if (!out.uplink)
    look.unknown.push_back(
        "the load of its network: there is no default route, or its interface has no counters");
  else if (options_.bandwidth == 0 && out.uplink->speed)
    look.facts.bandwidth = *out.uplink->speed;
  else if (options_.bandwidth == 0)
    look.unknown.push_back(
        fmt::format("the bandwidth and load of its network: {} does not say how fast it is; state its "
                    "bandwidth",
                    out.uplink->name));
  return out;
}

// A job takes any of the GPUs, so what is free of them is a mean; but it dies on the one that is full, so of
// their memory it is the fullest that counts.
void NodeMonitor::read_gpus(Look& look, place::Shares& in_use) const {
  if (!nvml_) return;
  double busy = 0;
  for (std::size_t gpu = 0; gpu < nvml_->gpus().size(); ++gpu) {
    const auto load = nvml_->load(gpu);
    if (!load) {
      look.unknown.push_back(
          fmt::format("GPU {} ({}): it does not answer, and is not counted", gpu, nvml_->gpus()[gpu].name));
      continue;
    }
    const double full = static_cast<double>(load->memory_used) / static_cast<double>(load->memory);
    look.facts.gpu_memory =
        look.facts.gpus == 0 ? load->memory : std::min(look.facts.gpu_memory, load->memory);
    in_use[Resource::gpu_memory] = std::max(in_use[Resource::gpu_memory], full);
    busy += load->in_use;
    ++look.facts.gpus;
  }
  if (look.facts.gpus > 0) in_use[Resource::gpu] = busy / look.facts.gpus;
}

std::optional<Seconds> NodeMonitor::read_latency(Look& look) const {
  if (!options_.latency) return Seconds{0};
  try {
    return options_.latency();
  } catch (const SystemError& error) {
    look.unknown.push_back(fmt::format("how far the master is: {}", error.what()));
    return std::nullopt;
  }
}

bool NodeMonitor::compare(const Counters& now, Look& look, place::Shares& in_use) const {
  const auto nothing = [&](const char* why) {
    look.unknown.push_back(fmt::format("the load of its cores and network: {}", why));
    return false;
  };
  if (!before_) return nothing("this is the first look, and a share of time needs two");
  const double total = (now.cpu.total - before_->cpu.total).value;
  if (total <= 0 || now.at <= before_->at) return nothing("the look before was a moment ago");
  // The kernel's count of waits for storage may fall a little (proc(5)), so that idle does.
  const double idle = std::clamp((now.cpu.idle - before_->cpu.idle).value, 0.0, total);
  in_use[Resource::cpu] = 1 - idle / total;
  look.since = now.at - before_->at;
  for (const auto& [cpu, times] : now.each_cpu)
    if (const auto then = before_->each_cpu.find(cpu); then != before_->each_cpu.end()) {
      const double passed = (times.total - then->second.total).value;
      look.busy[cpu] = {std::max(0.0, passed - std::max(0.0, (times.idle - then->second.idle).value))};
    }
  return compare_network(now, look, in_use);
}

// Both directions have the whole speed: the busier one counts.
bool NodeMonitor::compare_network(const Counters& now, Look& look, place::Shares& in_use) const {
  if (!now.uplink || look.facts.bandwidth <= 0) return true;  // said to be unknown already
  if (!before_->uplink || before_->uplink->name != now.uplink->name ||
      now.uplink->received < before_->uplink->received || now.uplink->sent < before_->uplink->sent) {
    look.unknown.push_back("the load of its network: its interface is another one since the look before");
    return false;
  }
  const double moved =
      std::max(now.uplink->received - before_->uplink->received, now.uplink->sent - before_->uplink->sent);
  const double share = moved / (now.at - before_->at).value / look.facts.bandwidth;
  if (share > 1)
    look.unknown.push_back(
        fmt::format("the load of its network: {} carried {:.2f} times its bandwidth, taken "
                    "as full; correct what is stated of it",
                    now.uplink->name, share));
  in_use[Resource::network] = std::min(share, 1.0);
  return true;
}

place::Found enter(place::Catalogue& catalogue, const std::string& host, const Look& look) {
  const place::Found found = catalogue.found(host, look.facts);
  if (look.observation) catalogue.observed(host, *look.observation);
  return found;
}

}  // namespace tandem::measure
