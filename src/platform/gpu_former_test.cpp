#include "platform/gpu_former.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/error.h"
#include "platform/fake_nvml.h"
#include "platform/temporary.h"

namespace tandem::platform {
namespace {

const FormerSetting kBoth{"GPU-1", 650.125, true, 4711};

TEST(FormerSetting, LinesSayAllOfIt) {
  for (const FormerSetting& former :
       {kBoth, FormerSetting{"GPU-1", std::nullopt, false, 1}, FormerSetting{"GPU-1", 1.0 / 3, false, 1}})
    EXPECT_EQ(parse_former(to_line(former)), former) << to_line(former);
  EXPECT_EQ(to_line(kBoth), "GPU-1 650.125 unlock 4711");
}

TEST(FormerSetting, NonsenseIsNone) {
  for (const char* line : {"", "GPU-1", "GPU-1 650 unlock", "GPU-1 650 unlock 1 more", "GPU-1 650 lock 1",
                           "GPU-1 nan unlock 1", "GPU-1 inf unlock 1", "GPU-1 -5 - 1", "GPU-1 650W - 1",
                           "../../etc/passwd 650 - 1", "GPU/1 650 - 1", "GPU-1 650 - x"})
    EXPECT_FALSE(parse_former(line)) << line;
  EXPECT_FALSE(is_plain_uuid(std::string(97, 'a')));
}

TEST(FormerSetting, AFileKeepsItUntilItIsRemoved) {
  const TemporaryFolder folder;
  EXPECT_FALSE(read_former(folder.path(), "GPU-1"));
  write_former(folder.path(), {"GPU-1", 700, false, 1});
  write_former(folder.path(), kBoth);
  EXPECT_EQ(read_former(folder.path(), "GPU-1"), kBoth);
  EXPECT_FALSE(read_former(folder.path(), "GPU-2"));
  remove_former(folder.path(), "GPU-1");
  EXPECT_FALSE(read_former(folder.path(), "GPU-1"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  remove_former(folder.path(), "GPU-1");
}

TEST(FormerSetting, AFileOfAnEarlierBootIsNotUsed) {
  const TemporaryFolder folder;
  const auto file = former_file(folder.path(), "GPU-1");
  std::ofstream(file) << to_line(kBoth) << "\nanother boot\n";
  ::chmod(file.c_str(), 0600);
  EXPECT_FALSE(read_former(folder.path(), "GPU-1"));
  EXPECT_FALSE(std::filesystem::exists(file)) << "the driver has forgotten the limits since";
}

TEST(FormerSetting, AFileOthersMayHaveWrittenIsNotTrusted) {
  const TemporaryFolder folder;
  const auto file = former_file(folder.path(), "GPU-1");
  write_former(folder.path(), kBoth);
  ::chmod(file.c_str(), 0666);
  EXPECT_THROW(read_former(folder.path(), "GPU-1"), SystemError);
  std::filesystem::rename(file, folder.path() / "elsewhere");
  std::filesystem::create_symlink(folder.path() / "elsewhere", file);
  EXPECT_THROW(read_former(folder.path(), "GPU-1"), SystemError) << "a link is not followed";
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  EXPECT_THROW(read_former(folder.path(), "GPU-1"), SystemError);
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_THROW(read_former(folder.path(), "GPU-1"), SystemError) << "a pipe is not waited for";
}

TEST(FormerSetting, AFileOfAnotherGpuOrCutShortIsSaid) {
  const TemporaryFolder folder;
  const auto file = former_file(folder.path(), "GPU-2");
  write_former(folder.path(), kBoth);
  std::filesystem::rename(former_file(folder.path(), "GPU-1"), file);
  EXPECT_THROW(read_former(folder.path(), "GPU-2"), SystemError);
  std::filesystem::resize_file(file, 0);
  EXPECT_THROW(read_former(folder.path(), "GPU-2"), SystemError);
}

TEST(FormerSetting, IsPutBackAsFarAsPossible) {
  FakeNvml fake;
  std::string why;
  const auto nvml = Nvml::open(why, fake.lookup());
  ASSERT_TRUE(nvml) << why;
  fake.limit = {700'000, 300'000};
  fake.locked = {0, 1200};
  fake.failing = {"nvmlDeviceResetGpuLockedClocks"};
  EXPECT_NE(put_back(*nvml, kBoth), "");
  EXPECT_EQ(fake.limit[1], 650'125u) << "the limit comes back though the clock does not";
  fake.failing = {};
  EXPECT_EQ(put_back(*nvml, kBoth), "");
  EXPECT_EQ(fake.locked[1], 0u);
  fake.locked = {0, 1200};
  EXPECT_EQ(put_back(*nvml, {"GPU-1", 400, false, 1}), "");
  EXPECT_EQ(fake.locked[1], 1200u) << "a clock we did not lock is not ours to unlock";
  EXPECT_NE(put_back(*nvml, {"GPU-7", 400, false, 1}).find("GPU-7"), std::string::npos);
}

}  // namespace
}  // namespace tandem::platform
