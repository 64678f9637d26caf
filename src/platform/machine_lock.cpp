#include "platform/machine_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>

#include "base/error.h"

namespace tandem::platform {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kTimeDigits = 20;

TrustedFolder folder_of(const fs::path& file, const char* advice) {
  return TrustedFolder::open(file.parent_path(), TrustedFolder::Sharing::sticky, advice);
}

// "01700000000000000000-4711": when somebody came, in nanoseconds, and their pid.
bool is_ticket(const std::string& name) {
  const auto digits = [](std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return name.size() > kTimeDigits + 1 && name.size() <= kTimeDigits + 11 && name[kTimeDigits] == '-' &&
         digits(std::string_view(name).substr(0, kTimeDigits)) &&
         digits(std::string_view(name).substr(kTimeDigits + 1));
}

// A link, a file or a folder that another user has put there; in a sticky folder it stays theirs, and what is
// ours stays ours, so all Tandems of a user see the same.
bool is_taken_by_others(const fs::path& folder) {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0) return false;
  return (info.st_uid != ::geteuid() && info.st_uid != 0) || !S_ISDIR(info.st_mode);
}

// One for each machine: homes may be shared by several.
std::optional<fs::path> own_folder_at_home() {
  const char* home = std::getenv("HOME");
  struct stat info {};
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (!home || *home != '/' || ::stat(home, &info) != 0 || info.st_uid != ::geteuid() ||
      ::gethostname(host.data(), host.size() - 1) != 0)
    return std::nullopt;
  const fs::path folder = fs::path(home) / ".local/state/tandem";
  std::error_code shown_later;
  fs::create_directories(folder, shown_later);
  return folder / (std::string("on-") + host.data());
}

}  // namespace

fs::path MachineLock::default_file(const fs::path& shared) {
  if (const char* own = std::getenv("TANDEM_RUNTIME_DIR"); own && *own) {
    // The user's own word: where it is a link, what it leads to is meant.
    std::error_code error;
    const auto real = fs::weakly_canonical(own, error);
    return (error ? fs::path(own) : real) / "machine.lock";
  }
  if (const auto runtime = own_runtime_folder()) return *runtime / "tandem/machine.lock";
  const fs::path usual = shared / ("tandem-" + std::to_string(::getuid()));
  return (is_taken_by_others(usual) ? own_folder_at_home().value_or(usual) : usual) / "machine.lock";
}

std::optional<MachineLock> MachineLock::take(const fs::path& file, const std::string& label,
                                             std::string* owner, const char* advice) {
  Descriptor descriptor = folder_of(file, advice).open_file(file.filename(), O_RDWR | O_CREAT);
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

MachineQueue::MachineQueue(fs::path lock_file)
    : lock_file_(std::move(lock_file)), folder_(folder_of(lock_file_, MachineLock::kAdvice).inside("queue")) {
  draw_ticket();
}

// Between making a ticket and locking it, whoever looks takes it for one of the dead: then another is drawn.
void MachineQueue::draw_ticket() {
  for (int tries = 0;; ++tries) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto arrived = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    ticket_ = fmt::format("{:0{}}-{}", arrived, kTimeDigits, ::getpid());
    held_ = folder_.open_file(ticket_, O_RDWR | O_CREAT | O_EXCL);
    struct stat info {};
    if (held_ && ::flock(held_.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(held_.get(), &info) == 0 &&
        info.st_nlink == 1)
      return;
    constexpr int kTries = 100;
    if (!held_ || tries == kTries) throw_errno("queueing in " + folder_.path().string());
    folder_.remove(ticket_);
  }
}

MachineQueue::~MachineQueue() {
  try {
    folder_.remove(ticket_);
  } catch (const SystemError&) {
    // Left behind, it is a ticket of the dead.
  }
}

bool MachineQueue::somebody_is_before() const {
  for (const auto& name : folder_.names()) {
    if (!is_ticket(name) || name >= ticket_) continue;
    const Descriptor other = folder_.open_file(name, O_RDONLY);
    if (!other) continue;
    if (::flock(other.get(), LOCK_SH | LOCK_NB) != 0) return true;
    folder_.remove(name);  // its owner died
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
