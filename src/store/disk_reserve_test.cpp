#include "store/disk_reserve.h"

#include <gtest/gtest.h>

#include "platform/temporary.h"

namespace tandem::store {
namespace {

TEST(DiskReserve, IsPutAsideOnceAndGivenUpOnce) {
  const platform::TemporaryFolder folder;
  const auto file = folder.path() / "reserve";
  if (std::filesystem::space(folder.path()).available < 8 * DiskReserve::kSize)
    GTEST_SKIP() << "no space for it here";
  DiskReserve reserve(folder.path());
  EXPECT_FALSE(reserve.use()) << "there is none yet";
  DiskReserve other(folder.path());
  other.keep();
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "this file system cannot put space aside";
  EXPECT_EQ(std::filesystem::file_size(file), static_cast<std::uintmax_t>(DiskReserve::kSize));
  EXPECT_TRUE(reserve.use());
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_FALSE(other.use());
}

}  // namespace
}  // namespace tandem::store
