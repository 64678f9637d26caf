#include "platform/nvml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/units.h"
#include "platform/nvml_calls.h"

namespace tandem::platform {
namespace {

constexpr double kMega = 1e6;
constexpr const char* kPermission = "needs root or CAP_SYS_ADMIN; ask the operator, or leave ";

// A text the library writes into a buffer; empty where it fails.
template <class Call>
std::string text_of(Call call) {
  std::array<char, 97> text{};
  if (call(text.data(), static_cast<unsigned>(text.size() - 1)) != 0) text[0] = '\0';
  return printable(text.data());
}

// Bits of nvmlClocksEventReasons. An idle GPU, and one whose clock was chosen, are not held back.
std::vector<std::string> throttle_words(unsigned long long bits) {
  constexpr unsigned long long kIdle = 0x1, kChosenClock = 0x2, kDisplayClock = 0x100;
  constexpr std::pair<unsigned long long, const char*> kReasons[] = {
      {0x4, "power cap"}, {0x8, "hardware slowdown"}, {0x10, "sync boost"},
      {0x20, "heat"},     {0x40, "heat (hardware)"},  {0x80, "power brake (hardware)"}};
  std::vector<std::string> words;
  bits &= ~(kIdle | kChosenClock | kDisplayClock);
  for (const auto& [bit, word] : kReasons) {
    if (bits & bit) words.push_back(word);
    bits &= ~bit;
  }
  if (bits) words.push_back(fmt::format("a reason unknown to Tandem (0x{:x})", bits));
  return words;
}

// The library of the system, or the recording that stands in for it.
void* load_library(std::string& why) {
  const char* instead = ::secure_getenv("TANDEM_NVML");
  if (!instead || !*instead) {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) why = "no libnvidia-ml.so.1: no NVIDIA driver";
    return library;
  }
  void* library = dlopen(instead, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* said = dlerror();
    why = "TANDEM_NVML names a library that cannot be loaded: " + printable(said ? said : instead);
  }
  return library;
}

}  // namespace

std::optional<std::uint64_t> millijoules_between(std::uint64_t before, std::uint64_t after) {
  if (after < before) return std::nullopt;
  return after - before;
}

Nvml::Nvml(std::unique_ptr<Calls> calls) : calls_(std::move(calls)) {}
Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::open(std::string& why, SymbolLookup lookup) {
  auto calls = std::make_unique<Calls>();
  if (!lookup) {
    calls->library = load_library(why);
    if (!calls->library) return nullptr;
    lookup = [library = calls->library](const char* symbol) { return dlsym(library, symbol); };
  }
  if (const auto missing = calls->bind(lookup); !missing.empty()) {
    why = "the NVIDIA library has no " + missing + ": the driver is too old";
    return nullptr;
  }
  if (const auto status = calls->init(); status != Calls::kSuccess) {
    why = calls->explain("nvmlInit", status);
    return nullptr;
  }
  calls->started = true;
  unsigned count = 0;
  if (const auto status = calls->count(&count); status != Calls::kSuccess) {
    why = calls->explain("nvmlDeviceGetCount", status);
    return nullptr;
  }
  if (count == 0) {
    why = "the NVIDIA driver sees no GPU";
    return nullptr;
  }

  std::unique_ptr<Nvml> nvml(new Nvml(std::move(calls)));
  nvml->recorded_ = nvml->calls_->recording != nullptr;
  if (const auto version = nvml->calls_->driver) nvml->driver_ = text_of(version);
  for (unsigned index = 0; index < count; ++index) {
    why = nvml->add(index);
    if (!why.empty()) return nullptr;
  }
  return nvml;
}

std::string Nvml::add(unsigned index) {
  void* handle = nullptr;
  if (const auto status = calls_->handle(index, &handle); status != Calls::kSuccess)
    return fmt::format("GPU {}: {}", index, calls_->explain("nvmlDeviceGetHandleByIndex", status));
  Gpu gpu;
  gpu.name = text_of([&](char* text, unsigned size) { return calls_->name(handle, text, size); });
  if (gpu.name.empty()) gpu.name = "GPU without a name";
  if (recorded_) gpu.name += " (recorded, not a real GPU)";
  if (calls_->uuid)
    gpu.uuid = text_of([&](char* text, unsigned size) { return calls_->uuid(handle, text, size); });
  if (const auto room = Calls::get<Calls::Memory>(calls_->memory, handle))
    gpu.memory = static_cast<std::int64_t>(room->total);
  gpu.power = read_power(handle);
  gpu.clocks = read_clocks(handle);
  handles_.push_back(handle);
  gpus_.push_back(std::move(gpu));
  gpus_.back().reports_energy = energy(index).has_value();
  return "";
}

std::optional<Nvml::Power> Nvml::read_power(void* handle) const {
  unsigned least = 0, most = 0;
  if (!calls_->set_limit || !calls_->limit_range ||
      calls_->limit_range(handle, &least, &most) != Calls::kSuccess)
    return std::nullopt;
  if (least == 0 || least > most || !Calls::get<unsigned>(calls_->power_limit, handle)) return std::nullopt;
  const auto usual = Calls::get<unsigned>(calls_->usual_limit, handle);
  return Power{least * 1e-3, most * 1e-3, usual.value_or(most) * 1e-3};
}

std::optional<Nvml::Clocks> Nvml::read_clocks(void* handle) const {
  if (!calls_->lock_clocks || !calls_->reset_clocks) return std::nullopt;
  if (const auto listed = listed_clocks(handle)) return listed;
  unsigned least = 0, most = 0;  // some virtual machines list none, and still know the range
  if (!calls_->clock_range || calls_->clock_range(handle, Calls::kGraphicsClock, Calls::kFastestState, &least,
                                                  &most) != Calls::kSuccess)
    return std::nullopt;
  if (least == 0 || least > most) return std::nullopt;  // cannot be
  return Clocks{least * kMega, most * kMega};
}

// Those that go with the fastest memory clock, which is the one a GPU computes at.
std::optional<Nvml::Clocks> Nvml::listed_clocks(void* handle) const {
  if (!calls_->memory_clocks || !calls_->graphics_clocks) return std::nullopt;
  std::vector<unsigned> memory(64), graphics(1024);  // more than any card has
  auto count = static_cast<unsigned>(memory.size());
  if (calls_->memory_clocks(handle, &count, memory.data()) != Calls::kSuccess || count == 0 ||
      count > memory.size())
    return std::nullopt;
  const unsigned fastest = *std::max_element(memory.begin(), memory.begin() + count);
  count = static_cast<unsigned>(graphics.size());
  if (calls_->graphics_clocks(handle, fastest, &count, graphics.data()) != Calls::kSuccess || count == 0 ||
      count > graphics.size())
    return std::nullopt;
  const auto [least, most] = std::minmax_element(graphics.begin(), graphics.begin() + count);
  if (*least == 0) return std::nullopt;  // cannot be
  return Clocks{*least * kMega, *most * kMega};
}

std::optional<std::size_t> Nvml::find(const std::string& uuid) const {
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
    if (!uuid.empty() && gpus_[gpu].uuid == uuid) return gpu;
  return std::nullopt;
}

std::optional<std::size_t> Nvml::named(const std::string& name) const {
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
    if (gpus_[gpu].uuid == name || std::to_string(gpu) == name) return gpu;
  return std::nullopt;
}

std::optional<std::uint64_t> Nvml::energy(std::size_t gpu) {
  return Calls::get<unsigned long long>(calls_->energy, handles_.at(gpu));
}

std::optional<double> Nvml::watts(std::size_t gpu) {
  constexpr unsigned kMost =
      10'000'000;  // milliwatts no card draws: some drivers answer nonsense for a moment
  const auto milliwatts = Calls::get<unsigned>(calls_->power_usage, handles_.at(gpu));
  if (!milliwatts || *milliwatts > kMost) return std::nullopt;
  return *milliwatts * 1e-3;
}

std::optional<Nvml::Load> Nvml::load(std::size_t gpu) {
  const auto busy = Calls::get<Calls::Utilization>(calls_->utilization, handles_.at(gpu));
  const auto room = Calls::get<Calls::Memory>(calls_->memory, handles_.at(gpu));
  if (!busy || !room) return std::nullopt;
  if (busy->gpu > 100 || busy->memory > 100 || room->total == 0 || room->used > room->total)
    return std::nullopt;  // cannot be
  return Load{busy->gpu / 100.0, static_cast<std::int64_t>(room->total),
              static_cast<std::int64_t>(room->used), busy->memory / 100.0};
}

Nvml::State Nvml::state(std::size_t gpu) {
  void* handle = handles_.at(gpu);
  State state;
  if (const auto busy = Calls::get<Calls::Utilization>(calls_->utilization, handle); busy && busy->gpu <= 100)
    state.in_use = busy->gpu / 100.0;
  if (const auto room = Calls::get<Calls::Memory>(calls_->memory, handle); room && room->used <= room->total)
    state.memory_used = static_cast<std::int64_t>(room->used);
  state.watts = watts(gpu);
  state.power_limit = power_limit(gpu);
  state.celsius = Calls::get<unsigned>(calls_->temperature, handle, Calls::kGpuSensor);
  if (const auto clock = Calls::get<unsigned>(calls_->clock, handle, Calls::kMultiprocessorClock))
    state.hertz = *clock * kMega;
  if (const auto bits = Calls::get<unsigned long long>(calls_->throttle_reasons, handle))
    state.throttled = throttle_words(*bits);
  return state;
}

std::optional<double> Nvml::power_limit(std::size_t gpu) {
  const auto milliwatts = Calls::get<unsigned>(calls_->power_limit, handles_.at(gpu));
  if (!milliwatts) return std::nullopt;
  return *milliwatts * 1e-3;
}

std::string Nvml::refusal(std::size_t gpu, const std::string& doing, int status) const {
  if (status == Calls::kSuccess) return "";
  std::string why = calls_->words(status);
  const char* parameter = doing.find("clock") == std::string::npos ? "system.gpu_power" : "system.gpu_clock";
  if (status == Calls::kNotPermitted)
    why = std::string("not permitted: ") + kPermission + parameter + " out";
  else if (status == Calls::kNotSupported)
    why = std::string("this card or its driver does not support it; leave ") + parameter + " out";
  else if (status == Calls::kLost)
    why =
        "the GPU has fallen off the bus; see the kernel's log (dmesg), the machine may have to be restarted";
  return fmt::format("GPU {} ({}): {}: {}", gpu, gpus_[gpu].name, doing, why);
}

std::string Nvml::set_power_limit(std::size_t gpu, double watts) {
  const auto doing = fmt::format("setting the power limit to {:g} W", watts);
  const auto& range = gpus_.at(gpu).power;
  if (!range) return refusal(gpu, doing, Calls::kNotSupported);
  if (!(watts >= range->least && watts <= range->most))
    return fmt::format("GPU {} ({}): a power limit of {:g} W is out of its range, {:g} to {:g} W", gpu,
                       gpus_[gpu].name, watts, range->least, range->most);
  const auto wanted = static_cast<unsigned>(std::lround(watts * 1e3));
  return refusal(gpu, doing, calls_->set_limit(handles_[gpu], wanted));
}

std::string Nvml::lock_clock(std::size_t gpu, double hertz) {
  const auto doing = "locking the clock at " + text_frequency(hertz);
  const auto& range = gpus_.at(gpu).clocks;
  if (!range) return refusal(gpu, doing, Calls::kNotSupported);
  if (!(hertz >= range->least && hertz <= range->most))
    return fmt::format("GPU {} ({}): a clock of {} is out of its range, {} to {}", gpu, gpus_[gpu].name,
                       text_frequency(hertz), text_frequency(range->least), text_frequency(range->most));
  const auto megahertz = static_cast<unsigned>(std::lround(hertz / kMega));
  return refusal(gpu, doing, calls_->lock_clocks(handles_[gpu], megahertz, megahertz));
}

std::string Nvml::unlock_clock(std::size_t gpu) {
  const std::string doing = "unlocking the clock";
  if (!gpus_.at(gpu).clocks) return refusal(gpu, doing, Calls::kNotSupported);
  return refusal(gpu, doing, calls_->reset_clocks(handles_[gpu]));
}

}  // namespace tandem::platform
