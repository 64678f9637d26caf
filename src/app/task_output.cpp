#include "app/task_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "platform/plain_file.h"

namespace tandem::app {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kPart = 1 << 16;

fs::path put_aside(fs::path below) {
  return below += ".1";
}

std::string tail_of_file(const platform::Descriptor& in, std::size_t most) {
  struct stat about {};
  if (!in || ::fstat(in.get(), &about) != 0) return "";
  const off_t from = std::max<off_t>(0, about.st_size - static_cast<off_t>(most));
  std::string bytes(static_cast<std::size_t>(about.st_size - from), '\0');
  const ssize_t got = ::pread(in.get(), bytes.data(), bytes.size(), from);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

}  // namespace

std::string output_tail(const fs::path& folder, const fs::path& below, std::size_t most) {
  const std::string newest = tail_of_file(platform::open_plain(folder, below, O_RDONLY), most);
  if (newest.size() >= most) return newest;
  const auto before = platform::open_plain(folder, put_aside(below), O_RDONLY);
  return tail_of_file(before, most - newest.size()) + newest;
}

bool OutputReader::open_next() {
  auto next = begun_ ? platform::Descriptor() : platform::open_plain(folder_, put_aside(below_), O_RDONLY);
  newest_ = !next;
  if (newest_) next = platform::open_plain(folder_, below_, O_RDONLY);
  if (!next) return false;
  begun_ = true;
  file_ = std::move(next);
  return true;
}

bool OutputReader::replaced() const {
  struct stat ours {}, there {};
  return ::fstat(file_.get(), &ours) == 0 && ::lstat((folder_ / below_).c_str(), &there) == 0 &&
         (ours.st_ino != there.st_ino || ours.st_dev != there.st_dev);
}

std::string OutputReader::more() {
  while (true) {
    if (!file_ && !open_next()) return "";
    const bool is_replaced = newest_ && replaced();  // asked before reading, so that its last words are not missed
    std::string part(kPart, '\0');
    ssize_t got;
    do got = ::read(file_.get(), part.data(), part.size());
    while (got < 0 && errno == EINTR);
    if (got < 0) throw_errno("reading " + (folder_ / below_).string());
    part.resize(static_cast<std::size_t>(got));
    if (got > 0) return part;
    if (newest_ && !is_replaced) return "";
    if (!open_next()) return "";
  }
}

}  // namespace tandem::app
