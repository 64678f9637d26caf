#include "trainer/checkpoint.h"

#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "base/error.h"
#include "trainer/testing.h"

namespace tandem::trainer {
namespace {

namespace fs = std::filesystem;

Checkpoint at_epoch(std::int64_t epoch) {
  Checkpoint checkpoint;
  checkpoint.fingerprint = "a model on some data";
  for (std::int64_t i = 0; i < epoch; ++i)
    checkpoint.history.push_back({{"accuracy", 0.1 * static_cast<double>(i)}, {"loss", 1.0 / 3}});
  checkpoint.state = std::string("\0\1\2 weights", 11) + std::to_string(epoch);
  return checkpoint;
}

std::optional<Checkpoint> newest(const fs::path& folder, std::vector<std::string>* warnings = nullptr) {
  return newest_checkpoint(folder, [&](const std::string& warning) {
    if (warnings) warnings->push_back(warning);
  });
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Checkpoint, ComesBackAsItWasSaved) {
  EXPECT_EQ(decode(encode(at_epoch(3))), at_epoch(3));
}

TEST(Checkpoint, EveryFlippedBitAndEveryCutIsNoticed) {
  const std::string good = encode(at_epoch(2));
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    EXPECT_THROW(decode(bad), SystemError) << "byte " << at;
    EXPECT_THROW(decode(good.substr(0, at)), SystemError) << "cut at " << at;
  }
}

TEST(Checkpoint, AnEmptyOrAbsentFolderHasNone) {
  const TemporaryFolder folder;
  EXPECT_FALSE(newest(folder.path()));
  EXPECT_FALSE(newest(folder.path() / "absent"));
}

TEST(Checkpoint, TheNewestIsFoundAndTheLastOnesAreKept) {
  const TemporaryFolder folder;
  for (std::int64_t epoch = 1; epoch <= 12; ++epoch) save_checkpoint(folder.path(), at_epoch(epoch), 2);
  EXPECT_EQ(newest(folder.path()), at_epoch(12));
  EXPECT_EQ(names_in(folder.path()).size(), 2U);
}

TEST(Checkpoint, ATornNewestIsSkippedWithAWarningAndThePreviousUsed) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), at_epoch(1), 3);
  save_checkpoint(folder.path(), at_epoch(2), 3);
  save_checkpoint(folder.path(), at_epoch(3), 3);
  fs::resize_file(folder.path() / "checkpoint-00000003.tck", 20);
  std::ofstream(folder.path() / "checkpoint-00000002.tck") << "garbage";
  std::vector<std::string> warnings;
  EXPECT_EQ(newest(folder.path(), &warnings), at_epoch(1));
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_NE(warnings[0].find("checkpoint-00000003.tck"), std::string::npos);
}

TEST(Checkpoint, TornRemainsAheadDoNotPushGoodOnesOut) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), at_epoch(1), 2);
  std::ofstream(folder.path() / "checkpoint-00000003.tck") << "garbage";
  save_checkpoint(folder.path(), at_epoch(2), 2);
  EXPECT_TRUE(fs::exists(folder.path() / "checkpoint-00000001.tck"));
  EXPECT_EQ(newest(folder.path()), at_epoch(2));
}

TEST(Checkpoint, WhatAKilledAttemptLeftHalfWrittenIsRemovedAndOtherFilesAreNot) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "checkpoint-00000001.tck.AbCdEf") << "half";
  std::ofstream(folder.path() / "notes.txt") << "mine";
  save_checkpoint(folder.path(), at_epoch(1), 2);
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"checkpoint-00000001.tck", "notes.txt"}));
}

TEST(Checkpoint, AFullDiskIsSaidAndLeavesTheOlderOnes) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), at_epoch(1), 2);
  Checkpoint large = at_epoch(2);
  large.state.assign(1 << 20, 'x');
  // A file size limit stands in for the full disk: the same write fails in the same place.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 16, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(save_checkpoint(folder.path(), large, 2), SystemError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(newest(folder.path()), at_epoch(1));
  EXPECT_EQ(names_in(folder.path()).size(), 1U);
}

}  // namespace
}  // namespace tandem::trainer
