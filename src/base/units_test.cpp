#include "base/units.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(Units, LittleEnergyIsNotNone) {
  EXPECT_EQ(text(Joules{0.0123}), "0.012 J");
  EXPECT_EQ(text(Joules{0}), "0.0 J");
  EXPECT_EQ(text(Joules{0.06}), "0.1 J");
}

TEST(Units, ArithmeticStaysInsideItsUnit) {
  Seconds time{90};
  time += Seconds{10};
  time -= Seconds{40};
  EXPECT_EQ(time, Seconds{60});
  EXPECT_EQ(Seconds{2} + Seconds{3}, Seconds{5});
  EXPECT_EQ(Seconds{2} - Seconds{3}, Seconds{-1});
  EXPECT_EQ(2 * Seconds{3} / 4, Seconds{1.5});
  EXPECT_DOUBLE_EQ(Seconds{3} / Seconds{2}, 1.5);
  EXPECT_LT(Seconds{1}, Seconds{2});
  EXPECT_EQ(Watts{50} * Seconds{4}, Joules{200});
}

TEST(Units, SecondsReadLikeAClock) {
  EXPECT_EQ(text(Seconds{0}), "0 s");
  EXPECT_EQ(text(Seconds{12e-6}), "12 us");
  EXPECT_EQ(text(Seconds{0.85}), "850 ms");
  EXPECT_EQ(text(Seconds{12.34}), "12.3 s");
  EXPECT_EQ(text(Seconds{245}), "4 min 05 s");
  EXPECT_EQ(text(Seconds{12000}), "3 h 20 min");
  EXPECT_EQ(text(Seconds{99.5 * 3600}), "99 h 30 min");
  EXPECT_EQ(text(Seconds{100 * 3600}), "4 d 04 h");
  EXPECT_EQ(text(Seconds{-12.34}), "-12.3 s");
}

TEST(Units, RoundingMovesToTheNextUnit) {
  EXPECT_EQ(text(Seconds{0.9999}), "1.0 s");
  EXPECT_EQ(text(Seconds{0.0009999}), "1 ms");
  EXPECT_EQ(text(Seconds{99.96}), "1 min 40 s");
  EXPECT_EQ(text(Seconds{3599.7}), "1 h 00 min");
  EXPECT_EQ(text(Joules{999.96}), "1.00 kJ");
  EXPECT_EQ(text(Joules{999996}), "1.00 MJ");
  EXPECT_EQ(text(Joules{6.43e10}), "64.30 GJ");
  EXPECT_EQ(text_bytes(kMiB - 1), "1 MiB");
}

TEST(Units, AbsurdTimesAreStillText) {
  EXPECT_EQ(text(Seconds{1e300}), "1e+300 s");
}

TEST(Units, EnergyPowerAndSizesForPeople) {
  EXPECT_EQ(text(Joules{12.34}), "12.3 J");
  EXPECT_EQ(text(Joules{1234}), "1.23 kJ");
  EXPECT_EQ(text(Joules{-2.5e6}), "-2.50 MJ");
  EXPECT_EQ(text(Watts{95}), "95 W");
  EXPECT_EQ(text(Watts{12345}), "12.35 kW");
  EXPECT_EQ(text_bytes(512 * kMiB), "512 MiB");
  EXPECT_EQ(text_bytes(kGiB * 3 / 2), "1.5 GiB");
  EXPECT_EQ(text_bytes(1023), "1023 B");
  EXPECT_EQ(text_bytes(0), "0 B");
}

TEST(Units, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_seconds("90s"), Seconds{90});
  EXPECT_EQ(parse_seconds("1.5h"), Seconds{5400});
  EXPECT_EQ(parse_seconds("5min"), Seconds{300});
  EXPECT_EQ(parse_seconds("5 m"), Seconds{300});
  EXPECT_EQ(parse_seconds("250ms"), Seconds{0.25});
  EXPECT_EQ(parse_seconds("2d"), Seconds{172800});
  EXPECT_EQ(parse_bytes("2GiB"), 2 * kGiB);
  EXPECT_EQ(parse_bytes("512MB"), 512'000'000);
  EXPECT_EQ(parse_bytes("1024B"), 1024);
  EXPECT_EQ(parse_watts("150W"), Watts{150});
  EXPECT_EQ(parse_watts("1.2kW"), Watts{1200});
  EXPECT_EQ(parse_joules("500J"), Joules{500});
  EXPECT_EQ(parse_joules("20kJ"), Joules{20'000});
  EXPECT_EQ(parse_joules("1.5 MJ"), Joules{1.5e6});
  EXPECT_EQ(parse_joules("3Wh"), Joules{10'800});
  EXPECT_EQ(parse_joules("0.5kWh"), Joules{1.8e6});
  EXPECT_EQ(parse_fraction("80%"), 0.8);
  EXPECT_EQ(parse_fraction("70%"), 0.7) << "the same as when it is written 0.7";
  EXPECT_EQ(parse_fraction("0.8"), 0.8);
}

TEST(Units, BandwidthsCountBytesOrBits) {
  EXPECT_EQ(parse_bandwidth("12GB/s"), 12e9);
  EXPECT_EQ(parse_bandwidth("1.15 GB/s"), 1.15e9);
  EXPECT_EQ(parse_bandwidth("10Gb/s"), 1.25e9) << "a small b is a bit";
  EXPECT_EQ(parse_bandwidth("800b/s"), 100);
  EXPECT_EQ(parse_bandwidth("512MiB/s"), 512. * 1024 * 1024);
  EXPECT_EQ(parse_bandwidth("0B/s"), 0);
  EXPECT_EQ(text_bandwidth(12e9), "12 GB/s");
  EXPECT_EQ(text_bandwidth(1.25e9), "1.25 GB/s");
  EXPECT_EQ(text_bandwidth(999.96e6), "1 GB/s");
  EXPECT_EQ(text_bandwidth(0), "0 B/s");
  EXPECT_EQ(text_bandwidth(5e15), "5000 TB/s");
}

TEST(Units, FrequenciesAndShortTimes) {
  EXPECT_EQ(parse_frequency("824MHz"), 824e6);
  EXPECT_EQ(parse_frequency("1.5 GHz"), 1.5e9);
  EXPECT_EQ(parse_frequency("50Hz"), 50);
  EXPECT_EQ(parse_seconds("5us"), Seconds{5 * 1e-6});
  EXPECT_EQ(text_frequency(824e6), "824 MHz");
  EXPECT_EQ(text_frequency(3.498e9), "3.498 GHz");
  EXPECT_EQ(text_frequency(0), "0 Hz");
}

TEST(Units, RefusesWhatIsNotThatQuantity) {
  for (const char* bad : {"", "90", "s", "-1s", "1 fortnight", "nans", "infs", "1e308d", "90s ", "1..5s"})
    EXPECT_FALSE(parse_seconds(bad)) << bad;
  for (const char* bad : {"2", "2gib", "2GiBs", "-2GiB", "1e30TB"}) EXPECT_FALSE(parse_bytes(bad)) << bad;
  for (const char* bad : {"150", "150w", "1e308kW"}) EXPECT_FALSE(parse_watts(bad)) << bad;
  for (const char* bad : {"20", "20kj", "20kW", "-1J", "1e308kWh"}) EXPECT_FALSE(parse_joules(bad)) << bad;
  for (const char* bad : {"", "12", "12GB", "12GBps", "12gB/s", "-1GB/s", "1e308TB/s"})
    EXPECT_FALSE(parse_bandwidth(bad)) << bad;
  for (const char* bad : {"", "824", "824mhz", "824Mhz", "-1Hz", "1e308GHz"})
    EXPECT_FALSE(parse_frequency(bad)) << bad;
  for (const char* bad : {"", "%", "80percent", "-1%"}) EXPECT_FALSE(parse_fraction(bad)) << bad;
}

}  // namespace
}  // namespace tandem
