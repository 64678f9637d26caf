#include "app/task_output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

std::string all(OutputReader& reader) {
  std::string out;
  for (auto part = reader.more(); !part.empty(); part = reader.more()) out += part;
  return out;
}

TEST(TaskOutput, TheTailReachesIntoWhatWasPutAside) {
  const platform::TemporaryFolder folder;
  EXPECT_EQ(output_tail(folder.path(), "task-0/output.log", 100), "");
  std::ofstream(folder.path() / "output.log.1") << "0123456789";
  std::ofstream(folder.path() / "output.log") << "abc";
  EXPECT_EQ(output_tail(folder.path(), "output.log", 100), "0123456789abc");
  EXPECT_EQ(output_tail(folder.path(), "output.log", 5), "89abc");
  EXPECT_EQ(output_tail(folder.path(), "output.log", 2), "bc");
}

TEST(TaskOutput, AReaderGoesOnInTheNextFile) {
  const platform::TemporaryFolder folder;
  const auto newest = folder.path() / "output.log", aside = folder.path() / "output.log.1";
  OutputReader reader(folder.path(), "output.log");
  EXPECT_EQ(all(reader), "");
  std::ofstream(aside) << "one\n";
  std::ofstream(newest) << "two\n";
  EXPECT_EQ(all(reader), "one\ntwo\n");
  std::ofstream(newest, std::ios::app) << "three\n";
  EXPECT_EQ(all(reader), "three\n");
  std::ofstream(newest, std::ios::app) << "four\n";
  std::filesystem::rename(newest, aside);
  std::ofstream(newest) << "five\n";
  EXPECT_EQ(all(reader), "four\nfive\n");
  EXPECT_EQ(all(reader), "");
}

TEST(TaskOutput, APipeInItsPlaceIsSaidAndNotWaitedFor) {
  const platform::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() / "output.log").c_str(), 0600), 0);
  EXPECT_THROW(output_tail(folder.path(), "output.log", 100), SystemError);
  OutputReader reader(folder.path(), "output.log");
  EXPECT_THROW(reader.more(), SystemError);
}

}  // namespace
}  // namespace tandem::app
