#include "runtime/common/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "base/error.h"
#include "platform/plain_file.h"

namespace tandem::runtime {
namespace {

constexpr const char* kAlive = "alive";  // when it was changed is what it says

}  // namespace

RunFolder::RunFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
  if (struct statvfs disk {}; ::statvfs(folder_.c_str(), &disk) == 0) {
    const auto size = static_cast<double>(disk.f_blocks) * static_cast<double>(disk.f_frsize);
    low_ = static_cast<Bytes>(std::min(static_cast<double>(low_), size / 16));
    enough_ = static_cast<Bytes>(std::min(static_cast<double>(enough_), size / 4));
  }
  const auto at = platform::open_plain_folder(folder_, "");
  struct stat about {};
  if (::fstatat(at.get(), kAlive, &about, AT_SYMLINK_NOFOLLOW) == 0)
    seen_before_ = Seconds{static_cast<double>(about.st_mtim.tv_sec) +
                           static_cast<double>(about.st_mtim.tv_nsec) * 1e-9};
  try {
    alive_ = platform::open_plain_log(at, kAlive);
  } catch (const SystemError&) {  // a read-only or full disk: then nobody will know
  }
  beat();
}

std::optional<Seconds> RunFolder::ran(Seconds began) const {
  if (!seen_before_) return std::nullopt;
  return std::max(Seconds{}, *seen_before_ - began);
}

void RunFolder::beat() {
  if (alive_) ::futimens(alive_.get(), nullptr);
}

bool RunFolder::full(Seconds now) {
  if (now >= next_beat_) {
    next_beat_ = now + kBeatEvery;
    beat();
  }
  if (now < next_look_) return full_;
  next_look_ = now + kLookEvery;
  struct statvfs disk {};
  if (::statvfs(folder_.c_str(), &disk) != 0) return full_;
  const double left = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  full_ = left < static_cast<double>(full_ ? enough_ : low_);
  return full_;
}

void RunFolder::is_full(Seconds now) {
  full_ = true;
  next_look_ = now + kLookEvery;
}

std::string RunFolder::why() const {
  return fmt::format("less than {} were left on the disk of {}; jobs start again once {} are free",
                     text_bytes(low_), folder_.string(), text_bytes(enough_));
}

}  // namespace tandem::runtime
