#include "runtime/bags/speed.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::bags {
namespace {

namespace fs = std::filesystem;

std::string word_in(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

class Clocks : public ::testing::Test {
 protected:
  Clocks() {
    const auto cpu = folder_.path() / "cpu0" / "cpufreq";
    fs::create_directories(cpu);
    std::ofstream(cpu / "cpuinfo_max_freq") << "3000000";
    std::ofstream(limit_) << "2800000";
    options_.base = 0.5;
    options_.cpus = {0};
    options_.cgroups = {};
    options_.cpufreq = folder_.path();
  }

  platform::TemporaryFolder folder_;
  fs::path limit_ = folder_.path() / "cpu0" / "cpufreq" / "scaling_max_freq";
  SpeedOptions options_;
};

TEST_F(Clocks, AreLoweredRaisedToSprintAndPutBack) {
  {
    Speed speed(options_);
    EXPECT_EQ(speed.means(), Speed::Means::cpufreq);
    EXPECT_EQ(word_in(limit_), "1500000");
    speed.sprint(true);
    EXPECT_EQ(word_in(limit_), "3000000");
    speed.sprint(false);
    EXPECT_EQ(word_in(limit_), "1500000");
  }
  EXPECT_EQ(word_in(limit_), "2800000");
}

TEST_F(Clocks, ArePutBackAlsoWhenTheOwnerIsKilled) {
  const pid_t owner = ::fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    const Speed speed(options_);
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(owner, nullptr, 0), owner);
  for (int tries = 0; word_in(limit_) != "2800000" && tries < 6000; ++tries)  // a minute is enough for any
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(word_in(limit_), "2800000");
}

TEST_F(Clocks, ThatCannotBeHadMeanNoSprinting) {
  options_.cpus = {1};
  Speed speed(options_);
  EXPECT_EQ(speed.means(), Speed::Means::none);
  EXPECT_FALSE(speed.can_sprint());
  EXPECT_NE(speed.why().find("impossible"), std::string::npos) << speed.why();
  speed.sprint(true);
  EXPECT_EQ(word_in(limit_), "2800000");
}

TEST_F(Clocks, ABaseThatIsNoneIsRefused) {
  for (const double base : {0.0, 1.0, -0.5}) {
    options_.base = base;
    EXPECT_THROW(Speed{options_}, UserError);
  }
}

// The groups below the parent of ours.
std::size_t groups_in(const fs::path& parent) {
  std::size_t out = 0;
  for (const auto& entry : fs::directory_iterator(parent))
    out += entry.path().filename().string().starts_with("tandem-bags-" + std::to_string(::getpid()));
  return out;
}

TEST(Quota, IsAGroupThatGoesWithItsOwner) {
  SpeedOptions options{.base = 0.5, .cpus = {0}, .cpufreq = "/no/cpufreq"};
  if (!options.cgroups.cpu()) GTEST_SKIP() << "no CPU quota here: " << options.cgroups.why_cpu;
  const auto parent = options.cgroups.cpu_parent;
  const pid_t sleeper = ::fork();
  ASSERT_GE(sleeper, 0);
  if (sleeper == 0)
    for (;;) ::pause();
  {
    Speed speed(options);
    EXPECT_EQ(speed.means(), Speed::Means::quota);
    EXPECT_EQ(groups_in(parent), 1u);
    speed.take(sleeper);
    speed.sprint(true);
    speed.sprint(false);
  }
  EXPECT_EQ(groups_in(parent), 0u);
  int status = 0;
  ASSERT_EQ(::waitpid(sleeper, &status, 0), sleeper);  // ended with the group
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(Guardian, TwoOfThemEndInAnyOrder) {
  const platform::TemporaryFolder folder;
  auto touch = [&](const char* name) {
    return [file = folder.path() / name] { std::ofstream(file) << "done"; };
  };
  auto first = std::make_unique<Guardian>(touch("first"));
  auto second = std::make_unique<Guardian>(touch("second"));
  first.reset();
  EXPECT_EQ(word_in(folder.path() / "first"), "done");
  EXPECT_EQ(word_in(folder.path() / "second"), "");
  second.reset();
  EXPECT_EQ(word_in(folder.path() / "second"), "done");
}

}  // namespace
}  // namespace tandem::bags
