#include "runtime/common/output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "platform/temporary.h"

namespace tandem::runtime {
namespace {

class OutputTest : public testing::Test {
 protected:
  std::string read(const std::string& name) const {
    std::ifstream in(folder_.path() / name);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  static void print(const platform::Descriptor& to, std::string_view text) {
    while (!text.empty()) {
      const ssize_t done = ::write(to.get(), text.data(), text.size());
      ASSERT_GT(done, 0);
      text.remove_prefix(static_cast<std::size_t>(done));
    }
  }

  platform::TemporaryFolder folder_;
};

TEST_F(OutputTest, WhatIsPrintedIsInTheFileWhenTheTaskHasEnded) {
  Outputs outputs;
  auto pipe = outputs.begin(3, folder_.path(), "output.log", 1 << 20);
  print(pipe, "one\ntwo\x01\n");
  outputs.note(3, "a note");
  print(pipe, "three\n");
  EXPECT_EQ(outputs.end(3), "one\ntwo\\u0001\nthree");
  const auto text = read("output.log");
  EXPECT_NE(text.find("[tandem] task 3: a note\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("three\n"));
  EXPECT_EQ(outputs.end(3), "") << "it has ended";
}

TEST_F(OutputTest, TasksShareAFileAndLaterOnesGoOnInIt) {
  Outputs outputs;
  auto first = outputs.begin(0, folder_.path(), "output.log", 1 << 20);
  auto second = outputs.begin(1, folder_.path(), "output.log", 1 << 20);
  print(first, "first\n");
  EXPECT_EQ(outputs.end(0), "first");
  print(second, "second\n");
  EXPECT_EQ(outputs.end(1), "second") << "of its own lines alone";
  auto third = outputs.begin(2, folder_.path(), "output.log", 1 << 20);
  print(third, "third\n");
  outputs.end(2);
  EXPECT_EQ(read("output.log"), "first\nsecond\nthird\n");
}

TEST_F(OutputTest, TheNewestIsKeptAndWhatIsNotIsSaid) {
  Outputs outputs;
  auto pipe = outputs.begin(0, folder_.path(), "output.log", 64 * 1024);
  std::string line(1023, 'x');
  line += '\n';
  for (int i = 0; i < 1000; ++i) print(pipe, line);
  print(pipe, "last\n");
  EXPECT_TRUE(outputs.end(0).ends_with("last"));
  EXPECT_LE(read("output.log").size() + read("output.log.1").size(), 64u * 1024 + 300);
  EXPECT_GE(read("output.log.1").size(), 31u * 1024);
  EXPECT_TRUE(read("output.log").starts_with("[tandem] ")) << read("output.log").substr(0, 100);
  EXPECT_NE(read("output.log").find("were not kept (limits.output is 64 KiB)\n"), std::string::npos);
  EXPECT_TRUE(read("output.log").ends_with("last\n"));
}

TEST_F(OutputTest, AFileThatWasReplacedIsLeftAloneAndAnotherBegun) {
  Outputs outputs;
  auto pipe = outputs.begin(0, folder_.path(), "output.log", 64 * 1024);
  print(pipe, "before\n");
  while (read("output.log") != "before\n") ::usleep(1000);
  std::filesystem::remove(folder_.path() / "output.log");
  ASSERT_EQ(::mkfifo((folder_.path() / "output.log").c_str(), 0600), 0);
  print(pipe, std::string(50 * 1024, 'y') + "\n");
  print(pipe, "after\n");
  EXPECT_TRUE(outputs.end(0).ends_with("after"));
  EXPECT_TRUE(std::filesystem::is_regular_file(folder_.path() / "output.log"));
  EXPECT_TRUE(read("output.log").ends_with("after\n"));
}

TEST_F(OutputTest, AProgramThatStillPrintsDoesNotKeepItsEndWaiting) {
  Outputs outputs;
  const auto pipe = outputs.begin(0, folder_.path(), "output.log", 1 << 20);
  print(pipe, "still here");
  EXPECT_EQ(outputs.end(0), "still here");
}

}  // namespace
}  // namespace tandem::runtime
