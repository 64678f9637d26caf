#include "measure/gpu_energy.h"

#include <algorithm>
#include <utility>

namespace tandem::measure {
namespace {

// The counters of recent cards are renewed about ten times a second: a shorter interval says little of power.
constexpr Seconds kShortestForPower{0.5};

// A GPU goes by its UUID where NVML is asked for it, and always by its number.
template <class Gpu>
bool is_called(const Gpu& gpu, std::size_t number, const std::string& name) {
  if constexpr (requires { gpu.uuid; })
    if (!gpu.uuid.empty() && gpu.uuid == name) return true;
  return std::to_string(number) == name;
}

template <class Gpu>
std::optional<Watts> most_of(const Gpu& gpu) {
  if constexpr (requires { gpu.power->most; })
    if (gpu.power) return Watts{gpu.power->most};
  return std::nullopt;
}

template <class Nvml>
std::string source_of(const Nvml& nvml) {
  if constexpr (requires { nvml.source(); })
    return nvml.source();
  else
    return "nvml";
}

}  // namespace

GpuEnergy::GpuEnergy(std::shared_ptr<platform::Nvml> nvml)
    : nvml_(std::move(nvml)), gpus_(nvml_->gpus().size()) {}

void GpuEnergy::uses(TaskId task, const std::vector<std::string>& names) {
  if (names.empty()) return leaves(task);
  Account& account = accounts_[task];
  account.gpus.clear();
  account.all_here = true;
  for (const auto& name : names) {
    std::size_t found = 0;
    while (found < gpus_.size() && !is_called(nvml_->gpus()[found], found, name)) ++found;
    if (found == gpus_.size())
      account.all_here = false;
    else if (std::find(account.gpus.begin(), account.gpus.end(), found) == account.gpus.end())
      account.gpus.push_back(found);
  }
}

void GpuEnergy::leaves(TaskId task) {
  accounts_.erase(task);
}

// Since the last step; nothing at the first one, where it cannot tell, and where it began anew.
std::optional<Joules> GpuEnergy::drawn(std::size_t gpu) {
  const auto before = gpus_[gpu].count;
  gpus_[gpu].count = nvml_->energy(gpu);
  const auto& now = gpus_[gpu].count;
  if (!before || !now || *now < *before) return std::nullopt;
  return Joules{static_cast<double>(*now - *before) * 1e-3};
}

void GpuEnergy::step(Seconds now) {
  const Seconds interval = last_ ? now - *last_ : Seconds{};
  last_ = now;
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) share(gpu, drawn(gpu), interval);
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
  return source_of(*nvml_);
}

std::optional<Watts> GpuEnergy::most(int gpus) const {
  Watts largest;
  for (const auto& gpu : nvml_->gpus()) {
    const auto most = most_of(gpu);
    if (!most) return std::nullopt;
    largest = std::max(largest, *most);
  }
  return largest * gpus;
}

}  // namespace tandem::measure
