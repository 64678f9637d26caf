#include "measure/probe.h"

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "measure/energy_choice.h"

namespace tandem::measure {
namespace {

using platform::Probe;

std::string reason(int error_number) {
  switch (error_number) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
      return "the CPU, or the virtual machine, has none";
    case ENOSYS:
      return "the kernel has no perf_event_open";
    case EACCES:
    case EPERM:
      return "not permitted (perf_event_paranoid, or a container's filter)";
    case EMFILE:
      return "too few file descriptors (ulimit -n)";
    default:
      return SystemError("refused", error_number).what();
  }
}

std::string reasons(const CounterPlan& plan, const std::vector<platform::EventCode>& known, bool software) {
  std::set<std::string> all;
  for (const auto& code : known)
    if (const auto it = plan.refused.find(code.name); it != plan.refused.end() && code.software == software)
      all.insert(reason(it->second));
  return join({all.begin(), all.end()}, "; ");
}

Probe probe_counters(const char* mechanism, const CounterPlan& plan,
                     const std::vector<platform::EventCode>& known, bool software,
                     const platform::ProcFs& proc) {
  const auto wanted = std::count_if(known.begin(), known.end(), [&](const platform::EventCode& code) {
    return code.software == software && code.alias_of.empty();
  });
  const std::size_t found = plan.count(software);
  std::string why = std::to_string(found) + " of " + std::to_string(wanted) + " events";
  if (found > 0) why += ", in use";
  if (const auto missing = reasons(plan, known, software); !missing.empty())
    why += "; the others: " + missing;
  const bool user_only = std::any_of(
      plan.events.begin(), plan.events.end(),
      [&](const CounterPlan::Event& event) { return event.code.software == software && event.user_only; });
  if (user_only) {
    const auto level = proc.number("sys/kernel/perf_event_paranoid");
    why += "; perf_event_paranoid=" + (level ? std::to_string(*level) : "?") +
           ": user space only (1 or less also counts the kernel's part)";
  }
  if (software && !plan.useless_user_only.empty())
    why += "; from /proc instead: " + join(plan.useless_user_only);
  return {"counters", mechanism, found > 0, why};
}

Probe probe_gpus(const Surroundings& around) {
  std::string why;
  const auto nvml = platform::Nvml::open(why, around.nvml);
  if (!nvml) return {"GPUs", "nvml", false, why};
  std::vector<std::string> names;
  for (const auto& gpu : nvml->gpus()) names.push_back(gpu.name);
  const std::string driver = nvml->driver().empty() ? "" : "driver " + nvml->driver() + ": ";
  return {"GPUs", "nvml", true, driver + join(names)};
}

}  // namespace

std::vector<Probe> probe(const SensorOptions& options) {
  const auto& around = options.around;
  const platform::ProcFs proc(around.proc);
  const auto known = platform::known_events(around.sys);
  const auto plan = plan_counters(*around.counters, known);

  std::vector<Probe> probes;
  probes.push_back(probe_counters("hardware events", plan, known, false, proc));
  probes.push_back(probe_counters("software events", plan, known, true, proc));
  const bool has_proc = proc.busy().has_value();
  probes.push_back({"counters", "/proc", has_proc,
                    has_proc ? "CPU time, faults, switches, memory and I/O of each task, in use"
                             : "no readable " + (around.proc / "stat").string()});
  const bool pressure = proc.pressure("cpu").has_value();
  probes.push_back({"counters", "pressure", pressure,
                    pressure
                        ? "waiting for CPU, memory and I/O, of the machine, in use"
                        : "no " + (around.proc / "pressure").string() + ": a kernel without PSI, or psi=0"});
  for (auto& energy : probe_energy(options.energy, around)) probes.push_back(std::move(energy));
  probes.push_back(probe_gpus(around));
  return probes;
}

}  // namespace tandem::measure
