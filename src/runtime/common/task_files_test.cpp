#include "runtime/common/task_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "platform/temporary.h"

namespace tandem::runtime {
namespace {

TEST(TailOf, GivesTheLastLinesOfThisAttemptMadePrintable) {
  const platform::TemporaryFolder folder;
  const std::string file = (folder.path() / "output").string();
  std::ofstream(file) << "earlier attempt\n"
                      << "one\ntwo\x01\n";
  EXPECT_EQ(tail_of(file, 16), "one\ntwo\\u0001");
  EXPECT_EQ(tail_of(file, 24), "");
  EXPECT_EQ(tail_of(file, 1000), "earlier attempt\none\ntwo\\u0001") << "it was rotated since";
  EXPECT_EQ(tail_of("/no/such/file", 0), "");
  std::ofstream many(file);
  for (int i = 0; i < 1000; ++i) many << "line " << i << "\n";
  many.close();
  const auto tail = tail_of(file, 0);
  EXPECT_TRUE(tail.ends_with("line 999"));
  EXPECT_EQ(std::count(tail.begin(), tail.end(), '\n'), 11);
}

}  // namespace
}  // namespace tandem::runtime
