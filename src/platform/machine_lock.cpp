#include "platform/machine_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
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

}  // namespace tandem::platform
