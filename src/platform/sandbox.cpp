#include "platform/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "platform/syscall_filter.h"

namespace tandem::platform {
namespace fs = std::filesystem;
namespace {

constexpr std::array kPrivate{"/tmp", "/var/tmp"};
constexpr std::size_t kMostKept = 8;
constexpr int kSignalsScoped = 6;  // Landlock's version from Linux 6.12 on

// As of Linux 6.12; older headers know the first field alone.
struct LandlockRules {
  std::uint64_t files = 0, network = 0, scoped = 0;
};
constexpr std::uint64_t kScopeSignals = 2;

int landlock_version() {
  return static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, nullptr, std::size_t{0}, LANDLOCK_CREATE_RULESET_VERSION));
}

bool inside(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

// The folders above `path` and itself, outermost first.
std::vector<std::string> folders_down_to(const fs::path& path) {
  std::vector<std::string> out;
  fs::path sum;
  for (const auto& part : path) {
    sum /= part;
    out.push_back(sum.string());
  }
  return out;
}

int write_text(const char* file, const char* text, std::size_t size) {
  const int descriptor = ::open(file, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = ::write(descriptor, text, size) == static_cast<ssize_t>(size) ? 0 : errno;
  ::close(descriptor);
  return error;
}

// What is there already is fine; what cannot be made shows in the mount.
void make_folders(const std::vector<std::string>& folders) {
  for (const auto& folder : folders)
    if (::mkdir(folder.c_str(), 0755) == 0) ::chmod(folder.c_str(), 0755);  // whatever the umask is
}

// "/proc/self/fd/12", without a call that may allocate.
struct DescriptorPath {
  char text[32] = "/proc/self/fd/";
  explicit DescriptorPath(int descriptor) {
    char digits[12];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + descriptor % 10);
    while ((descriptor /= 10) > 0);
    char* at = text + sizeof("/proc/self/fd/") - 1;
    while (count > 0) *at++ = digits[--count];
    *at = '\0';
  }
};

int bind(int descriptor, const std::string& to) {
  const DescriptorPath from(descriptor);
  return ::mount(from.text, to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0 ? 0 : errno;
}

int cover(const char* folder, const char* mode) {
  return ::mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, mode) == 0 ? 0 : errno;
}

// errno of what the child could not do.
template <class Try>
int tried(Try attempt) {
  const pid_t pid = ::fork();
  if (pid < 0) return errno;
  if (pid == 0) ::_exit(attempt());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}

}  // namespace

Sandbox::Sandbox(fs::path hidden, fs::path own, std::vector<fs::path> kept) {
  hidden = fs::weakly_canonical(hidden);
  own = fs::weakly_canonical(own);
  hidden_ = hidden.string();
  own_ = own.string();
  folders_of_hidden_ = folders_down_to(hidden);
  folders_of_own_ = folders_down_to(own);
  for (const auto& one : kept) {
    std::error_code none;  // a folder that is not there is told of when it is entered
    const auto path = fs::canonical(one, none);
    for (const fs::path above : kPrivate)
      if (!none && path != above && inside(path, above) && kept_.size() < kMostKept) {
        kept_.push_back(path.string());
        folders_of_kept_.push_back(folders_down_to(path));
      }
  }
  user_map_ = fmt::format("{0} {0} 1", ::geteuid());
  group_map_ = fmt::format("{0} {0} 1", ::getegid());
}

// Root has its own at once; others become the root of a user namespace with nobody else in it.
int Sandbox::own_namespace() const {
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
    if (const int error = write_text("/proc/self/setgroups", "deny", 4)) return error;
    if (const int error = write_text("/proc/self/uid_map", user_map_.data(), user_map_.size())) return error;
    if (const int error = write_text("/proc/self/gid_map", group_map_.data(), group_map_.size())) return error;
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? 0 : errno;
}

namespace {

// For opening folders as `who`; only system calls, as after a fork.
int look_as(const Credentials* who) {
  if (!who || ::geteuid() != 0) return 0;
  if (::syscall(SYS_setgroups, who->groups.size(), who->groups.data()) != 0) return errno;
  ::syscall(SYS_setfsgid, who->group);
  ::syscall(SYS_setfsuid, who->user);
  return 0;
}

void look_as_root(const Credentials* who) {
  if (!who || ::geteuid() != 0) return;
  ::syscall(SYS_setfsuid, 0);
  ::syscall(SYS_setfsgid, ::getegid());
}

}  // namespace

int Sandbox::enter(const Credentials* who) const {
  if (const int error = own_namespace()) return error;
  // Found before they are covered.
  int kept[kMostKept];
  if (const int error = look_as(who)) return error;
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if ((kept[i] = ::open(kept_[i].c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) return errno;
  look_as_root(who);
  const int own = ::open(own_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return errno;
  for (const char* folder : kPrivate)
    if (const int error = cover(folder, "mode=1777"); error && error != ENOENT) return error;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    make_folders(folders_of_kept_[i]);
    if (const int error = bind(kept[i], kept_[i])) return error;
  }
  make_folders(folders_of_hidden_);
  if (const int error = cover(hidden_.c_str(), "mode=0755")) return error;
  make_folders(folders_of_own_);
  if (const int error = bind(own, own_)) return error;
  constexpr unsigned long kReadOnly = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV;
  return ::mount(nullptr, hidden_.c_str(), nullptr, kReadOnly, nullptr) == 0 ? 0 : errno;
}

namespace {

// What this kernel has none of is done without: doctor and the server's log say so.
int confine_by_landlock() {
  const int version = landlock_version();
  if (version < 1) return 0;
  // It is to be asked for something; nobody but root makes a block device anyway.
  const LandlockRules rules{.files = LANDLOCK_ACCESS_FS_MAKE_BLOCK,
                            .scoped = version >= kSignalsScoped ? kScopeSignals : 0};
  const std::size_t size = version >= kSignalsScoped ? sizeof rules : sizeof rules.files;
  const auto set = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, size, 0));
  if (set < 0) return errno;
  const int error = ::syscall(SYS_landlock_restrict_self, set, 0) == 0 ? 0 : errno;
  ::close(set);
  return error;
}

int filter_system_calls() {
  const int error = refuse_system_calls();
  return error == EINVAL || error == ENOSYS ? 0 : error;
}

}  // namespace

int Sandbox::give_up() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  if (const int error = confine_by_landlock()) return error;
  return filter_system_calls();
}

std::vector<Probe> Sandbox::probe() {
  const Sandbox none("/nowhere", "/nowhere", {});
  const int mounts = tried([&] { return none.own_namespace(); });
  const int version = landlock_version();
  const int filtered = tried([] {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    if (const int error = refuse_system_calls()) return error;
    return system_calls_are_refused() ? 0 : ENOSYS;
  });
  return {{"sandbox", "no-new-privs", true, "no set-user-id program gives a job more rights"},
          {"sandbox", "mounts", mounts == 0,
           mounts == 0 ? "a job of `serve --sandbox` has its own /tmp, and of the store its own folder alone"
                       : fmt::format("no mount namespace can be made ({}): `serve --sandbox` is refused; run "
                                     "the server as root, or allow user namespaces",
                                     std::strerror(mounts))},
          {"sandbox", "Landlock", version >= 1,
           version >= kSignalsScoped ? "jobs see into no other process, and signal none"
           : version >= 1 ? "jobs see into no other process; signals are kept to themselves from Linux 6.12 on"
                          : "not in this kernel: jobs of the same user can reach each other's processes"},
          {"sandbox", "seccomp", filtered == 0,
           filtered == 0 ? "jobs make no system calls but a program's: no ptrace, mounts, namespaces, keys, bpf, io_uring"
                         : fmt::format("no filter can be set ({}): jobs may make any system call their user may",
                                       std::strerror(filtered))}};
}

std::optional<std::string> Sandbox::missing() {
  for (const auto& one : probe())
    if (one.mechanism == "mounts" && !one.available) return one.why;
  return std::nullopt;
}

}  // namespace tandem::platform
