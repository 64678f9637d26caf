// What the local world's epoll watches: who spoke is told by a number.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <string>

#include "base/error.h"
#include "event/ids.h"

namespace tandem::local {

inline constexpr std::uint64_t kWakeToken = ~std::uint64_t{0};
inline constexpr std::size_t kMostRanks = 1 << 16;

// A task's socket, or one of its processes, by its end.
struct Spoke {
  TaskId task = 0;
  std::size_t rank = 0;
  bool process = false;
};

inline std::uint64_t token(const Spoke& spoke) {
  return static_cast<std::uint64_t>(spoke.task) << 17 | spoke.rank << 1 | (spoke.process ? 1 : 0);
}

inline Spoke who_spoke(std::uint64_t token) {
  return {static_cast<TaskId>(token >> 17), static_cast<std::size_t>(token >> 1 & (kMostRanks - 1)),
          (token & 1) != 0};
}

inline void watch(int epoll, int descriptor, std::uint64_t token, const std::string& what) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = token;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) throw_errno("watching " + what);
}

}  // namespace tandem::local
