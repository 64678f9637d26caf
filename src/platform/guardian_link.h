// The owner's end of `tandem-guardian` (src/guardian/main.cpp): starts it, tells it what to put back.
//
// It is told by messages on a pair of sockets, each answered with "ok" once it is remembered, or with why
// not. The guardian sees its owner's end by the socket's end and by the owner's pidfd, whichever comes first;
// so a child of the owner that inherits the socket by mistake hides nothing. One thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/units.h"
#include "platform/descriptor.h"
#include "platform/gpu_former.h"

namespace tandem::platform {

// The descriptors a guardian is born with.
inline constexpr int kGuardianSocket = 3, kGuardianOwner = 4;
inline constexpr std::size_t kLongestGuardianMessage = 512;

class GuardianLink {
 public:
  GuardianLink(std::filesystem::path program, std::filesystem::path folder, std::filesystem::path log);
  GuardianLink(const GuardianLink&) = delete;
  GuardianLink& operator=(const GuardianLink&) = delete;
  ~GuardianLink();  // the guardian puts back what it still remembers; this waits for it, some seconds at most

  bool alive();         // cheap: one system call
  std::string start();  // "" or why not; another one where one is alive is a bug
  // The guardian remembers it, and holds the GPU's lock as long as it does. "" or why not.
  std::string remember(const FormerSetting&, int lock);
  std::string forget(const std::string& uuid);
  pid_t pid() const { return pid_; }  // -1: none was started

 private:
  std::string ask(std::string_view message, int descriptor = -1);
  void reap();

  std::filesystem::path program_, folder_, log_;
  Descriptor socket_;
  pid_t pid_ = -1;
};

}  // namespace tandem::platform
