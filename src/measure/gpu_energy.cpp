#include "measure/gpu_energy.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace tandem::measure {
namespace {

// The counters of recent cards are renewed about ten times a second: a shorter interval says little of power.
constexpr Seconds kShortestForPower{0.5};
// Between looks at a GPU that no task is on: less than what samples of power may be apart.
constexpr Seconds kUnusedEvery{3};

}  // namespace

GpuEnergy::GpuEnergy(std::shared_ptr<platform::Nvml> nvml, const Clock& clock)
    : nvml_(std::move(nvml)), clock_(clock) {
  for (std::size_t gpu = 0; gpu < nvml_->gpus().size(); ++gpu) gpus_.push_back({GpuMeter(nvml_, gpu, clock)});
}

void GpuEnergy::uses(TaskId task, const std::vector<std::string>& names) {
  if (names.empty()) return leaves(task);
  std::vector<std::size_t> gpus;
  bool all_here = true;
  for (const auto& name : names) {
    const auto found = nvml_->named(name);
    if (!found) {
      all_here = false;
    } else if (std::find(gpus.begin(), gpus.end(), *found) == gpus.end()) {
      if (tasks_on(*found).empty()) look(*found, clock_());  // what it drew until now is nobody's
      gpus.push_back(*found);
    }
  }
  Account& account = accounts_[task];
  account.gpus = std::move(gpus);
  account.all_here = all_here;
}

void GpuEnergy::leaves(TaskId task) {
  accounts_.erase(task);
}

std::vector<GpuEnergy::Account*> GpuEnergy::tasks_on(std::size_t gpu) {
  std::vector<Account*> out;
  for (auto& [task, account] : accounts_)
    if (std::find(account.gpus.begin(), account.gpus.end(), gpu) != account.gpus.end()) out.push_back(&account);
  return out;
}

// Since the last look; nothing at the first one, where it cannot tell, and where it began anew.
std::optional<Joules> GpuEnergy::drawn(std::size_t gpu) {
  const auto before = gpus_[gpu].last;
  const auto now = gpus_[gpu].last = gpus_[gpu].meter.read();
  if (!before || !now || now->breaks != before->breaks) return std::nullopt;
  return now->total - before->total;
}

void GpuEnergy::step(Seconds now) {
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    const auto& looked = gpus_[gpu].looked;
    if (!looked || now - *looked >= kUnusedEvery || !tasks_on(gpu).empty()) look(gpu, now);
  }
}

void GpuEnergy::look(std::size_t gpu, Seconds now) {
  const auto before = std::exchange(gpus_[gpu].looked, now);
  const Seconds interval = before ? now - *before : Seconds{};
  const auto joules = drawn(gpu);
  if (const auto tasks = tasks_on(gpu); !tasks.empty())
    share(gpu, tasks, joules, interval);
  else
    learn_idle(gpu, joules, interval);
}

void GpuEnergy::find_steps(TaskId task, const std::function<void(Seconds)>& pause) {
  if (const auto found = accounts_.find(task); found != accounts_.end())
    for (const std::size_t gpu : found->second.gpus) gpus_[gpu].meter.find_steps(pause);
}

void GpuEnergy::share(std::size_t gpu, const std::vector<Account*>& among, std::optional<Joules> joules,
                      Seconds interval) {
  const auto many = static_cast<double>(among.size());
  for (Account* account : among) {
    if (!joules) {
      account->complete = false;
      continue;
    }
    account->part.joules += *joules / many;
    // Never more than was drawn: a card may fall below what was its least.
    if (gpus_[gpu].idle && account->part.idle)
      *account->part.idle += std::min(*gpus_[gpu].idle * interval, *joules) / many;
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
