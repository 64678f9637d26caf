#include "app/gpu_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/units.h"

namespace tandem::app {
namespace {

using platform::Nvml;

template <class Value>
nlohmann::json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

std::string gpu_text(const Nvml::Gpu& gpu, const Nvml::State& state) {
  std::vector<std::string> parts;
  if (state.in_use) parts.push_back(fmt::format("{:.0f} % in use", 100 * *state.in_use));
  if (state.memory_used)
    parts.push_back(text_bytes(*state.memory_used) + (gpu.memory > 0 ? " of " + text_bytes(gpu.memory) : ""));
  if (state.watts)
    parts.push_back(text(Watts{*state.watts}) +
                    (state.power_limit ? " of " + text(Watts{*state.power_limit}) : ""));
  if (state.celsius) parts.push_back(fmt::format("{:.0f} °C", *state.celsius));
  if (state.hertz) parts.push_back(text_frequency(*state.hertz));
  if (state.throttled && !state.throttled->empty())
    parts.push_back("held back by: " + join(*state.throttled));
  return parts.empty() ? "it does not answer" : join(parts);
}

nlohmann::json gpu_json(const Nvml::Gpu& gpu, const Nvml::State& state) {
  const auto range = [](const auto& of) {
    return of ? nlohmann::json{of->least, of->most} : nlohmann::json(nullptr);
  };
  return {{"name", gpu.name},
          {"uuid", gpu.uuid.empty() ? nlohmann::json(nullptr) : nlohmann::json(gpu.uuid)},
          {"memory_bytes", gpu.memory > 0 ? nlohmann::json(gpu.memory) : nlohmann::json(nullptr)},
          {"power_limits_watts", range(gpu.power)},
          {"clocks_hertz", range(gpu.clocks)},
          {"in_use", or_null(state.in_use)},
          {"memory_used_bytes", or_null(state.memory_used)},
          {"watts", or_null(state.watts)},
          {"power_limit_watts", or_null(state.power_limit)},
          {"celsius", or_null(state.celsius)},
          {"hertz", or_null(state.hertz)},
          {"held_back_by", or_null(state.throttled)}};
}

const std::vector<std::string>& GpuLines::look() {
  const auto now = std::chrono::steady_clock::now();
  if (opened_ && (!nvml_ || now - looked_ < std::chrono::seconds(1))) return lines_;
  std::string why;
  if (!opened_) nvml_ = Nvml::open(why);
  opened_ = true;
  looked_ = now;
  lines_.clear();
  for (std::size_t gpu = 0; nvml_ && gpu < nvml_->gpus().size(); ++gpu)
    lines_.push_back(fmt::format("GPU {}: {}  ({})", gpu, gpu_text(nvml_->gpus()[gpu], nvml_->state(gpu)),
                                 nvml_->gpus()[gpu].name));
  return lines_;
}

}  // namespace tandem::app
