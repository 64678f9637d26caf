#include "platform/gpu_settings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "platform/fake_nvml.h"
#include "platform/temporary.h"

namespace tandem::platform {
namespace {

// The lock lies where others may write. What they put in its place is left alone, and said.
TEST(GpuSettings, ALockThatIsNotOursIsRefusedAndLeftAsItIs) {
  const TemporaryFolder folder;
  FakeNvml fake;
  std::string why;
  const auto nvml = Nvml::open(why, fake.lookup());
  ASSERT_TRUE(nvml) << why;
  GpuSettings settings(*nvml, {.folder = folder.path()});
  const auto lock = lock_file(folder.path(), nvml->gpus().at(0).uuid);
  const auto precious = folder.path() / "precious";
  std::ofstream(precious) << "precious";

  std::filesystem::create_hard_link(precious, lock);
  why = settings.apply(0, {.watts = 400});
  EXPECT_NE(why.find("another name"), std::string::npos) << why;
  EXPECT_EQ(std::filesystem::file_size(precious), 8u);
  std::filesystem::remove(lock);
  std::filesystem::create_symlink(precious, lock);
  EXPECT_NE(settings.apply(0, {.watts = 400}).find("not a plain file"), std::string::npos);
  std::filesystem::remove(lock);
  EXPECT_EQ(settings.try_power_limit(0), "") << "ours is made";

  ::chmod(folder.path().c_str(), 0777);
  why = settings.try_power_limit(0);
  EXPECT_NE(why.find("chmod go-w"), std::string::npos) << "others could take our lock away: " << why;
  ::chmod(folder.path().c_str(), 01777);
  EXPECT_EQ(settings.try_power_limit(0), "") << "sticky, like /run/lock";
}

}  // namespace
}  // namespace tandem::platform
