#include "adapter/followed.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

namespace tandem::adapter {
namespace {

class FollowedFiles : public testing::Test {
 protected:
  FollowedFiles() {
    std::string made = testing::TempDir() + "followed-XXXXXX";
    folder = ::mkdtemp(made.data());
    program.metrics_file = "log.csv";
  }
  ~FollowedFiles() override { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const std::string& text, std::ios::openmode mode = std::ios::app) {
    std::ofstream(folder / name, mode) << text;
  }
  Followed follow(const std::filesystem::path& path) {
    return {path, [this] { return metrics_reader(program, format_of(program)); }};
  }
  static std::vector<Metrics> now(Followed& followed) {
    while (followed.turn()) {
    }
    std::vector<Metrics> out;
    while (auto metrics = followed.take()) out.push_back(*metrics);
    return out;
  }

  std::filesystem::path folder;
  spec::Program program;
};

TEST_F(FollowedFiles, AreReadAsTheyGrow) {
  auto followed = follow(folder / "log.csv");
  EXPECT_TRUE(now(followed).empty());
  write("log.csv", "acc\n0.5\n0.");
  EXPECT_EQ(now(followed), (std::vector<Metrics>{{{"acc", 0.5}}}));
  write("log.csv", "75\n");
  EXPECT_EQ(now(followed), (std::vector<Metrics>{{{"acc", 0.75}}}));
}

TEST_F(FollowedFiles, WhatAnEarlierAttemptWroteIsNotCounted) {
  write("log.csv", "acc\n0.5\n");
  auto followed = follow(folder / "log.csv");
  EXPECT_TRUE(now(followed).empty());
  write("log.csv", "0.75\n");
  EXPECT_EQ(now(followed), (std::vector<Metrics>{{{"acc", 0.75}}})) << "it goes on in the same columns";
  write("log.csv", "acc\n0.1\n", std::ios::trunc);
  EXPECT_EQ(now(followed), (std::vector<Metrics>{{{"acc", 0.1}}})) << "written anew";
}

TEST_F(FollowedFiles, OnlyPlainFilesAreRead) {
  write("elsewhere.csv", "acc\n0.5\n");
  std::filesystem::create_symlink(folder / "elsewhere.csv", folder / "log.csv");
  auto link = follow(folder / "log.csv");
  write("elsewhere.csv", "0.6\n");
  EXPECT_TRUE(now(link).empty());
  ASSERT_EQ(::mkfifo((folder / "fifo.csv").c_str(), 0600), 0);
  auto fifo = follow(folder / "fifo.csv");
  EXPECT_TRUE(now(fifo).empty()) << "and nobody waits for its writer";
}

TEST_F(FollowedFiles, OfAFolderThoseOfTensorBoardAre) {
  program.metrics_file = "logs";
  std::filesystem::create_directory(folder / "logs");
  write("logs/other.txt", "x");
  auto followed = follow(folder / "logs");
  EXPECT_TRUE(now(followed).empty());
}

}  // namespace
}  // namespace tandem::adapter
