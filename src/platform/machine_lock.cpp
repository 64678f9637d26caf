#include "platform/machine_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <cstdlib>

#include "base/error.h"

namespace tandem::platform {
namespace fs = std::filesystem;

fs::path MachineLock::default_file() {
  if (const char* own = std::getenv("TANDEM_RUNTIME_DIR"); own && *own) return fs::path(own) / "machine.lock";
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && *runtime && fs::exists(runtime))
    return fs::path(runtime) / "tandem/machine.lock";
  return fs::path("/tmp") / ("tandem-" + std::to_string(::getuid())) / "machine.lock";
}

std::optional<MachineLock> MachineLock::take(const fs::path& file, const std::string& label,
                                             std::string* owner) {
  ::mkdir(file.parent_path().c_str(), 0700);  // a failure shows in the next line
  // Never follow a link somebody else may have put into a shared folder.
  Descriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!descriptor) throw_errno("opening " + file.string());
  if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 256> text{};
    if (owner && ::pread(descriptor.get(), text.data(), text.size() - 1, 0) > 0) *owner = text.data();
    return std::nullopt;
  }
  if (::ftruncate(descriptor.get(), 0) != 0 || ::pwrite(descriptor.get(), label.data(), label.size(), 0) < 0)
    throw_errno("writing " + file.string());
  return MachineLock(std::move(descriptor));
}

MachineQueue::MachineQueue(fs::path lock_file) : lock_file_(std::move(lock_file)) {
  ::mkdir(lock_file_.parent_path().c_str(), 0700);
  const fs::path folder = lock_file_.parent_path() / "queue";
  ::mkdir(folder.c_str(), 0700);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto arrived = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  ticket_ = folder / fmt::format("{:020}-{}", arrived, ::getpid());
  held_.reset(::open(ticket_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!held_ || ::flock(held_.get(), LOCK_EX | LOCK_NB) != 0) throw_errno("queueing in " + folder.string());
}

MachineQueue::~MachineQueue() {
  ::unlink(ticket_.c_str());
}

bool MachineQueue::somebody_is_before() const {
  for (const auto& entry : fs::directory_iterator(ticket_.parent_path())) {
    if (entry.path().filename() >= ticket_.filename()) continue;
    const Descriptor other(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!other) continue;
    if (::flock(other.get(), LOCK_SH | LOCK_NB) != 0) return true;
    ::unlink(entry.path().c_str());  // its owner died
  }
  return false;
}

std::optional<MachineLock> MachineQueue::take(const std::string& label, std::string* owner) {
  if (somebody_is_before()) {
    if (owner) *owner = "runs that came before this one";
    return std::nullopt;
  }
  return MachineLock::take(lock_file_, label, owner);
}

}  // namespace tandem::platform
