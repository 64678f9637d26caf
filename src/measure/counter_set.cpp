#include "measure/counter_set.h"

#include <algorithm>
#include <cerrno>

namespace tandem::measure {

std::size_t CounterPlan::count(bool software) const {
  return static_cast<std::size_t>(std::count_if(
      events.begin(), events.end(), [&](const Event& event) { return event.code.software == software; }));
}

CounterPlan plan_counters(platform::CounterSource& source, const std::vector<platform::EventCode>& known) {
  CounterPlan plan;
  for (const auto& code : known) {
    if (!code.alias_of.empty()) {
      plan.aliases.push_back(code.name);
      continue;
    }
    auto opened = source.open(code, 0, false, nullptr);
    if (opened.counter) {
      plan.events.push_back({code, false, code.name});
      continue;
    }
    if (opened.error == EACCES || opened.error == EPERM) {
      if (code.in_kernel) {
        plan.useless_user_only.push_back(code.name);
        continue;
      }
      opened = source.open(code, 0, true, nullptr);
      if (opened.counter) {
        // The kernel's own clock counts all of a task's time whatever it was told to leave out.
        plan.events.push_back({code, true, code.name == "task-clock" ? code.name : code.name + ":u"});
        continue;
      }
    }
    plan.refused[code.name] = opened.error;
  }
  return plan;
}

CounterSet::CounterSet(platform::CounterSource& source, const CounterPlan& plan, std::int64_t pid,
                       Seconds now) {
  std::map<std::string, const platform::Counter*> leaders;
  for (const auto& event : plan.events) {
    const platform::Counter*& leader = leaders[event.code.group];
    if (event.code.group.empty()) leader = nullptr;
    auto opened = source.open(event.code, pid, event.user_only, leader);
    // Too many for one turn on the registers: better alone than not at all.
    if (!opened.counter && leader) opened = source.open(event.code, pid, event.user_only, nullptr);
    if (!opened.counter) continue;
    if (!leader) leader = opened.counter.get();
    open_.push_back({event.name, event.code.name == "task-clock", std::move(opened.counter), {}});
  }
  update(now);
}

void CounterSet::update(Seconds now) {
  for (auto& open : open_) {
    const auto count = open.counter->read();
    if (!count) continue;
    open.channel.update(now, *count);
    if (open.is_task_clock) cpu_time_ = Seconds{static_cast<double>(count->value) * 1e-9};
  }
}

void CounterSet::take(Metrics& rates) {
  for (auto& open : open_)
    if (const auto rate = open.channel.take()) rates[open.name] = *rate;
}

}  // namespace tandem::measure
