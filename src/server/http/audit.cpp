#include "server/http/audit.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace tandem::server {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

std::string now_text() {
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)), ms);
}

}  // namespace

Audit::Audit(fs::path file, std::function<void(const std::string&)> trouble, std::size_t most)
    : file_(std::move(file)), trouble_(std::move(trouble)), most_(most) {
  open();
}

void Audit::open() {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  out_.reset(::open(file_.c_str(), kFlags, 0600));
  struct stat about {};
  if (!out_) throw_errno("opening the audit log " + file_.string());
  if (::fstat(out_.get(), &about) != 0) throw_errno("looking at " + file_.string());
  if (!S_ISREG(about.st_mode) || about.st_uid != ::geteuid() || (about.st_mode & 077) != 0)
    throw UserError("the audit log " + file_.string() +
                    " is not a file of yours that others cannot read; move it away");
}

// A server and `tandem token` may both write: whoever finds the file too long moves it, the other sees that.
void Audit::rotate() {
  struct stat ours {}, there {};
  if (::fstat(out_.get(), &ours) != 0) throw_errno("looking at " + file_.string());
  const bool moved = ::stat(file_.c_str(), &there) != 0 || there.st_ino != ours.st_ino;
  if (!moved && static_cast<std::size_t>(ours.st_size) < most_) return;
  if (!moved)
    for (int i = kFormer; i > 0; --i) {
      const auto from = i == 1 ? file_ : fs::path(fmt::format("{}.{}", file_.string(), i - 1));
      std::error_code none;  // there need not be so many
      fs::rename(from, fmt::format("{}.{}", file_.string(), i), none);
    }
  open();
}

void Audit::changed(json line) {
  const std::lock_guard lock(mutex_);
  write(std::move(line));
}

void Audit::refused(json line) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - minute_ >= std::chrono::minutes(1)) minute_ = now, refusals_ = 0;
  if (++refusals_ > kRefusalsAMinute)
    ++unwritten_;
  else
    write(std::move(line));
}

void Audit::write(json line) {
  try {
    rotate();
    line["at"] = now_text();
    if (unwritten_ > 0) line["unwritten"] = unwritten_;
    const std::string text = line.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
    if (::write(out_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw_errno("writing the audit log " + file_.string());
    unwritten_ = 0;
    in_trouble_ = false;
  } catch (const std::exception& why) {
    ++unwritten_;
    if (!in_trouble_ && trouble_) trouble_(why.what());
    in_trouble_ = true;
  }
}

}  // namespace tandem::server
