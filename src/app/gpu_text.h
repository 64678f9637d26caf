// GPUs as people see them, one line each; nothing where there are none. One thread.
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "platform/nvml.h"

namespace tandem::app {

// "34 % in use, 12 GiB of 140 GiB, 310 W of 700 W, 45 °C, 1.98 GHz, held back by: power cap": what the GPU
// does at this moment. What it does not say is left out.
std::string gpu_text(const platform::Nvml::Gpu&, const platform::Nvml::State&);
// The same and what is known of the card; null where it does not say.
nlohmann::json gpu_json(const platform::Nvml::Gpu&, const platform::Nvml::State&);

// For a display that is drawn ten times a second: asks the GPUs once a second.
class GpuLines {
 public:
  const std::vector<std::string>& look();

 private:
  bool opened_ = false;
  std::unique_ptr<platform::Nvml> nvml_;
  std::chrono::steady_clock::time_point looked_;
  std::vector<std::string> lines_;
};

}  // namespace tandem::app
