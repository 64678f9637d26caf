#include "runtime/bags/speed.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace tandem::bags {
namespace {

constexpr Seconds kPeriod{0.02};

}  // namespace

Speed::Speed(SpeedOptions options) : options_(std::move(options)), clocks_(options_.cpufreq) {
  if (!(options_.base > 0 && options_.base < 1))
    throw UserError(fmt::format("a base speed of {}: above 0 and below 1 of full speed", options_.base));
  options_.cgroups.memory_parent.clear();  // only time is shared out here
  options_.cgroups.pids_parent.clear();
  const std::string name = fmt::format("bags-{}-{}", ::getpid(), fmt::ptr(this));
  std::string no_clock;
  if (clocks_.usable(options_.cpus, &no_clock)) {
    means_ = Means::cpufreq;
    why_ = fmt::format("cpufreq: {:.0f} % of the top clock, or all of it", 100 * options_.base);
    clocks_.limit(options_.cpus, options_.base);
    guardian_ = std::make_unique<Guardian>([this] { clocks_.restore(options_.cpus); });
  } else if (options_.cgroups.cpu()) {
    means_ = Means::quota;
    why_ = fmt::format("CPU quota: {:.0f} % of {} CPUs, or all of them ({}; no cpufreq: {})",
                       100 * options_.base, options_.cpus.size(), options_.cgroups.why_cpu, no_clock);
    guardian_ = std::make_unique<Guardian>([name, where = options_.cgroups] {
      platform::Cgroup::left_at(where.folders_of(name));  // its end removes the group
    });
    group_.emplace(options_.cgroups, name);
    group_->set_cpu_weight(options_.weight);
    group_->set_cpu(options_.base * static_cast<double>(options_.cpus.size()), kPeriod);
  } else {
    why_ = fmt::format("impossible here: no cpufreq ({}) and no CPU quota ({})", no_clock,
                       options_.cgroups.why_cpu);
  }
}

Speed::~Speed() = default;

void Speed::take(pid_t pid) {
  if (group_) group_->add(pid);
}

void Speed::sprint(bool on) {
  if (on == sprinting_ || !can_sprint()) return;
  const double share = on ? 1 : options_.base;
  if (means_ == Means::cpufreq)
    clocks_.limit(options_.cpus, share);
  else
    group_->set_cpu(on ? 0 : share * static_cast<double>(options_.cpus.size()), kPeriod);
  sprinting_ = on;
}

}  // namespace tandem::bags
