#include "data/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "base/error.h"

namespace tandem::data {
namespace {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor(int fd, const std::string& doing) : fd_(fd) {
    if (fd < 0) throw_errno(doing);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(fd_); }
  int get() const { return fd_; }

 private:
  int fd_;
};

// Removes a half-written file unless it was kept.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!kept_) unlink(path_.c_str());
  }
  void keep() { kept_ = true; }

 private:
  std::string path_;
  bool kept_ = false;
};

void write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_errno("writing " + path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw SystemError("making the folder " + folder.string(), error.value());
}

// Owns a zlib inflater set to the gzip format.
struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw SystemError("zlib could not start");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }
};

}  // namespace

Buffer read_file(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) throw UserError(fmt::format("{}: no such file", path.string()));
  const Descriptor file(fd, "opening " + path.string());
  struct stat status {};
  if (fstat(file.get(), &status) != 0) throw_errno("looking at " + path.string());
  if (!S_ISREG(status.st_mode)) throw UserError(fmt::format("{}: not a regular file", path.string()));
  Buffer bytes(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("reading " + path.string());
    if (got == 0) break;  // it shrank under us; the parser will say what is missing
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

Buffer read_decoded(const std::filesystem::path& path, std::size_t most) {
  Buffer bytes = read_file(path);
  if (is_gzip(bytes)) return gunzip(bytes, path.string(), most);
  if (is_lz4(bytes)) return unlz4(bytes, path.string(), most);
  if (path.extension() == ".gz" || path.extension() == ".lz4") {
    throw UserError(fmt::format("{}: does not open as {} although its name says so; fetch it again",
                                path.string(), path.extension().string().substr(1)));
  }
  return bytes;
}

bool is_gzip(ByteSpan bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

Buffer gunzip(ByteSpan input, const std::string& where, std::size_t most) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  Inflater inflater;
  z_stream& stream = inflater.stream;
  const std::size_t first = std::clamp(input.size() * 4, std::size_t{4096}, kChunk);
  Buffer output;
  std::size_t used = 0;
  std::size_t made = 0;
  while (true) {
    if (made == output.size()) output.resize(std::max(first, output.size() * 2));
    const std::size_t offered = std::min(input.size() - used, kChunk);
    const std::size_t room = std::min(output.size() - made, std::size_t{1} << 30);
    stream.next_in = const_cast<Bytef*>(input.data() + used);
    stream.avail_in = static_cast<uInt>(offered);
    stream.next_out = output.data() + made;
    stream.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream, Z_NO_FLUSH);
    used += offered - stream.avail_in;
    made += room - stream.avail_out;
    if (made > most) {
      throw UserError(
          fmt::format("{}: unpacks to more than {} bytes, too much to be a dataset", where, most));
    }
    if (result == Z_STREAM_END) {
      if (used == input.size()) break;
      if (!is_gzip(input.subspan(used))) {
        throw UserError(fmt::format("{}: {} bytes of something else follow the gzip data at byte {}", where,
                                    input.size() - used, used));
      }
      inflateReset(&stream);
      continue;
    }
    if (result == Z_MEM_ERROR) throw SystemError("out of memory unpacking " + where);
    const bool starved = used == input.size() && made < output.size();
    if (starved && (result == Z_OK || result == Z_BUF_ERROR)) {
      throw UserError(
          fmt::format("{}: the gzip data ends early, after {} bytes; fetch it again", where, used));
    }
    if (result != Z_OK && result != Z_BUF_ERROR) {
      throw UserError(fmt::format("{}: corrupt gzip data near byte {} ({}); fetch it again", where, used,
                                  stream.msg ? stream.msg : "bad data"));
    }
  }
  output.resize(made);
  return output;
}

std::filesystem::path find_plain_or_gzip(const std::filesystem::path& folder,
                                         const std::vector<std::string>& names) {
  std::error_code ignored;  // unreadable counts as absent; reading it would say why
  for (const auto& name : names) {
    for (const auto* ending : {"", ".gz"}) {
      auto path = folder / (name + ending);
      if (std::filesystem::is_regular_file(path, ignored)) return path;
    }
  }
  return {};
}

std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) return entries;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    entries.push_back(entry->path());
  }
  if (error) throw SystemError("listing " + folder.string(), error.value());
  std::sort(entries.begin(), entries.end());
  return entries;
}

void write_atomically(const std::filesystem::path& path, std::string_view content) {
  const auto folder = path.parent_path();
  make_folder(folder);
  std::string beside = path.string() + ".XXXXXX";
  {
    const Descriptor file(mkostemp(beside.data(), O_CLOEXEC), "making a file in " + folder.string());
    TemporaryFile temporary(beside);
    write_all(file.get(), content, beside);
    if (fchmod(file.get(), 0644) != 0 || fsync(file.get()) != 0) throw_errno("writing " + beside);
    if (rename(beside.c_str(), path.c_str()) != 0) throw_errno("renaming " + beside);
    temporary.keep();
  }
  const Descriptor directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                             "opening " + folder.string());
  if (fsync(directory.get()) != 0) throw_errno("syncing " + folder.string());
}

FileLock::FileLock(const std::filesystem::path& path) {
  make_folder(path.parent_path());
  fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) throw_errno("opening " + path.string());
  while (flock(fd_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    close(fd_);
    throw SystemError("locking " + path.string(), error);
  }
}

FileLock::~FileLock() {
  close(fd_);  // lets the lock go
}

}  // namespace tandem::data
