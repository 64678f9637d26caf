#include "measure/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"

namespace tandem::measure {
namespace {

std::vector<Profile> profiles(int count) {
  Random random(1);
  std::vector<Profile> all;
  for (int i = 0; i < count; ++i) {
    const double cycles = random.uniform(1e9, 2e9), misses = random.uniform(0, 1e6);
    Profile profile;
    profile.rates = {{"cpu-cycles", cycles},
                     {"instructions", 2 * cycles + 5},
                     {"cache-misses", misses},
                     {"user-time", -3 * cycles},
                     {"threads", 4},
                     {"my-own", misses * 7},
                     {"pressure-io", random.uniform()}};
    all.push_back(profile);
  }
  return all;
}

TEST(Independent, DropsWhatRepeatsAnEarlierName) {
  EXPECT_EQ(independent(profiles(20)),
            (std::vector<std::string>{"cpu-cycles", "cache-misses", "threads", "pressure-io"}))
      << "in the order of the table; a constant is kept; a mirror image (r = -1) repeats as well";
}

TEST(Independent, TheOrderOfProfilesDoesNotMatter) {
  auto all = profiles(20);
  const auto kept = independent(all);
  std::reverse(all.begin(), all.end());
  EXPECT_EQ(independent(all), kept);
}

TEST(Independent, TooFewProfilesSayNothing) {
  EXPECT_EQ(independent(profiles(7)).size(), 7u);
  EXPECT_EQ(independent(profiles(8)).size(), 4u);
  EXPECT_TRUE(independent({}).empty());
}

TEST(Independent, OnlyProfilesThatHoldBothCount) {
  auto all = profiles(10);
  for (std::size_t i = 0; i < 5; ++i) all[i].rates.erase("instructions");
  const auto kept = independent(all);
  EXPECT_NE(std::find(kept.begin(), kept.end(), "instructions"), kept.end());
}

TEST(Independent, TheThresholdIsTheCallers) {
  Random random(2);
  std::vector<Profile> all;
  for (int i = 0; i < 200; ++i) {
    const double x = random.normal();
    all.push_back({{{"cpu-cycles", x}, {"instructions", x + 0.5 * random.normal()}}});
  }
  EXPECT_EQ(independent(all, 0.98).size(), 2u);
  EXPECT_EQ(independent(all, 0.5).size(), 1u);
}

TEST(ProfileNames, NoneTwice) {
  const auto& names = profile_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(std::find(names.begin(), names.end(), "cpu-clock"), names.end()) << "an alias";
}

}  // namespace
}  // namespace tandem::measure
