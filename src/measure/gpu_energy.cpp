#include "measure/gpu_energy.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace tandem::measure {
namespace {

// The counters of recent cards are renewed about ten times a second: a shorter interval says little of power.
constexpr Seconds kShortestForPower{0.5};

}  // namespace

GpuEnergy::GpuEnergy(std::shared_ptr<platform::Nvml> nvml, const Clock& clock) : nvml_(std::move(nvml)) {
  for (std::size_t gpu = 0; gpu < nvml_->gpus().size(); ++gpu) gpus_.push_back({GpuMeter(nvml_, gpu, clock)});
}

void GpuEnergy::uses(TaskId task, const std::vector<std::string>& names) {
  if (names.empty()) return leaves(task);
  Account& account = accounts_[task];
  account.gpus.clear();
  account.all_here = true;
  for (const auto& name : names) {
    const auto found = nvml_->named(name);
    if (!found)
      account.all_here = false;
    else if (std::find(account.gpus.begin(), account.gpus.end(), *found) == account.gpus.end())
      account.gpus.push_back(*found);
  }
}

void GpuEnergy::leaves(TaskId task) {
  accounts_.erase(task);
}

// Since the last step; nothing at the first one, where it cannot tell, and where it began anew.
std::optional<Joules> GpuEnergy::drawn(std::size_t gpu) {
  const auto before = gpus_[gpu].last;
  const auto now = gpus_[gpu].last = gpus_[gpu].meter.read();
  if (!before || !now || now->breaks != before->breaks) return std::nullopt;
  return now->total - before->total;
}

void GpuEnergy::step(Seconds now) {
  const Seconds interval = last_ ? now - *last_ : Seconds{};
  last_ = now;
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) share(gpu, drawn(gpu), interval);
}

void GpuEnergy::find_steps(TaskId task, const std::function<void(Seconds)>& pause) {
  if (const auto found = accounts_.find(task); found != accounts_.end())
    for (const std::size_t gpu : found->second.gpus) gpus_[gpu].meter.find_steps(pause);
}

void GpuEnergy::share(std::size_t gpu, std::optional<Joules> joules, Seconds interval) {
  std::vector<Account*> on_it;
  for (auto& [task, account] : accounts_)
    if (std::find(account.gpus.begin(), account.gpus.end(), gpu) != account.gpus.end())
      on_it.push_back(&account);
  if (on_it.empty()) return learn_idle(gpu, joules, interval);
  const auto among = static_cast<double>(on_it.size());
  for (Account* account : on_it) {
    if (!joules) {
      account->complete = false;
      continue;
    }
    account->part.joules += *joules / among;
    // Never more than was drawn: a card may fall below what was its least.
    if (gpus_[gpu].idle && account->part.idle)
      *account->part.idle += std::min(*gpus_[gpu].idle * interval, *joules) / among;
    else
      account->part.idle.reset();
  }
}

void GpuEnergy::learn_idle(std::size_t gpu, std::optional<Joules> joules, Seconds interval) {
  if (!joules || interval < kShortestForPower) return;
  const auto load = nvml_->load(gpu);
  if (!load || load->in_use > 0) return;
  const Watts mean{joules->value / interval.value};
  gpus_[gpu].idle = std::min(gpus_[gpu].idle.value_or(mean), mean);
}

std::optional<EnergyPart> GpuEnergy::take(TaskId task) {
  const auto found = accounts_.find(task);
  if (found == accounts_.end()) return std::nullopt;
  Account& account = found->second;
  const EnergyPart seen = std::exchange(account.part, {.idle = Joules{}});
  if (!std::exchange(account.complete, true) || !account.all_here) return EnergyPart{.of = "GPU"};
  return EnergyPart{"GPU", seen.joules, source(), seen.idle};
}

std::string GpuEnergy::source() const {
  std::vector<std::string> ways;
  for (const auto& gpu : gpus_)
    if (std::find(ways.begin(), ways.end(), gpu.meter.source()) == ways.end())
      ways.push_back(gpu.meter.source());
  return join(ways, " + ");
}

std::optional<Watts> GpuEnergy::most(int gpus) const {
  Watts largest;
  for (const auto& gpu : nvml_->gpus()) {
    if (!gpu.power) return std::nullopt;
    largest = std::max(largest, Watts{gpu.power->most});
  }
  return largest * gpus;
}

}  // namespace tandem::measure
