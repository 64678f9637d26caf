// The perf counters of one task: which of the known events this machine can count, and the rates they give.
//
// What the machine can do is found out once (plan_counters) by opening each event on ourselves. Aliases are
// left out. Where the kernel forbids counting inside itself, hardware events count user space only and carry
// perf's ":u", so that profiles are not compared across the two. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"
#include "measure/channel.h"
#include "platform/perf_events.h"

namespace tandem::measure {

struct CounterPlan {
  struct Event {
    platform::EventCode code;
    bool user_only = false;
    std::string name;  // in profiles
  };
  std::vector<Event> events;                            // those that can be counted
  std::map<std::string, int> refused;                   // name to errno
  std::vector<std::string> aliases, useless_user_only;  // known, and left alone

  std::size_t count(bool software) const;
};

CounterPlan plan_counters(platform::CounterSource&, const std::vector<platform::EventCode>& known);

class CounterSet {
 public:
  // Opens what it can on the process; an event that will not open is missing from the profiles of this task.
  CounterSet(platform::CounterSource&, const CounterPlan&, std::int64_t pid, Seconds now);

  void update(Seconds now);
  void take(Metrics& rates);
  // CPU time all threads and children used up to the last update; nullopt when task-clock is not counted.
  std::optional<Seconds> cpu_time() const { return cpu_time_; }

 private:
  struct Open {
    std::string name;
    bool is_task_clock = false;
    std::unique_ptr<platform::Counter> counter;
    ScaledChannel channel;
  };
  std::vector<Open> open_;
  std::optional<Seconds> cpu_time_;
};

}  // namespace tandem::measure
