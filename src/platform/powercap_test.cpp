#include "platform/powercap.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "platform/fake_tree.h"

namespace tandem::platform {
namespace {

void add_zone(const FakeTree& sys, const std::string& folder, const std::string& name,
              const std::string& energy) {
  const std::string zone = "class/powercap/" + folder + "/";
  sys.write(zone + "name", name + "\n");
  sys.write(zone + "energy_uj", energy + "\n");
  sys.write(zone + "max_energy_range_uj", "262143328850\n");
}

TEST(Powercap, PackagesAndMemoryButNothingTwice) {
  FakeTree sys;
  add_zone(sys, "intel-rapl:1", "package-1", "2000");
  add_zone(sys, "intel-rapl:0", "package-0", "1000");
  add_zone(sys, "intel-rapl:0:0", "core", "500");
  add_zone(sys, "intel-rapl:0:1", "dram", "300");
  add_zone(sys, "intel-rapl:2", "psys", "9000");
  add_zone(sys, "intel-rapl-mmio:0", "package-0", "1000");
  const auto found = find_energy_zones(sys.root());
  ASSERT_EQ(found.zones.size(), 3u);
  EXPECT_EQ(found.zones[0].name, "package-0");
  EXPECT_EQ(found.zones[1].name, "dram");
  EXPECT_EQ(found.zones[2].name, "package-1");
  EXPECT_EQ(found.zones[0].range, 262143328850u);
  EXPECT_EQ(read_microjoules(found.zones[2]), 2000u);
}

TEST(Powercap, SaysWhyThereIsNone) {
  FakeTree sys;
  EXPECT_NE(find_energy_zones(sys.root()).why.find("virtual machine"), std::string::npos);
  sys.write("class/powercap/dtpm/name", "x");
  EXPECT_NE(find_energy_zones(sys.root()).why.find("no RAPL package"), std::string::npos);
}

TEST(Powercap, OneUnreadableZoneSpoilsTheSum) {
  FakeTree sys;
  add_zone(sys, "intel-rapl:0", "package-0", "1000");
  add_zone(sys, "intel-rapl:1", "package-1", "");
  const auto found = find_energy_zones(sys.root());
  EXPECT_TRUE(found.zones.empty());
  EXPECT_NE(found.why.find("intel-rapl:1/energy_uj"), std::string::npos);
}

TEST(Powercap, Wraparound) {
  EXPECT_EQ(microjoules_between(10, 25, 1000), 15u);
  EXPECT_EQ(microjoules_between(990, 5, 1000), 15u);
  EXPECT_EQ(microjoules_between(7, 7, 0), 0u);
  EXPECT_FALSE(microjoules_between(990, 5, 0)) << "no range known: it was reset";
}

}  // namespace
}  // namespace tandem::platform
