// For tests: a kernel whose counters stand where the test puts them, and that refuses what it is told to.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "platform/perf_events.h"

namespace tandem::measure {

struct FakeCounters : platform::CounterSource {
  struct Key {
    std::int64_t pid;
    std::string name;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, platform::Count> counts;
  std::map<std::string, int> refuse;         // name to errno
  std::map<std::string, int> refuse_kernel;  // unless user space only
  std::map<std::string, int> refuse_in_group;
  std::map<Key, bool> led;  // whether it was opened behind a leader
  int open_now = 0;

  struct FakeCounter : platform::Counter {
    FakeCounters& kernel;
    Key key;
    FakeCounter(FakeCounters& k, Key which) : kernel(k), key(std::move(which)) { ++kernel.open_now; }
    ~FakeCounter() override { --kernel.open_now; }
    std::optional<platform::Count> read() override {
      const auto it = kernel.counts.find(key);
      if (it == kernel.counts.end()) return std::nullopt;
      return it->second;
    }
    int group_handle() const override { return 0; }
  };

  platform::Opened open(const platform::EventCode& code, std::int64_t pid, bool user_only,
                        const platform::Counter* leader) override {
    if (refuse.contains(code.name)) return {nullptr, refuse[code.name]};
    if (!user_only && refuse_kernel.contains(code.name)) return {nullptr, refuse_kernel[code.name]};
    if (leader && refuse_in_group.contains(code.name)) return {nullptr, refuse_in_group[code.name]};
    led[{pid, code.name}] = leader != nullptr;
    return {std::make_unique<FakeCounter>(*this, Key{pid, code.name}), 0};
  }

  // As in a virtual machine or container without any counters.
  void refuse_everything(int error) {
    for (const auto& code : platform::known_events("/nonexistent")) refuse[code.name] = error;
  }
};

}  // namespace tandem::measure
