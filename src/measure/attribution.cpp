#include "measure/attribution.h"

#include <algorithm>

namespace tandem::measure {

void Attribution::attach(TaskId task) {
  accounts_[task] = {};
}

void Attribution::detach(TaskId task) {
  accounts_.erase(task);
}

void Attribution::step(std::optional<Joules> machine, std::optional<Seconds> busy,
                       const std::map<TaskId, std::optional<Seconds>>& cpu) {
  Seconds used;
  for (const auto& [task, time] : cpu)
    if (time) used += *time;
  for (auto& [task, account] : accounts_) {
    const auto own = cpu.find(task);
    if (!machine || !busy || own == cpu.end() || !own->second) {
      account.complete = false;
      continue;
    }
    const Seconds all = std::max(*busy, used);
    if (all.value > 0) account.joules += *machine * (*own->second / all);
  }
}

std::optional<Joules> Attribution::take(TaskId task) {
  auto& account = accounts_.at(task);
  const auto result = account.complete ? std::optional(account.joules) : std::nullopt;
  account = {};
  return result;
}

}  // namespace tandem::measure
