#include "app/installation.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "platform/temporary.h"

namespace tandem::app {
namespace {

// PATH, as it was afterwards.
class Installation : public testing::Test {
 protected:
  ~Installation() override { ::setenv("PATH", former_.c_str(), 1); }
  platform::TemporaryFolder folder_{"tandem-installation"};

 private:
  std::string former_ = ::getenv("PATH") ? ::getenv("PATH") : "";
};

TEST_F(Installation, IsCalledByItsNameOnlyWherePathFindsThisVeryBinary) {
  const auto link = folder_.path() / "tandem";
  ::setenv("PATH", ("/nowhere::" + folder_.path().string()).c_str(), 1);
  std::filesystem::create_symlink("/bin/true", link);
  EXPECT_NE(own_command(), "tandem") << "another Tandem is first";
  EXPECT_EQ(std::filesystem::path(own_command()).filename(), "tandem");
  std::filesystem::remove(link);
  std::filesystem::create_symlink(std::filesystem::read_symlink("/proc/self/exe"), link);
  EXPECT_EQ(own_command(), "tandem");
}

TEST_F(Installation, ProgramsAreLookedForInPathWhereNoneIsBesideThisBinary) {
  for (const auto& program : {trainer_program(), guardian_program()})
    EXPECT_TRUE(program.is_absolute() ? std::filesystem::exists(program) : !program.has_parent_path()) << program;
  EXPECT_TRUE(std::filesystem::is_directory(own_folder()));
}

}  // namespace
}  // namespace tandem::app
