#include "runtime/common/run_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "platform/temporary.h"

namespace tandem::runtime {
namespace {

class RunFolderTest : public testing::Test {
 protected:
  void was_alive_at(double seconds) {
    const timespec at{static_cast<time_t>(seconds), 0};
    const timespec both[]{at, at};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder_.path() / "alive").c_str(), both, 0), 0);
  }
  platform::TemporaryFolder folder_{"tandem-run-folder"};
};

TEST_F(RunFolderTest, WhenTheTandemBeforeWasLastSeenSaysHowLongItsProgramsRan) {
  EXPECT_FALSE(RunFolder(folder_.path()).seen_before()) << "there was none";
  EXPECT_TRUE(RunFolder(folder_.path()).seen_before());
  was_alive_at(1000);
  const RunFolder after(folder_.path());
  EXPECT_DOUBLE_EQ(after.seen_before()->value, 1000);
  EXPECT_DOUBLE_EQ(after.ran(Seconds{990})->value, 10);
  EXPECT_DOUBLE_EQ(after.ran(Seconds{2000})->value, 0) << "the clock was set back in between";
}

TEST_F(RunFolderTest, ALinkInPlaceOfTheMarkLeadsNowhere) {
  std::ofstream(folder_.path() / "precious") << "precious";
  std::filesystem::create_symlink(folder_.path() / "precious", folder_.path() / "alive");
  was_alive_at(1000);
  const auto before = std::filesystem::last_write_time(folder_.path() / "precious");
  RunFolder folder(folder_.path());
  folder.full(Seconds{100});
  EXPECT_EQ(std::filesystem::last_write_time(folder_.path() / "precious"), before);
}

TEST_F(RunFolderTest, AFullDiskIsLookedAtAgainAfterASecond) {
  RunFolder folder(folder_.path());
  ASSERT_FALSE(folder.full(Seconds{10})) << "this test needs some MiB of disk";
  folder.is_full(Seconds{10.1});
  EXPECT_TRUE(folder.full(Seconds{10.5})) << "a program found out, and nobody has looked since";
  EXPECT_TRUE(folder.full(Seconds{11.0}));
  EXPECT_FALSE(folder.full(Seconds{11.2})) << "there is space again";
  const auto why = folder.why();
  EXPECT_NE(why.find("2 MiB were left on the disk of " + folder_.path().string()), std::string::npos) << why;
  EXPECT_NE(why.find("16 MiB are free"), std::string::npos) << why;
}

}  // namespace
}  // namespace tandem::runtime
