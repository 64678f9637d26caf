#include "platform/trusted_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"

namespace tandem::platform {
namespace fs = std::filesystem;
namespace {

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
// O_PATH: a folder that may be entered and written need not be readable.
constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::string mode_text(const struct stat& info) {
  return fmt::format("mode {:04o}", info.st_mode & 07777u);
}

// "" or why this is no file of ours alone.
std::string why_not_ours(const struct stat& info) {
  if (!S_ISREG(info.st_mode)) return "is not a plain file";
  if (info.st_uid != ::geteuid()) return fmt::format("belongs to user {}", info.st_uid);
  if ((info.st_mode & kOthersWrite) != 0) return "may be written by others (" + mode_text(info) + ")";
  if (info.st_nlink > 1) return "has another name elsewhere";
  return "";
}

}  // namespace

TrustedFolder::TrustedFolder(fs::path path, std::string advice, Descriptor descriptor, Sharing sharing)
    : path_(std::move(path)), advice_(std::move(advice)), descriptor_(std::move(descriptor)) {
  if (!descriptor_) {
    if (errno == ENOTDIR || errno == ELOOP) refuse(path_, "is a link or a file, not a folder");
    throw_errno("opening the folder " + path_.string());
  }
  check(sharing);
}

void TrustedFolder::refuse(const fs::path& what, const std::string& why) const {
  throw UserError(fmt::format("{} {}, so it cannot be trusted; {}", what.string(), why, advice_));
}

void TrustedFolder::check(Sharing sharing) const {
  struct stat info {};
  if (::fstat(descriptor_.get(), &info) != 0) throw_errno("looking at " + path_.string());
  const bool shared = sharing == Sharing::sticky;
  if (info.st_uid != ::geteuid() && !(shared && info.st_uid == 0))
    refuse(path_, fmt::format("belongs to user {}", info.st_uid));
  if ((info.st_mode & kOthersWrite) != 0 && !(shared && (info.st_mode & S_ISVTX) != 0))
    refuse(path_, fmt::format("may be written by others ({}; if it is yours, run: chmod go-w {})",
                              mode_text(info), path_.string()));
}

TrustedFolder TrustedFolder::open(const fs::path& path, Sharing sharing, std::string advice) {
  ::mkdir(path.c_str(), 0700);  // a failure shows in the next line
  Descriptor descriptor(::open(path.c_str(), kFolderFlags));
  return {path, std::move(advice), std::move(descriptor), sharing};
}

TrustedFolder TrustedFolder::inside(const std::string& name) const {
  ::mkdirat(descriptor_.get(), name.c_str(), 0700);
  Descriptor descriptor(::openat(descriptor_.get(), name.c_str(), kFolderFlags));
  return {path_ / name, advice_, std::move(descriptor), Sharing::exclusive};
}

Descriptor TrustedFolder::open_file(const std::string& name, int flags) const {
  // O_NONBLOCK: a pipe in its place must not make us wait.
  Descriptor file(::openat(descriptor_.get(), name.c_str(),
                           flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  if (!file) {
    if (errno == ENOENT) return file;
    if (errno == ELOOP || errno == EISDIR || errno == ENXIO) refuse(path_ / name, "is not a plain file");
    if (errno == EACCES) refuse(path_ / name, "may not be opened by you");
    throw_errno("opening " + (path_ / name).string());
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw_errno("looking at " + (path_ / name).string());
  if (const auto why = why_not_ours(info); !why.empty()) refuse(path_ / name, why);
  return file;
}

std::vector<std::string> TrustedFolder::names() const {
  const int again = ::openat(descriptor_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(again < 0 ? nullptr : ::fdopendir(again), &::closedir);
  if (!entries) throw_errno("listing " + path_.string());
  std::vector<std::string> out;
  while (const dirent* entry = ::readdir(entries.get()))
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      out.emplace_back(entry->d_name);
  return out;
}

void TrustedFolder::remove(const std::string& name) const {
  if (::unlinkat(descriptor_.get(), name.c_str(), 0) != 0 && errno != ENOENT)
    throw_errno("removing " + (path_ / name).string());
}

std::optional<fs::path> own_runtime_folder() {
  const char* named = std::getenv("XDG_RUNTIME_DIR");
  if (!named || !*named) return std::nullopt;
  struct stat info {};
  if (::stat(named, &info) != 0 || !S_ISDIR(info.st_mode)) return std::nullopt;
  if (info.st_uid != ::geteuid() || (info.st_mode & kOthersWrite) != 0) return std::nullopt;
  std::error_code error;
  const auto real = fs::canonical(named, error);
  return error ? std::nullopt : std::optional(real);
}

}  // namespace tandem::platform
