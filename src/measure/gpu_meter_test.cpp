#include "measure/gpu_meter.h"

#include <gtest/gtest.h>

#include "platform/fake_nvml.h"

namespace tandem::measure {
namespace {

using platform::FakeNvml;

struct GpuMeters : testing::Test {
  FakeNvml fake;
  Seconds now{100};
  std::string why;
  std::shared_ptr<platform::Nvml> nvml() { return platform::Nvml::open(why, fake.lookup()); }
  Clock clock() {
    return [this] { return now; };
  }
};

TEST_F(GpuMeters, CountersAreSummed) {
  NvmlMeter meter(nvml(), clock());
  EXPECT_EQ(meter.source(), "nvml");
  ASSERT_TRUE(meter.read());
  fake.millijoules = {1500, 4000};
  // The fake's handles point into its vector, which keeps its place.
  EXPECT_DOUBLE_EQ(meter.read()->total.value, 2.5);
  EXPECT_EQ(meter.read()->breaks, 0);
}

TEST_F(GpuMeters, ADriverLoadedAnewIsABreakNeverLessEnergy) {
  GpuMeter meter(nvml(), 0, clock());
  ASSERT_TRUE(meter.read());
  fake.millijoules[0] = 3000;
  ASSERT_EQ(meter.read()->total.value, 2);
  fake.millijoules[0] = 10;
  const auto after = meter.read();
  EXPECT_EQ(after->breaks, 1);
  EXPECT_EQ(after->total.value, 2) << "what was used in between is not known";
  fake.millijoules[0] = 1010;
  EXPECT_EQ(meter.read()->total.value, 3);
  EXPECT_EQ(meter.read()->breaks, 1);
}

TEST_F(GpuMeters, CountersThatFailForAWhileLoseNothing) {
  NvmlMeter meter(nvml(), clock());
  ASSERT_TRUE(meter.read());
  fake.failing = {"nvmlDeviceGetTotalEnergyConsumption"};
  EXPECT_FALSE(meter.read());
  fake.failing = {};
  fake.millijoules = {2000, 2000};
  EXPECT_EQ(meter.read()->total.value, 1);
  EXPECT_EQ(meter.read()->breaks, 0) << "the counter went on";
}

TEST_F(GpuMeters, WithoutACounterPowerIsIntegratedAndSaidSo) {
  fake.failing = {"nvmlDeviceGetTotalEnergyConsumption"};
  fake.recording = true;
  NvmlMeter meter(nvml(), clock());
  EXPECT_EQ(meter.source(), "nvml recording (power samples)");
  fake.milliwatts = {100'000, 50'000};
  ASSERT_TRUE(meter.read());
  now += Seconds{1};
  fake.milliwatts = {300'000, 50'000};
  EXPECT_DOUBLE_EQ(meter.read()->total.value, 200 + 50) << "the trapezoid";
  now += Seconds{60};
  EXPECT_EQ(meter.read()->breaks, 2) << "nobody looked for a minute: not known, of neither";
  fake.failing.insert("nvmlDeviceGetPowerUsage");
  now += Seconds{6};
  EXPECT_FALSE(meter.read());
}

}  // namespace
}  // namespace tandem::measure
