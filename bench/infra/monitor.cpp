// What watching this machine costs: the real monitor, on the real /proc and GPUs.
#include "measure/node_monitor.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/infra/sections.h"

namespace tandem::bench {
namespace {

constexpr int kLooks = 300;
constexpr double kMost = 0.005;  // of a core: the issue's

std::string microseconds(double seconds) {
  return fmt::format("{:.0f} us", 1e6 * seconds);
}

}  // namespace

Section monitor_section() {
  Section out{"what watching this machine costs"};
  std::string no_gpus;
  auto nvml = platform::Nvml::open(no_gpus);
  const std::size_t gpus = nvml ? nvml->gpus().size() : 0;
  measure::NodeMonitor monitor({}, std::move(nvml));
  std::vector<double> costs;
  double cost = 0, time = 0;
  measure::Look look;
  // One after the other: the clock that is told runs on by the period, so nobody has to wait for it.
  for (int i = 0; i < kLooks; ++i) {
    look = monitor.look({time});
    costs.push_back(look.cost.value);
    cost += look.cost.value;
    time += look.next.value;
  }
  std::sort(costs.begin(), costs.end());
  out.say(fmt::format("{} looks at {} cores, {} of memory and {}.", kLooks, look.facts.cores,
                      text_bytes(look.facts.memory),
                      gpus > 0 ? fmt::format("{} GPUs", gpus) : "no GPU (" + no_gpus + ")"));
  for (const std::string& unknown : look.unknown) out.say("Not known: " + unknown + ".");
  out.show({"CPU time of a look",
            {"median", "99 of 100 below", "most", "period after the last", "of a core"},
            {{microseconds(costs[kLooks / 2]), microseconds(costs[kLooks * 99 / 100]),
              microseconds(costs.back()), text(look.next), fmt::format("{:.4f} %", 100 * cost / time)}}});
  out.summary = fmt::format("{:.4f} % of a core (at most {} %), first period {}", 100 * cost / time,
                            100 * kMost, text(place::PeriodOptions().first));
  out.verdict = cost <= kMost * time ? Verdict::held : Verdict::missed;
  return out;
}

}  // namespace tandem::bench
