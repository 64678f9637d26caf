// Which processes belong to which task: the whole process group of the task's first process, and every child
// of a member, even one that left the group; a member whose parent has ended stays one.
//
// Looks at each process of the machine once and remembers it as a stranger; strangers are looked at again now
// and then, because a process may change its group and a process number may be used again. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

#include "event/ids.h"
#include "platform/procfs.h"

namespace tandem::measure {

class ProcessGroups {
 public:
  explicit ProcessGroups(platform::ProcFs);

  void add(TaskId, std::int64_t pid);
  void remove(TaskId);
  void refresh();
  std::vector<std::int64_t> members(TaskId) const;  // rising; may have ended since

 private:
  struct Member {
    TaskId task = 0;
    std::int64_t started = 0;
  };
  void forget_the_gone(const std::vector<std::int64_t>& living);

  platform::ProcFs proc_;
  std::map<std::int64_t, TaskId> first_;  // by the pid that leads the group
  std::map<std::int64_t, Member> members_;
  std::unordered_set<std::int64_t> strangers_;
  int refreshes_ = 0;
};

}  // namespace tandem::measure
