#include "app/machine_share.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "platform/temporary.h"

namespace tandem::app {
namespace {

TEST(MachineShare, TakesTheMachineOrSaysWhoHasItAndNeverWaits) {
  const platform::TemporaryFolder folder;
  const char* had = ::getenv("TANDEM_RUNTIME_DIR");
  const std::string former = had ? had : "";
  ::setenv("TANDEM_RUNTIME_DIR", folder.path().c_str(), 1);
  {
    const auto first = share_machine("tandem infer");
    EXPECT_TRUE(first.lock);
    EXPECT_EQ(first.beside, "");
    const auto second = share_machine("tandem advise");
    EXPECT_FALSE(second.lock);
    EXPECT_NE(second.beside.find("tandem infer"), std::string::npos) << second.beside;
  }
  EXPECT_TRUE(share_machine("tandem advise").lock) << "it was let go";
  had ? ::setenv("TANDEM_RUNTIME_DIR", former.c_str(), 1) : ::unsetenv("TANDEM_RUNTIME_DIR");
}

}  // namespace
}  // namespace tandem::app
