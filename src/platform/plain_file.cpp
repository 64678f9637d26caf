#include "platform/plain_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"

namespace tandem::platform {
namespace fs = std::filesystem;
namespace {

constexpr int kNeverWait = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr int kEnter = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kDeepest = 64;  // folders below each other that are copied
constexpr double kMiB = 1 << 20, kLeftFree = 16 * kMiB;  // on the disk that is copied to

[[noreturn]] void not_plain(const fs::path& file) {
  throw SystemError(file.string() + " is not a plain file (a program has put something else there)");
}

// `whole`: for messages.
Descriptor open_in(const Descriptor& at, const fs::path& whole, int flags) {
  Descriptor file(::openat(at.get(), whole.filename().c_str(), flags | kNeverWait, 0600));
  if (!file) {
    if (errno == ENOENT) return file;
    if (errno == ELOOP || errno == ENXIO || errno == EISDIR || errno == ENODEV) not_plain(whole);
    throw_errno("opening " + whole.string());
  }
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) throw_errno("looking at " + whole.string());
  if (!S_ISREG(about.st_mode)) not_plain(whole);
  return file;
}

bool has_one_name(const Descriptor& file) {
  struct stat about {};
  return ::fstat(file.get(), &about) == 0 && about.st_nlink == 1;
}

}  // namespace

Descriptor open_plain_folder(const fs::path& folder, const fs::path& below) {
  Descriptor at(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!at && errno != ENOENT) throw_errno("opening the folder " + folder.string());
  for (const auto& part : below) {
    if (!at) break;
    at.reset(::openat(at.get(), part.c_str(), kEnter));
    if (!at && (errno == ENOTDIR || errno == ELOOP))
      throw SystemError((folder / below).string() +
                        " is not a folder (a program has put something else there)");
    if (!at && errno != ENOENT) throw_errno("opening " + (folder / below).string());
  }
  return at;
}

Descriptor open_plain(const fs::path& folder, const fs::path& below, int flags) {
  const Descriptor at = open_plain_folder(folder, below.parent_path());
  if (!at) return {};
  return open_in(at, folder / below, flags);
}

Descriptor open_plain_log(const Descriptor& folder, const std::string& name) {
  constexpr int kAppend = O_WRONLY | O_APPEND | O_CREAT;
  try {
    auto file = open_in(folder, name, kAppend);
    if (has_one_name(file)) return file;
  } catch (const SystemError& error) {  // replaced below, unless it is the disk's fault
    if (error.error_number != 0) throw;
  }
  if (::unlinkat(folder.get(), name.c_str(), 0) != 0) not_plain(name);
  return open_in(folder, name, kAppend | O_EXCL);
}

std::optional<std::string> read_plain(const fs::path& file, std::size_t most) {
  const auto in = open_plain(file.parent_path(), file.filename(), O_RDONLY);
  if (!in) return std::nullopt;
  std::string out;
  std::array<char, 1 << 16> bytes;
  while (true) {
    const ssize_t got = ::read(in.get(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("reading " + file.string());
    if (got == 0) return out;
    out.append(bytes.data(), static_cast<std::size_t>(got));
    if (out.size() > most) return std::nullopt;
  }
}

namespace {

struct TreeCopy {
  const fs::path& from;  // for messages

  void file(int source, int target, const char* name) const {
    Descriptor in(::openat(source, name, O_RDONLY | kNeverWait));
    struct stat about {};
    if (!in || ::fstat(in.get(), &about) != 0 || !S_ISREG(about.st_mode)) return;  // it was swapped just now
    Descriptor out(::openat(target, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                            about.st_mode & 0700u));
    if (!out) throw_errno("copying " + (from / name).string());
    try {
      require_room(out.get(), about, name);
      contents(in.get(), out.get(), about.st_size, name);
    } catch (const SystemError&) {
      ::unlinkat(target, name, 0);  // half a file is of no use
      throw;
    }
  }

  // Only what holds data, so that holes stay holes; of one that still grows, what was there.
  void contents(int in, int out, off_t size, const char* name) const {
    for (off_t at = 0; at < size;) {
      off_t data = ::lseek(in, at, SEEK_DATA), end = size;
      if (data < 0 && errno == ENXIO) break;  // nothing but a hole is left
      if (data < 0) data = at;                // a file system that cannot tell
      if (const off_t hole = ::lseek(in, data, SEEK_HOLE); hole > data) end = std::min(hole, size);
      if (!range(in, out, data, end, name)) break;
      at = end;
    }
    if (::ftruncate(out, size) != 0) throw_errno("copying " + (from / name).string());
  }

  // False: the file ended before.
  bool range(int in, int out, off_t at, off_t end, const char* name) const {
    while (at < end) {
      off_t to = at;
      const ssize_t done = ::copy_file_range(in, &at, out, &to, static_cast<std::size_t>(end - at), 0);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP))
        return by_hand(in, out, at, end, name);
      if (done < 0) throw_errno("copying " + (from / name).string());
      if (done == 0) return false;
    }
    return true;
  }

  bool by_hand(int in, int out, off_t at, off_t end, const char* name) const {
    std::array<char, 1 << 16> bytes;
    while (at < end) {
      const auto most = static_cast<std::size_t>(std::min<off_t>(bytes.size(), end - at));
      const ssize_t got = ::pread(in, bytes.data(), most, at);
      if (got == 0) return false;
      if (got < 0 || ::pwrite(out, bytes.data(), static_cast<std::size_t>(got), at) != got)
        throw_errno("copying " + (from / name).string());
      at += got;
    }
    return true;
  }

  void require_room(int out, const struct stat& about, const char* name) const {
    struct statvfs disk {};
    if (::fstatvfs(out, &disk) != 0) return;
    const double wanted = 512.0 * static_cast<double>(about.st_blocks),
                 free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
    if (wanted + kLeftFree > free)
      throw SystemError(fmt::format("copying {}: it takes {:.0f} MiB, and {:.0f} MiB are free, of which {:.0f} stay free",
                                    (from / name).string(), wanted / kMiB, free / kMiB, kLeftFree / kMiB),
                        ENOSPC);
  }

  void link(int source, int target, const char* name) const {
    std::array<char, PATH_MAX> to{};
    if (::readlinkat(source, name, to.data(), to.size() - 1) > 0 &&
        ::symlinkat(to.data(), target, name) != 0)
      throw_errno("copying " + (from / name).string());
  }

  void folder(int source, int target, int depth, const std::function<bool(const std::string&)>& wanted) const {
    const int again = ::openat(source, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(again < 0 ? nullptr : ::fdopendir(again), &::closedir);
    if (!entries) throw_errno("listing " + from.string());
    while (const dirent* entry = ::readdir(entries.get())) {
      const char* name = entry->d_name;
      if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0 || (wanted && !wanted(name))) continue;
      struct stat about {};
      if (::fstatat(source, name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;  // gone meanwhile
      if (S_ISREG(about.st_mode)) file(source, target, name);
      if (S_ISLNK(about.st_mode)) link(source, target, name);
      if (S_ISDIR(about.st_mode)) inner(source, target, name, depth);
    }
  }

  void inner(int source, int target, const char* name, int depth) const {
    if (depth >= kDeepest) throw SystemError(from.string() + " has folders too deep inside each other to copy");
    const Descriptor in(::openat(source, name, kEnter));
    if (!in) return;
    if (::mkdirat(target, name, 0700) != 0) throw_errno("copying " + (from / name).string());
    const Descriptor out(::openat(target, name, kEnter));
    if (!out) throw_errno("copying " + (from / name).string());
    folder(in.get(), out.get(), depth + 1, {});
  }
};

}  // namespace

void copy_plain_tree(const fs::path& from, const fs::path& to,
                     const std::function<bool(const std::string& name)>& wanted) {
  const Descriptor source(::open(from.c_str(), kEnter));
  if (!source) throw_errno("opening the folder " + from.string());
  if (::mkdir(to.c_str(), 0700) != 0 && errno != EEXIST) throw_errno("making " + to.string());
  const Descriptor target(::open(to.c_str(), kEnter));
  if (!target) throw_errno("opening the folder " + to.string());
  TreeCopy{from}.folder(source.get(), target.get(), 0, wanted);
}

}  // namespace tandem::platform
