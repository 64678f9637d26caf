#include "data/files.h"

#include "data/scratch_for_test.h"

namespace tandem::data {
namespace {

std::string text_of(const Buffer& bytes) {
  return std::string(as_text(bytes));
}

std::string unzipped(const std::string& packed, std::size_t most = kMostDecoded) {
  return text_of(gunzip(bytes_of(packed), "x.gz", most));
}

TEST(Gunzip, GivesBackWhatWasPacked) {
  std::string long_text;
  for (int i = 0; i < 400000; ++i) long_text += std::to_string(i);
  EXPECT_EQ(unzipped(gzip(long_text)), long_text);
  EXPECT_EQ(unzipped(gzip("")), "");
  EXPECT_EQ(unzipped(gzip("one") + gzip("two")), "onetwo");
}

TEST(Gunzip, RefusesEveryTruncation) {
  const std::string packed = gzip("some text that is packed and then cut");
  for (std::size_t size = 0; size < packed.size(); ++size) {
    EXPECT_MENTIONS(complaint([&] { unzipped(packed.substr(0, size)); }), "x.gz");
  }
}

TEST(Gunzip, RefusesFlippedBitsTrailingGarbageAndBombs) {
  std::string packed = gzip("some text");
  EXPECT_MENTIONS(complaint([&] { unzipped(packed + "junk"); }), "4 bytes of something else");
  packed[packed.size() - 6] ^= 1;  // in the checksum
  EXPECT_MENTIONS(complaint([&] { unzipped(packed); }), "corrupt gzip");
  EXPECT_MENTIONS(complaint([&] { unzipped(gzip(std::string(1 << 22, 'a')), 1 << 20); }),
                  "more than 1048576");
}

// A frame as apt writes it: version 1, linked blocks, no checksums.
std::string frame(const std::string& blocks) {
  return std::string("\x04\x22\x4d\x18\x40\x40\x00", 7) + blocks + std::string(4, '\0');
}

std::string block(const std::string& body) {
  return std::string(1, static_cast<char>(body.size())) + std::string(3, '\0') + body;
}

TEST(Lz4, DecodesLiteralsOverlappingMatchesAndStoredBlocks) {
  // 'ab', then a match 2 back of 4+4 bytes, then the closing literal 'z'.
  const std::string packed = block(std::string("\x24", 1) + "ab" + std::string("\x02\x00", 2) + "\x10" + "z");
  const std::string stored = std::string("\x03\x00\x00\x80", 4) + "xyz";
  EXPECT_EQ(text_of(unlz4(bytes_of(frame(packed + stored)), "x")),
            "ababababab"
            "z"
            "xyz");
}

TEST(Lz4, MatchesMayReachIntoTheBlockBefore) {
  const std::string first = block(std::string("\x40", 1) + "abcd");
  const std::string second = block(std::string("\x00\x04\x00\x00", 4));
  EXPECT_EQ(text_of(unlz4(bytes_of(frame(first + second)), "x")), "abcdabcd");
}

TEST(Lz4, RefusesWhatIsBroken) {
  const auto refusal = [](const std::string& bytes, std::size_t most = kMostDecoded) {
    return complaint([&] { unlz4(bytes_of(bytes), "list.lz4", most); });
  };
  EXPECT_MENTIONS(refusal("nonsense"), "not an LZ4 frame");
  EXPECT_MENTIONS(refusal(frame(block(std::string("\x10z\x05\x00\x00", 5)))), "points before the start");
  EXPECT_MENTIONS(refusal(frame(block(std::string("\xf0", 1)))), "ends early");
  // 'a' and a match of 15+255+5+4 bytes: a little input that grows.
  const std::string grows =
      block(std::string("\x1f"
                        "a\x01\x00\xff\x05\x00",
                        7));
  EXPECT_MENTIONS(refusal(frame(grows), 100), "more than can be a dataset");
  const std::string whole = frame(block(std::string("\x40", 1) + "abcd"));
  for (std::size_t size = 1; size < whole.size(); ++size)
    EXPECT_MENTIONS(refusal(whole.substr(0, size)), "byte");
}

TEST(ReadFile, SaysWhatIsNotThere) {
  const Scratch scratch;
  EXPECT_MENTIONS(complaint([&] { read_file(scratch.path() / "absent"); }), "absent: no such file");
  EXPECT_MENTIONS(complaint([&] { read_file(scratch.path()); }), "not a regular file");
  const auto lying = scratch.write("a.gz", "plain");
  EXPECT_MENTIONS(complaint([&] { read_decoded(lying); }), "does not open as gz");
  EXPECT_EQ(text_of(read_decoded(scratch.write("b", gzip("hidden")))), "hidden");
}

TEST(WriteAtomically, ReplacesAndLeavesNothingBeside) {
  const Scratch scratch;
  const auto file = scratch.path() / "deep" / "file";
  write_atomically(file, "one");
  write_atomically(file, "two");
  EXPECT_EQ(text_of(read_file(file)), "two");
  EXPECT_EQ(sorted_entries(scratch.path() / "deep").size(), 1u);
}

TEST(WriteAtomically, FailureKeepsTheOldAndCleansUp) {
  const Scratch scratch;
  scratch.write("taken/inside", "a folder cannot be replaced by a file");
  EXPECT_THROW(write_atomically(scratch.path() / "taken", "x"), SystemError);
  EXPECT_EQ(sorted_entries(scratch.path()).size(), 1u);
}

TEST(SortedEntries, AbsentFolderHasNone) {
  const Scratch scratch;
  EXPECT_TRUE(sorted_entries(scratch.path() / "absent").empty());
}

}  // namespace
}  // namespace tandem::data
