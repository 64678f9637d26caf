#include "platform/cpufreq.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::platform {
namespace {

class CpuFrequencyTest : public testing::Test {
 protected:
  CpuFrequencyTest() {
    for (int cpu : {0, 1}) {
      const auto folder = folder_.path() / ("cpu" + std::to_string(cpu)) / "cpufreq";
      std::filesystem::create_directories(folder);
      std::ofstream(folder / "cpuinfo_max_freq") << "3000000\n";
      std::ofstream(folder / "scaling_max_freq") << "2800000\n";
    }
  }
  std::string limit_of(int cpu) const {
    std::ifstream in(folder_.path() / ("cpu" + std::to_string(cpu)) / "cpufreq/scaling_max_freq");
    std::string word;
    in >> word;
    return word;
  }
  TemporaryFolder folder_;
};

TEST_F(CpuFrequencyTest, LimitsAndPutsBackWhatWasThere) {
  CpuFrequency clocks(folder_.path());
  EXPECT_TRUE(clocks.usable({0, 1}));
  clocks.limit({0, 1}, 0.5);
  clocks.limit({0}, 0.25);
  EXPECT_EQ(limit_of(0), "750000");
  EXPECT_EQ(limit_of(1), "1500000");
  clocks.restore({0, 1});
  EXPECT_EQ(limit_of(0), "2800000");
  EXPECT_EQ(limit_of(1), "2800000");
}

TEST_F(CpuFrequencyTest, WhatACrashLeftCanBePutBackByAnother) {
  std::map<int, std::string> former;
  {
    CpuFrequency clocks(folder_.path());
    clocks.limit({0}, 0.5);
    former = clocks.former();
  }
  CpuFrequency clocks(folder_.path());
  clocks.adopt(former);
  clocks.restore({0});
  EXPECT_EQ(limit_of(0), "2800000");
}

TEST_F(CpuFrequencyTest, AMachineWithoutItSaysSoAndChangesNothing) {
  CpuFrequency clocks(folder_.path());
  std::string why;
  EXPECT_FALSE(clocks.usable({0, 7}, &why));
  EXPECT_NE(why.find("CPU 7"), std::string::npos);
  EXPECT_THROW(clocks.limit({0, 7}, 0.5), SystemError);
  EXPECT_EQ(limit_of(0), "2800000");
}

}  // namespace
}  // namespace tandem::platform
