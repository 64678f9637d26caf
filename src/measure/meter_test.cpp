#include "measure/meter.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/random.h"
#include "measure/power_integral.h"
#include "platform/fake_tree.h"

namespace tandem::measure {
namespace {

using platform::FakeTree;

struct RaplFixture : testing::Test {
  FakeTree sys;
  Seconds now{100};
  std::unique_ptr<RaplMeter> meter;

  void set(int package, std::uint64_t microjoules) {
    sys.write("class/powercap/intel-rapl:" + std::to_string(package) + "/energy_uj",
              std::to_string(microjoules));
  }
  void SetUp() override {
    for (int package : {0, 1}) {
      const std::string zone = "class/powercap/intel-rapl:" + std::to_string(package) + "/";
      sys.write(zone + "name", "package-" + std::to_string(package));
      sys.write(zone + "max_energy_range_uj", "262143000000");
      set(package, 262142000000);
    }
    meter =
        std::make_unique<RaplMeter>(platform::find_energy_zones(sys.root()).zones, [this] { return now; });
    ASSERT_TRUE(meter->read());
  }
};

TEST_F(RaplFixture, SumsPackagesAcrossTheWrap) {
  now += Seconds{1};
  set(0, 262142500000);
  set(1, 1500000);
  const auto reading = meter->read();
  ASSERT_TRUE(reading);
  EXPECT_NEAR(reading->total.value, 0.5 + 1 + 1.5, 1e-9);
  EXPECT_EQ(reading->breaks, 0);
}

TEST_F(RaplFixture, AFailedReadingBreaksTheStretch) {
  sys.write("class/powercap/intel-rapl:1/energy_uj", "");
  EXPECT_FALSE(meter->read());
  set(1, 262142000000);
  set(0, 262142900000);
  const auto reading = meter->read();
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->breaks, 1);
  EXPECT_EQ(reading->total.value, 0) << "nothing is guessed across it";
}

TEST_F(RaplFixture, TooLongAgoMayHaveWrappedTwice) {
  now += Seconds{300};
  EXPECT_EQ(meter->read()->breaks, 1);
  now += Seconds{1};
  EXPECT_EQ(meter->read()->breaks, 1);
}

TEST(ModelMeter, IdlePlusUtilisation) {
  FakeTree proc;
  const auto tick = sysconf(_SC_CLK_TCK);
  Seconds now{0};
  const auto busy = [&](long seconds) {
    proc.write("stat", "cpu " + std::to_string(seconds * tick) + " 0 0 7 7 0 0\n");
  };
  busy(50);
  ModelMeter meter({Watts{8}, Watts{30}}, 2, platform::ProcFs(proc.root()), [&] { return now; });
  EXPECT_EQ(meter.source(), "model (idle 8 W, busy 30 W)");
  EXPECT_FALSE(meter.measured());
  EXPECT_EQ(meter.read()->total.value, 0);
  now = Seconds{10};
  busy(60);
  EXPECT_NEAR(meter.read()->total.value, 10 * (8 + 22 * 0.5), 1e-9)
      << "half of two cores busy for ten seconds";
  proc.write("stat", "nonsense");
  EXPECT_FALSE(meter.read());
}

TEST(PowerModel, DefaultsGrowWithTheCores) {
  EXPECT_EQ(default_power_model(2).idle.value, 8);
  EXPECT_EQ(default_power_model(2).busy.value, 30);
}

TEST(PowerIntegral, ExactForPiecewiseLinearPower) {
  PowerIntegral integral(Seconds{5});
  EXPECT_FALSE(integral.at(Seconds{0}));
  integral.add(Seconds{0}, Watts{10});
  integral.add(Seconds{1}, Watts{20});
  integral.add(Seconds{3}, Watts{20});
  integral.add(Seconds{7}, Watts{0});
  EXPECT_DOUBLE_EQ(integral.at(Seconds{7})->total.value, 15 + 40 + 40);
}

TEST(PowerIntegral, HoldsTheLastSampleButNeverFalls) {
  PowerIntegral integral(Seconds{5});
  integral.add(Seconds{0}, Watts{100});
  EXPECT_DOUBLE_EQ(integral.at(Seconds{0.9})->total.value, 90);
  integral.add(Seconds{1}, Watts{0});
  EXPECT_DOUBLE_EQ(integral.at(Seconds{1})->total.value, 90);
  integral.add(Seconds{2}, Watts{200});
  EXPECT_DOUBLE_EQ(integral.at(Seconds{2})->total.value, 150) << "and ends at the trapezoid";
}

TEST(PowerIntegral, AGapIsABreakNotAGuess) {
  PowerIntegral integral(Seconds{5});
  integral.add(Seconds{0}, Watts{100});
  EXPECT_TRUE(integral.at(Seconds{5}));
  EXPECT_FALSE(integral.at(Seconds{5.1}));
  integral.add(Seconds{6}, Watts{100});
  EXPECT_EQ(integral.at(Seconds{6})->breaks, 1);
  const auto before = integral.at(Seconds{6})->total;
  integral.add(Seconds{7}, Watts{100});
  EXPECT_LE((integral.at(Seconds{7})->total - before).value, 100);
}

TEST(PowerIntegral, NeverFallsWhateverTheSamples) {
  Random random(3);
  PowerIntegral integral(Seconds{5});
  Seconds now{0};
  Joules last;
  for (int i = 0; i < 2000; ++i) {
    now += Seconds{random.uniform(0, 1)};
    if (random.uniform() < 0.5) integral.add(now, Watts{random.uniform(0, 300)});
    if (const auto reading = integral.at(now)) {
      ASSERT_GE(reading->total, last);
      last = reading->total;
    }
  }
}

}  // namespace
}  // namespace tandem::measure
