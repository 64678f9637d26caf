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
