// Hardware and software counters of one task through perf_event_open(2).
//
// A counter is attached to a process while it still waits at its gate, with inheritance, so that threads and
// children started later are counted too and stay counted after they have ended. There are usually fewer
// hardware registers than events; the kernel takes turns, and Count says for how long an event was on a
// register (running) of the time it wanted to be (enabled): value * enabled / running estimates the whole.
// Events of one group share their turns.
//
// CounterSource is the seam for tests; LinuxCounters is the real one. Not thread-safe; no shared state
// between objects.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tandem::platform {

struct EventCode {
  std::string name;        // as perf calls it
  std::uint32_t type = 0;  // perf_event_attr
  std::uint64_t config = 0, config1 = 0;
  std::string group;       // scheduled together with the others of this name; empty: alone
  bool software = false;   // counted by the kernel itself: every machine has it
  bool in_kernel = false;  // happens in the kernel: a user-space-only counter would stay at 0
  std::string alias_of;    // the same quantity under another name; not worth a counter
};

// Events without a generic code: counted where the machine describes them under /sys.
inline constexpr std::array kDescribedEvents{"mem-loads",
                                             "mem-stores",
                                             "topdown-total-slots",
                                             "topdown-slots-issued",
                                             "topdown-slots-retired",
                                             "topdown-fetch-bubbles",
                                             "topdown-recovery-bubbles"};

// The generic hardware, cache and software events of Linux's perf 4.15, and those memory and top-down events
// of the CPU that this machine describes under sys_root; a fixed order. 51 without, 58 with all of the
// latter.
std::vector<EventCode> known_events(const std::filesystem::path& sys_root);

struct Count {
  std::uint64_t value = 0, enabled_ns = 0, running_ns = 0;
};

class Counter {
 public:
  virtual ~Counter() = default;
  virtual std::optional<Count> read() = 0;  // nullopt: the kernel gives nothing now
  virtual int group_handle() const = 0;
};

struct Opened {
  std::unique_ptr<Counter> counter;  // null when it could not be opened
  int error = 0;                     // errno then
};

class CounterSource {
 public:
  virtual ~CounterSource() = default;
  // pid 0: this process, for probing. leader null: a group of its own.
  virtual Opened open(const EventCode&, std::int64_t pid, bool user_only, const Counter* leader) = 0;
};

class LinuxCounters : public CounterSource {
 public:
  Opened open(const EventCode&, std::int64_t pid, bool user_only, const Counter* leader) override;
};

}  // namespace tandem::platform
