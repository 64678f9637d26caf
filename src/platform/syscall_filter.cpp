#include "platform/syscall_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace tandem::platform {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // no filter
#endif

constexpr std::array kRefused{
    // other processes
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd, SYS_kcmp,
    // keys
    SYS_add_key, SYS_request_key, SYS_keyctl,
    // what is mounted where, and namespaces
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_fsopen, SYS_fsconfig, SYS_fsmount,
    SYS_fspick, SYS_move_mount, SYS_open_tree, SYS_mount_setattr, SYS_open_by_handle_at,
    // parts of the kernel that were often its undoing
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    // the machine
    SYS_kexec_load,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl,
    SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname, SYS_syslog,
    SYS_vhangup,
#ifdef SYS_iopl
    SYS_iopl, SYS_ioperm,
#endif
};

constexpr std::uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                                      CLONE_NEWUTS | CLONE_NEWCGROUP;
constexpr std::uint32_t kOtherAbi = 0x40000000;  // x32: the same calls under other numbers

constexpr sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
constexpr sock_filter answer(std::uint32_t what) {
  return BPF_STMT(BPF_RET | BPF_K, what);
}
// Skips the next `otherwise` instructions where the loaded word is not (equal to, at least, has a bit of) `value`.
constexpr sock_filter skip_unless(std::uint16_t test, std::uint32_t value, std::uint8_t otherwise) {
  return BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), value, 0, otherwise);
}

constexpr std::uint32_t error(int number) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number);
}

constexpr auto filter() {
  std::array<sock_filter, 2 * kRefused.size() + 14> out{};
  std::size_t at = 0;
  // Another architecture's calls have other numbers: none of them is let through.
  out[at++] = load(offsetof(seccomp_data, arch));
  out[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
  out[at++] = answer(error(EPERM));
  out[at++] = load(offsetof(seccomp_data, nr));
  out[at++] = skip_unless(BPF_JGE, kOtherAbi, 1);
  out[at++] = answer(error(EPERM));
  for (const auto number : kRefused) {
    out[at++] = skip_unless(BPF_JEQ, static_cast<std::uint32_t>(number), 1);
    out[at++] = answer(error(EPERM));
  }
  // Its flags are in memory, where no filter can look: libraries take clone instead.
  out[at++] = skip_unless(BPF_JEQ, SYS_clone3, 1);
  out[at++] = answer(error(ENOSYS));
  out[at++] = skip_unless(BPF_JEQ, SYS_clone, 4);
  out[at++] = load(offsetof(seccomp_data, args[0]));
  out[at++] = skip_unless(BPF_JSET, kNamespaces, 1);
  out[at++] = answer(error(EPERM));
  out[at++] = answer(SECCOMP_RET_ALLOW);
  out[at++] = answer(SECCOMP_RET_ALLOW);
  return out;
}

constexpr auto kFilter = filter();
static_assert(kFilter.back().code == (BPF_RET | BPF_K) && kFilter.back().k == SECCOMP_RET_ALLOW);

}  // namespace

int refuse_system_calls() {
  if constexpr (kArchitecture == 0) return ENOSYS;
  const sock_fprog program{static_cast<unsigned short>(kFilter.size()), const_cast<sock_filter*>(kFilter.data())};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : errno;
}

bool system_calls_are_refused() {
  return ::syscall(SYS_unshare, 0) != 0 && errno == EPERM;
}

}  // namespace tandem::platform
