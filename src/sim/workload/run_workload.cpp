#include "sim/workload/run_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "sim/workload/run_samples.h"

namespace tandem::sim {
namespace {

// Asynchronous steps of a worker: so many pass before the pace is steady, and over so many it is measured.
constexpr std::int64_t kWarmUp = 16, kMeasured = 8;
// A straggler is never faster than this share of its usual time.
constexpr double kFastest = 0.1;

class WorkloadRun {
 public:
  WorkloadRun(const spec::Cluster& cluster, const spec::Workload& workload, const graph::Model& model,
              const RunOptions& options)
      : workload_(workload),
        options_(options),
        strategy_(find_strategy(workload.strategy)),
        steps_(steps_of(workload)),
        devices_(engine_, cluster),
        placement_(place(devices_, workload,
                         strategy_.servers ? std::optional(workload.servers) : std::nullopt,
                         options.strategy.servers_apart, options.strategy.devices)),
        setting_(make_setting(placement_, workload, model, options.strategy,
                              shares(std::min(steps_.full, steps_.total)))),
        runner_(engine_, devices_, options.strategy.interference) {
    if (!(workload.straggler >= 0) || !std::isfinite(workload.straggler) || !(workload.sample_bytes >= 0) ||
        !std::isfinite(workload.sample_bytes))
      throw UserError(fmt::format("workload '{}': straggler and sample_bytes must not be negative",
                                  printable(workload.name, 80)));
    if (options.timeline) runner_.record(&result_.timeline);
  }

  RunResult run() {
    if (workload_.synchronous)
      synchronous();
    else
      asynchronous();
    summarise();
    account_power();
    return std::move(result_);
  }

 private:
  bool reads() const { return workload_.sample_bytes > 0; }
  bool noisy() const { return workload_.straggler > 0; }

  // A step of so many samples.
  Step shares(std::int64_t samples) const {
    Step step;
    step.samples = share_out(samples);
    return step;
  }

  std::vector<std::int64_t> share_out(std::int64_t samples) const {
    const auto workers = static_cast<std::size_t>(workload_.workers);
    if (strategy_.divides) return divide(samples, workers);
    std::vector<std::int64_t> out(workers, 0);
    out.front() = samples;
    return out;
  }

  void draw_slowness(Step& step, std::int64_t index) const {
    if (!noisy()) return;
    Random random(options_.seed, hash_name("straggler") + static_cast<std::uint64_t>(index));
    for (std::size_t i = 0; i < step.samples.size(); ++i)
      step.slowness.push_back(std::max(kFastest, 1 + workload_.straggler * random.normal()));
  }

  void synchronous() {
    const auto all = stretches(steps_, reads());
    if (reads()) {
      StepResult first = runner_.run(plan_reading(setting_, shares(all.front().samples)));
      first.trained = 0;  // nothing is trained yet: all of it is waiting
      total_.add(first, 1);
    }
    std::int64_t index = 0;
    for (const Stretch& stretch : all) {
      run_stretch(stretch, index);
      index += stretch.count;
      result_.steps += stretch.count;
      result_.samples += stretch.count * stretch.samples;
    }
    waited_ = total_.seconds - total_.trained;
  }

  void run_stretch(const Stretch& stretch, std::int64_t index) {
    const std::int64_t alike = noisy() ? std::min(stretch.count, kDraws) : 1;
    const std::int64_t runs = options_.jump ? alike : stretch.count;
    Step step = shares(stretch.samples);
    if (stretch.next > 0) step.next = share_out(stretch.next);
    Plan plan;
    for (std::int64_t i = 0; i < runs; ++i) {
      if (i == 0 || noisy()) {
        step.slowness.clear();
        draw_slowness(step, index + i);
        plan = plan_step(setting_, step);
      }
      const std::int64_t times = stretch.count / runs + (i < stretch.count % runs ? 1 : 0);
      total_.add(runner_.run(plan), times);
    }
  }

  StepResult run_asynchronous(std::int64_t rounds) {
    std::vector<Step> steps;
    for (std::int64_t i = 0; i < rounds; ++i) {
      steps.push_back(shares(i + 1 < rounds ? steps_.full : steps_.last));
      draw_slowness(steps.back(), i);
    }
    return runner_.run(plan_asynchronous(setting_, steps));
  }

  void asynchronous() {
    const std::int64_t all = steps_.count;
    result_.steps = all;
    result_.samples = steps_.total;
    if (!options_.jump || all <= kWarmUp + kMeasured) {
      total_.add(run_asynchronous(all), 1);
      return;
    }
    const std::int64_t some = kWarmUp + (all - kWarmUp) % kMeasured;
    const std::int64_t times = (all - some) / kMeasured;
    total_.add(run_asynchronous(some), 1 + times);
    runner_.record(nullptr);
    total_.add(run_asynchronous(some - kMeasured), -times);
    result_.extrapolated = true;
  }

  double mean_of_workers(const std::vector<double>& of_device) const {
    double sum = 0;
    for (const DeviceSlot& worker : placement_.workers) sum += of_device[worker.device];
    return sum / static_cast<double>(placement_.workers.size());
  }

  void summarise() {
    result_.t_exec = total_.seconds;
    result_.t_comp = mean_of_workers(total_.work);
    result_.t_mem = mean_of_workers(total_.memory);
    result_.t_io = waited_ + mean_of_workers(total_.starved);
    result_.t_comm = std::max(result_.t_exec - result_.t_comp - result_.t_io, 0.0);
    result_.usage = result_.t_exec > 0 ? result_.t_comp / result_.t_exec : 0;
    result_.operations = total_.operations;
    result_.traffic = total_.traffic;
  }

  bool takes_part(const std::vector<DeviceSlot>& slots, DeviceId device) const {
    return std::any_of(slots.begin(), slots.end(),
                       [&](const DeviceSlot& slot) { return slot.device == device; });
  }

  void account_power() {
    double sum = 0;
    bool known = true;
    for (const DeviceId id : placement_.powered) {
      const Device& device = devices_.all()[id];
      DeviceUse use{id,
                    device.node,
                    device.type->name,
                    takes_part(placement_.workers, id),
                    takes_part(placement_.servers, id),
                    total_.busy[id]};
      if (device.type->max_watts > 0) {
        const double share = use.worker ? options_.strategy.clock_share : 1;
        const double dynamic = (device.type->max_watts - device.type->idle_watts) * share;
        use.joules = device.type->idle_watts * result_.t_exec + dynamic * use.busy;
        sum += *use.joules;
      } else {
        known = false;
      }
      result_.devices.push_back(std::move(use));
    }
    account_network();
    if (known) result_.joules = sum + result_.network_joules.value_or(0);
  }

  void account_network() {
    const auto links = devices_.network_links();
    double full = 0;  // cable-seconds
    for (std::size_t i = 0; i + 1 < links.size(); i += 2) {
      double carried = 0;
      for (const LinkId link : {links[i], links[i + 1]})
        if (link < total_.carried.size()) carried += total_.carried[link];
      if (carried <= 0) continue;
      ++result_.cables;
      full += carried / (2 * devices_.capacity(links[i]));
    }
    const auto& network = devices_.cluster().network;
    if (network.max_watts <= 0) return;
    result_.network_joules = static_cast<double>(result_.cables) * network.idle_watts * result_.t_exec +
                             (network.max_watts - network.idle_watts) * full;
  }

  const spec::Workload& workload_;
  const RunOptions& options_;
  const StrategyEntry& strategy_;
  const Steps steps_;
  Engine engine_;
  Devices devices_;
  const Placement placement_;
  const Setting setting_;
  StepRunner runner_;
  StepResult total_;
  double waited_ = 0;  // all workers, for samples
  RunResult result_;
};

// The same cluster, but of the processors that compute only some cores do: the others are idle.
spec::Cluster with_threads(spec::Cluster cluster, const spec::Workload& workload) {
  const spec::DeviceType* computes = spec::computes_on(workload, cluster);
  if (computes == nullptr) return cluster;
  if (computes->gpu || workload.threads < 0 || workload.threads > computes->cores)
    throw UserError(fmt::format("workload '{}': {} threads cannot compute on '{}'",
                                printable(workload.name, 80), workload.threads,
                                printable(computes->name, 80)));
  for (auto& device : cluster.devices) {
    if (device.name != computes->name) continue;
    device.max_watts =
        device.idle_watts + (device.max_watts - device.idle_watts) * workload.threads / device.cores;
    device.cores = workload.threads;
    break;
  }
  return cluster;
}

}  // namespace

RunResult run_workload(const spec::Cluster& cluster, const spec::Workload& workload,
                       const graph::Model& model, const RunOptions& options) {
  RunOptions all = options;
  if (workload.clock > 0)
    if (const auto* device = spec::computes_on(workload, cluster))
      all.strategy.clock_share = workload.clock / device->clock;
  if (workload.scheduler != spec::Workload{}.scheduler) all.strategy.scheduler = workload.scheduler;
  if (workload.micro_batches > 0) all.strategy.micro_batches = workload.micro_batches;
  const bool chosen = !all.strategy.devices.empty();  // threads are refused then
  if (workload.threads == 0 || chosen) return WorkloadRun(cluster, workload, model, all).run();
  return WorkloadRun(with_threads(cluster, workload), workload, model, all).run();
}

}  // namespace tandem::sim
