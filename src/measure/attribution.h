// Shares the machine's energy out among its tasks.
//
// For each interval between two samples a task is given the machine's joules times its part of all busy CPU
// time. The idle power of the machine is thereby shared by those who keep it awake; what the rest of the
// machine's processes used, and the energy of an interval in which no task ran, stays with the machine.
// Clocks of different grain may make the tasks look busier than the machine: then they share by their own
// sum, so that together they never get more than there was. Pure; one thread.
#pragma once

#include <map>
#include <optional>

#include "base/units.h"
#include "event/ids.h"

namespace tandem::measure {

class Attribution {
 public:
  void attach(TaskId);
  void detach(TaskId);

  // One interval. nullopt of machine or busy: no task's share is known. nullopt of one task's CPU time: not
  // its own.
  void step(std::optional<Joules> machine, std::optional<Seconds> busy,
            const std::map<TaskId, std::optional<Seconds>>& cpu);

  // Since attach or the last take; nullopt when part of that went unmeasured.
  std::optional<Joules> take(TaskId);

 private:
  struct Account {
    Joules joules;
    bool complete = true;
  };
  std::map<TaskId, Account> accounts_;
};

}  // namespace tandem::measure
