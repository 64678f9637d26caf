#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace tandem {
namespace {

TEST(Error, SystemErrorSaysWhatTheSystemSaid) {
  const SystemError full("writing /x/y", ENOSPC);
  EXPECT_STREQ(full.what(), "writing /x/y: No space left on device");
  EXPECT_EQ(full.error_number, ENOSPC);
  const SystemError plain("the store is corrupt");
  EXPECT_STREQ(plain.what(), "the store is corrupt");
  EXPECT_EQ(plain.error_number, 0);
}

TEST(Error, ThrowErrnoTakesTheCurrentOne) {
  errno = EACCES;
  try {
    throw_errno("opening /x");
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_EQ(error.error_number, EACCES);
    EXPECT_STREQ(error.what(), "opening /x: Permission denied");
  }
}

}  // namespace
}  // namespace tandem
