// Reading whole files (plain, gzip or LZ4) and writing one atomically.
//
// Decoders take bytes, so that tests and fuzzers need no files. Memory grows with what was really decoded,
// never with what a header claims, and never past `most`. `where` names the input in messages. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::data {

using Buffer = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

inline constexpr std::size_t kMostDecoded = std::size_t{1} << 30;

// The file as it lies on disk. UserError when it is absent or no file, SystemError when reading fails.
Buffer read_file(const std::filesystem::path&);

// Same, decoded when the bytes open as gzip or LZ4, whatever the name says.
Buffer read_decoded(const std::filesystem::path&, std::size_t most = kMostDecoded);

bool is_gzip(ByteSpan);
Buffer gunzip(ByteSpan, const std::string& where, std::size_t most = kMostDecoded);

// The LZ4 frame format, as apt keeps its lists. Checksums are skipped over: apt has verified the lists
// already.
bool is_lz4(ByteSpan);
Buffer unlz4(ByteSpan, const std::string& where, std::size_t most = kMostDecoded);

// The first of `names`, each plain or with ".gz", that is in `folder`; empty when none is.
std::filesystem::path find_plain_or_gzip(const std::filesystem::path& folder,
                                         const std::vector<std::string>& names);

// Sorted, so that everything made from a folder is the same on every machine. Empty when the folder is
// absent.
std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& folder);

// Readers see the old file or the whole new one: written beside, fsynced, renamed. Makes the folder.
void write_atomically(const std::filesystem::path&, std::string_view content);

// Holds an exclusive lock on a file, made if need be, against other processes and threads; waits for it.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path&);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  int fd_;
};

inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace tandem::data
