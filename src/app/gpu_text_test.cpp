#include "app/gpu_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/complaint_for_test.h"

namespace tandem::app {
namespace {

TEST(GpuText, SaysWhatTheGpuSaysAndNothingElse) {
  platform::Nvml::Gpu gpu;
  gpu.name = "H100";
  EXPECT_EQ(gpu_text(gpu, {}), "it does not answer");
  platform::Nvml::State state;
  state.in_use = 0.34;
  EXPECT_EQ(gpu_text(gpu, state), "34 % in use");
  state.memory_used = 12LL << 30;
  gpu.memory = 140LL << 30;
  state.watts = 310;
  state.power_limit = 700;
  state.celsius = 45;
  state.throttled = std::vector<std::string>{};
  EXPECT_EQ(gpu_text(gpu, state), "34 % in use, 12 GiB of 140 GiB, 310 W of 700 W, 45 °C");
  state.throttled->push_back("power cap");
  EXPECT_TRUE(mentions(gpu_text(gpu, state), "held back by: power cap"));
}

TEST(GpuText, JsonHasNullWhereTheCardIsSilent) {
  const auto silent = gpu_json({}, {});
  for (const char* key : {"uuid", "memory_bytes", "power_limits_watts", "clocks_hertz", "in_use", "watts",
                          "power_limit_watts", "celsius", "hertz", "held_back_by"})
    EXPECT_TRUE(silent.at(key).is_null()) << key;
  platform::Nvml::Gpu gpu;
  gpu.power = {.least = 200, .most = 700, .usual = 600};
  platform::Nvml::State state;
  state.in_use = 0;
  state.throttled = std::vector<std::string>{};
  const auto told = gpu_json(gpu, state);
  EXPECT_EQ(told["power_limits_watts"], (nlohmann::json{200, 700}));
  EXPECT_EQ(told["in_use"], 0) << "idle is not unknown";
  EXPECT_EQ(told["held_back_by"], nlohmann::json::array()) << "nor is 'by nothing'";
}

}  // namespace
}  // namespace tandem::app
