#include "platform/syscall_filter.h"

#include <gtest/gtest.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <thread>

namespace tandem::platform {
namespace {

// What a child says that is under the filter; -1: it was killed.
int under_filter(const std::function<int()>& attempt) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || refuse_system_calls() != 0) ::_exit(255);
    ::_exit(attempt());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class SyscallFilter : public testing::Test {
 protected:
  void SetUp() override {
    if (under_filter([] { return 0; }) == 255) GTEST_SKIP() << "no filter can be set here";
  }
};

TEST_F(SyscallFilter, RefusesWhatOnlyAttackersCall) {
  EXPECT_FALSE(system_calls_are_refused()) << "none is in force for us";
  EXPECT_EQ(under_filter([] { return system_calls_are_refused() ? 0 : 1; }), 0);
  for (const long number : {SYS_ptrace, SYS_process_vm_readv, SYS_keyctl, SYS_add_key, SYS_mount, SYS_umount2, SYS_pivot_root,
                            SYS_setns, SYS_unshare, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup,
                            SYS_kexec_load, SYS_init_module, SYS_reboot, SYS_open_by_handle_at, SYS_fsopen, SYS_syslog})
    EXPECT_EQ(under_filter([=] { return ::syscall(number, 0, 0, 0, 0, 0, 0) == -1 ? errno : 0; }), EPERM) << number;
  for (const unsigned long flags : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID | CLONE_NEWNET})
    EXPECT_EQ(under_filter([=] { return ::syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0) == -1 ? errno : 0; }), EPERM);
  EXPECT_EQ(under_filter([] { return ::syscall(SYS_clone3, 0, 0) == -1 ? errno : 0; }), ENOSYS);
}

TEST_F(SyscallFilter, IsInherited) {
  EXPECT_EQ(under_filter([] { return WEXITSTATUS(std::system("unshare -r true 2>/dev/null")) == 0 ? 1 : 0; }), 0);
}

TEST_F(SyscallFilter, RefusesOtherAbisAltogether) {
#if defined(__x86_64__)
  constexpr long kX32 = 0x40000000;
  EXPECT_EQ(under_filter([] { return ::syscall(kX32 | SYS_getpid) == -1 ? errno : 0; }), EPERM);
  const int said = under_filter([] {
    long answer = 20;  // getpid, as 32-bit programs number it
    asm volatile("int $0x80" : "+a"(answer) : : "memory");
    return answer == -EPERM ? EPERM : 0;
  });
  EXPECT_TRUE(said == EPERM || said == -1) << said;  // -1: the kernel has no 32-bit calls
#endif
}

TEST_F(SyscallFilter, LetsOrdinaryProgramsRun) {
  EXPECT_EQ(under_filter([] {
    int told = 1;
    std::thread([&] { told = 0; }).join();
    return told + std::system("echo x | grep -q x && (true & wait)");
  }), 0);
}

}  // namespace
}  // namespace tandem::platform
