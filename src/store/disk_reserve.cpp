#include "store/disk_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "platform/descriptor.h"

namespace tandem::store {
namespace {

constexpr std::chrono::seconds kLookEvery{5};

}  // namespace

void DiskReserve::keep() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  next_look_ = now + kLookEvery;
  struct stat about {};
  struct statvfs disk {};
  if (::lstat(file_.c_str(), &about) == 0 && about.st_size == kSize) return;
  if (::statvfs(file_.parent_path().c_str(), &disk) != 0 ||
      static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) < 4.0 * kSize)
    return;
  const platform::Descriptor file(
      ::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (file && ::fallocate(file.get(), 0, 0, kSize) != 0) ::unlink(file_.c_str());
}

bool DiskReserve::use() {
  next_look_ = std::chrono::steady_clock::now() + kLookEvery;
  return ::unlink(file_.c_str()) == 0;
}

}  // namespace tandem::store
