#include "platform/nvml.h"

#include <gtest/gtest.h>

#include "platform/fake_nvml.h"

namespace tandem::platform {
namespace {

TEST(Nvml, GpusAndTheirEnergy) {
  FakeNvml fake;
  {
    std::string why;
    const auto nvml = Nvml::open(why, fake.lookup());
    ASSERT_TRUE(nvml) << why;
    ASSERT_EQ(nvml->gpus().size(), 2u);
    EXPECT_EQ(nvml->gpus()[0].name, "Fake GPU");
    EXPECT_TRUE(nvml->gpus()[0].reports_energy);
    EXPECT_EQ(nvml->energy(1), 2000u);
    EXPECT_EQ(fake.started, 1);
    fake.failing = {"nvmlDeviceGetTotalEnergyConsumption"};
    EXPECT_FALSE(nvml->energy(1)) << "a GPU that falls off the bus has no number";
  }
  EXPECT_EQ(fake.started, 0) << "the library is closed with its owner";
}

TEST(Nvml, HowBusyGpusAre) {
  FakeNvml fake;
  fake.percent = {0, 75};
  fake.used = {0, 4'000'000'000u};
  std::string why;
  auto nvml = Nvml::open(why, fake.lookup());
  ASSERT_TRUE(nvml) << why;
  const auto load = nvml->load(1);
  ASSERT_TRUE(load);
  EXPECT_EQ(load->in_use, 0.75);
  EXPECT_EQ(load->memory, 16'000'000'000);
  EXPECT_EQ(load->memory_used, 4'000'000'000);
  for (const char* function : {"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetMemoryInfo"}) {
    fake.failing = {function};
    EXPECT_FALSE(nvml->load(1)) << function;
  }
  fake.failing = {};
  fake.percent[1] = 101;
  EXPECT_FALSE(nvml->load(1)) << "a share that cannot be is none";
  fake.missing = {"nvmlDeviceGetUtilizationRates"};
  nvml.reset();
  nvml = Nvml::open(why, fake.lookup());
  ASSERT_TRUE(nvml) << "its energy can still be read";
  EXPECT_FALSE(nvml->load(0));
}

TEST(Nvml, EveryMissingFunctionIsNamed) {
  for (const char* function :
       {"nvmlInit_v2", "nvmlShutdown", "nvmlErrorString", "nvmlDeviceGetCount_v2",
        "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetName", "nvmlDeviceGetTotalEnergyConsumption"}) {
    FakeNvml fake;
    fake.missing = {function};
    std::string why;
    EXPECT_FALSE(Nvml::open(why, fake.lookup()));
    EXPECT_NE(why.find(function), std::string::npos) << why;
  }
}

TEST(Nvml, FailuresAtTheStartSayWhich) {
  for (const std::string function :
       {"nvmlInit_v2", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2"}) {
    FakeNvml fake;
    fake.failing = {function};
    std::string why;
    EXPECT_FALSE(Nvml::open(why, fake.lookup()));
    EXPECT_NE(why.find("Unknown Error"), std::string::npos) << why;
  }
}

TEST(Nvml, NoGpuAndGpusWithoutACounter) {
  FakeNvml fake;
  fake.failing = {"nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetName"};
  std::string why;
  const auto nvml = Nvml::open(why, fake.lookup());
  ASSERT_TRUE(nvml);
  EXPECT_FALSE(nvml->gpus()[0].reports_energy);
  EXPECT_EQ(nvml->gpus()[0].name, "GPU without a name");
  fake.millijoules.clear();
  EXPECT_FALSE(Nvml::open(why, fake.lookup()));
  EXPECT_NE(why.find("no GPU"), std::string::npos);
}

TEST(Nvml, TheRealOneIsThereOrSaysWhyNot) {
  std::string why;
  const bool there = Nvml::open(why) != nullptr;
  EXPECT_NE(there, !why.empty());
}

}  // namespace
}  // namespace tandem::platform
