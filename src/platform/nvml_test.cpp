#include "platform/nvml.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>

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

struct GpuTest : testing::Test {
  FakeNvml fake;
  std::string why;
  std::unique_ptr<Nvml> nvml;
  void open() {
    nvml.reset();
    nvml = Nvml::open(why, fake.lookup());
    ASSERT_TRUE(nvml) << why;
  }
  void fail(const std::string& function, int status) {
    fake.failing = {function};
    fake.status = {{function, status}};
  }
};

TEST_F(GpuTest, WhatACardIsAndWhatCanBeSet) {
  open();
  const auto& gpu = nvml->gpus()[1];
  EXPECT_EQ(nvml->driver(), "555.42");
  EXPECT_EQ(gpu.uuid, "GPU-1");
  EXPECT_EQ(nvml->find("GPU-1"), 1u);
  EXPECT_FALSE(nvml->find(""));
  EXPECT_EQ(gpu.memory, 16'000'000'000);
  ASSERT_TRUE(gpu.power && gpu.clocks);
  EXPECT_EQ(gpu.power->least, 200);
  EXPECT_EQ(gpu.power->most, 700);
  EXPECT_EQ(gpu.power->usual, 600);
  EXPECT_EQ(gpu.clocks->least, 345e6);
  EXPECT_EQ(gpu.clocks->most, 1980e6) << "those of the fastest memory clock";
  EXPECT_FALSE(nvml->recorded());
  EXPECT_EQ(nvml->source(), "nvml");
}

TEST_F(GpuTest, WhatItDoesNotSayIsMissingAndNothingElse) {
  for (const char* function :
       {"nvmlDeviceGetPowerManagementLimitConstraints", "nvmlDeviceSetPowerManagementLimit"}) {
    fake.missing = {function};
    open();
    EXPECT_FALSE(nvml->gpus()[0].power) << function;
    EXPECT_TRUE(nvml->gpus()[0].clocks) << function;
    EXPECT_NE(nvml->set_power_limit(0, 300).find("does not support"), std::string::npos);
  }
  fake.failing = {"nvmlDeviceGetMinMaxClockOfPState"};
  for (const char* function : {"nvmlDeviceSetGpuLockedClocks", "nvmlDeviceGetSupportedGraphicsClocks"}) {
    fake.missing = {function};
    open();
    EXPECT_FALSE(nvml->gpus()[0].clocks) << function;
    EXPECT_TRUE(nvml->gpus()[0].power) << function;
    EXPECT_NE(nvml->lock_clock(0, 1e9).find("does not support"), std::string::npos);
    EXPECT_NE(nvml->unlock_clock(0).find("leave system.gpu_clock out"), std::string::npos);
  }
  fake.failing = {};
  open();
  EXPECT_EQ(nvml->gpus()[0].clocks->most, 2000e6) << "no list of clocks, but a range";
  fake.missing = {"nvmlDeviceGetUUID", "nvmlSystemGetDriverVersion", "nvmlDeviceGetTotalEnergyConsumption",
                  "nvmlDeviceGetMemoryInfo"};
  open();
  EXPECT_EQ(nvml->gpus()[0].uuid + nvml->driver(), "");
  EXPECT_EQ(nvml->gpus()[0].memory, 0);
  EXPECT_FALSE(nvml->gpus()[0].reports_energy);
  EXPECT_FALSE(nvml->energy(0));
}

TEST_F(GpuTest, AbsurdRangesAreNone) {
  fake.missing = {"nvmlDeviceGetMinMaxClockOfPState"};
  fake.least_limit = 800'000;
  fake.clocks = {0, 1980};
  open();
  EXPECT_FALSE(nvml->gpus()[0].power);
  EXPECT_FALSE(nvml->gpus()[0].clocks);
  fake.clocks.clear();
  open();
  EXPECT_FALSE(nvml->gpus()[0].clocks);
}

TEST_F(GpuTest, StateIsWhatItSaysNow) {
  fake.percent = {0, 75};
  fake.used = {0, 4'000'000'000u};
  fake.milliwatts = {75'000, 310'500};
  fake.throttle = 0x1 | 0x2 | 0x4 | 0x40 | 0x1000;
  open();
  const auto state = nvml->state(1);
  EXPECT_EQ(state.in_use, 0.75);
  EXPECT_EQ(state.memory_used, 4'000'000'000);
  EXPECT_DOUBLE_EQ(*state.watts, 310.5);
  EXPECT_EQ(state.power_limit, 700);
  EXPECT_EQ(state.celsius, 45);
  EXPECT_EQ(state.hertz, 1500e6) << "of the multiprocessors";
  const std::vector<std::string> held_back{"power cap", "heat (hardware)",
                                           "a reason unknown to Tandem (0x1000)"};
  EXPECT_EQ(state.throttled, held_back) << "an idle GPU and one with a chosen clock are not held back";
}

TEST_F(GpuTest, EachPartOfTheStateMayBeMissing) {
  open();
  const auto missing = [&](const char* function) {
    fake.failing = {function};
    return nvml->state(0);
  };
  EXPECT_FALSE(missing("nvmlDeviceGetUtilizationRates").in_use);
  EXPECT_FALSE(missing("nvmlDeviceGetMemoryInfo").memory_used);
  EXPECT_FALSE(missing("nvmlDeviceGetPowerUsage").watts);
  EXPECT_FALSE(missing("nvmlDeviceGetPowerManagementLimit").power_limit);
  EXPECT_FALSE(missing("nvmlDeviceGetTemperature").celsius);
  EXPECT_FALSE(missing("nvmlDeviceGetClockInfo").hertz);
  EXPECT_FALSE(missing("nvmlDeviceGetCurrentClocksEventReasons").throttled);
  fake.failing = {};
  fake.milliwatts[0] = 4'000'000'000u;
  EXPECT_FALSE(nvml->state(0).watts) << "no card draws four megawatts";
}

TEST_F(GpuTest, OlderDriversNameThrottlingDifferently) {
  fake.missing = {"nvmlDeviceGetCurrentClocksEventReasons"};
  const SymbolLookup newer = fake.lookup();
  const SymbolLookup older = [newer](const char* symbol) {
    return symbol == std::string("nvmlDeviceGetCurrentClocksThrottleReasons")
               ? FakeNvml::pointer(&FakeNvml::throttle_reasons)
               : newer(symbol);
  };
  fake.throttle = 0x8;
  nvml = Nvml::open(why, older);
  ASSERT_TRUE(nvml) << why;
  EXPECT_EQ(nvml->state(0).throttled, std::vector<std::string>{"hardware slowdown"});
}

TEST_F(GpuTest, LimitsAndClocksAreSet) {
  open();
  EXPECT_EQ(nvml->set_power_limit(1, 300.25), "");
  EXPECT_EQ(fake.limit, (std::vector<unsigned>{700'000, 300'250}));
  EXPECT_EQ(nvml->power_limit(1), 300.25);
  EXPECT_EQ(nvml->lock_clock(1, 1.2e9), "");
  EXPECT_EQ(fake.locked, (std::vector<unsigned>{0, 1200})) << "at one clock, not at a range of them";
  EXPECT_EQ(nvml->unlock_clock(1), "");
  EXPECT_EQ(fake.locked[1], 0u);
}

TEST_F(GpuTest, OutOfRangeIsSaidWithTheRangeAndNotTried) {
  open();
  for (const double watts : {199.0, 701.0, -1.0, std::nan(""), 1e300}) {
    EXPECT_NE(nvml->set_power_limit(0, watts).find("200 to 700 W"), std::string::npos) << watts;
    EXPECT_EQ(fake.limit[0], 700'000u);
  }
  for (const double hertz : {344e6, 1981e6, std::nan("")}) {
    EXPECT_NE(nvml->lock_clock(0, hertz).find("345 MHz to 1.98 GHz"), std::string::npos) << hertz;
    EXPECT_EQ(fake.locked[0], 0u);
  }
}

TEST_F(GpuTest, WhyNotIsASentenceForPeople) {
  open();
  const auto limit = [&](int status) {
    fail("nvmlDeviceSetPowerManagementLimit", status);
    return nvml->set_power_limit(0, 300);
  };
  EXPECT_EQ(limit(4),
            "GPU 0 (Fake GPU): setting the power limit to 300 W: not permitted: needs root or CAP_SYS_ADMIN; "
            "ask the operator, or leave system.gpu_power out");
  EXPECT_NE(limit(3).find("does not support it"), std::string::npos);
  EXPECT_NE(limit(15).find("fallen off the bus"), std::string::npos);
  EXPECT_NE(limit(999).find("Unknown Error"), std::string::npos);
  EXPECT_EQ(fake.limit[0], 700'000u);
  fail("nvmlDeviceSetGpuLockedClocks", 4);
  EXPECT_NE(nvml->lock_clock(0, 1e9).find("leave system.gpu_clock out"), std::string::npos);
  fail("nvmlDeviceResetGpuLockedClocks", 15);
  EXPECT_NE(nvml->unlock_clock(0).find("fallen off the bus"), std::string::npos);
}

TEST_F(GpuTest, ARecordingSaysSoEverywhere) {
  fake.recording = true;
  open();
  EXPECT_TRUE(nvml->recorded());
  EXPECT_EQ(nvml->source(), "nvml recording");
  EXPECT_EQ(nvml->gpus()[0].name, "Fake GPU (recorded, not a real GPU)");
}

TEST(Nvml, EnergyBetweenTwoReadings) {
  EXPECT_EQ(millijoules_between(5, 5), 0u);
  EXPECT_EQ(millijoules_between(5, 12), 7u);
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(millijoules_between(kMost - 3, kMost), 3u) << "no bit of 64 is lost";
  EXPECT_FALSE(millijoules_between(kMost, 7)) << "wrapped, or counted anew: not known, never negative";
  EXPECT_FALSE(millijoules_between(5, 4));
}

TEST(Nvml, ALibraryThatCannotBeLoadedIsNamed) {
  ::setenv("TANDEM_NVML", "/nowhere/libnvml.so", 1);
  std::string why;
  EXPECT_FALSE(Nvml::open(why));
  ::unsetenv("TANDEM_NVML");
  EXPECT_NE(why.find("TANDEM_NVML"), std::string::npos) << why;
  EXPECT_NE(why.find("/nowhere/libnvml.so"), std::string::npos) << why;
}

TEST(Nvml, EveryMissingFunctionIsNamed) {
  for (const char* function : {"nvmlInit_v2", "nvmlShutdown", "nvmlErrorString", "nvmlDeviceGetCount_v2",
                               "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetName"}) {
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
