#include "measure/own_load.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tandem::measure {
namespace {

Seconds of_children_waited_for() {
  rusage use{};
  if (::getrusage(RUSAGE_CHILDREN, &use) != 0) throw_errno("reading the CPU time of ended programs");
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return {seconds(use.ru_utime) + seconds(use.ru_stime)};
}

std::vector<int> cpus_of(std::int64_t pid) {
  cpu_set_t set;
  std::vector<int> out;
  if (::sched_getaffinity(static_cast<pid_t>(pid), sizeof(set), &set) != 0) return out;  // it has ended
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) out.push_back(cpu);
  return out;
}

}  // namespace

OwnLoad::OwnLoad(Sources from) : from_(std::move(from)), groups_(from_.proc) {
  if (!from_.waited_for) from_.waited_for = of_children_waited_for;
  if (!from_.cpus) from_.cpus = cpus_of;
  waited_for_ = from_.waited_for();
}

void OwnLoad::started(TaskId id, std::int64_t pid, Seconds now) {
  ended(id, now);
  groups_.add(id, pid);
  tasks_[id] = {pid, from_.cpus(pid), {}, now};
}

void OwnLoad::ended(TaskId id, Seconds now) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  Task task = std::move(found->second);
  task.since = now - task.since;
  ended_.push_back(std::move(task));
  tasks_.erase(found);
  groups_.remove(id);
}

OwnUse OwnLoad::take(Seconds now) {
  OwnUse out;
  take_ended(out);
  if (!tasks_.empty()) groups_.refresh();
  for (auto& [id, task] : tasks_) {
    Seconds time;
    for (const auto pid : groups_.members(id))
      if (const auto stat = from_.proc.stat(pid)) {
        time += stat->user + stat->system + stat->children_user + stat->children_system;
        out.memory += stat->resident;
      }
    if (auto cpus = from_.cpus(task.pid); !cpus.empty()) task.cpus = std::move(cpus);
    if (time > task.counted) spread(out, task.cpus, time - std::exchange(task.counted, time));
    task.since = now;
  }
  return out;
}

// Without the end of a task the time is of one whose end is not told yet: it is counted with that.
void OwnLoad::take_ended(OwnUse& out) {
  if (ended_.empty()) return;
  const Seconds total = from_.waited_for();
  Seconds added = total - std::exchange(waited_for_, total), ran;
  for (const Task& task : ended_) {
    added = added - task.counted;
    ran += task.since;
  }
  for (const Task& task : ended_)
    if (added.value > 0 && ran.value > 0) spread(out, task.cpus, added * (task.since / ran));
  ended_.clear();
}

void OwnLoad::spread(OwnUse& out, const std::vector<int>& cpus, Seconds time) {
  for (const int cpu : cpus) out.cpu[cpu] += time / static_cast<double>(cpus.size());
}

}  // namespace tandem::measure
