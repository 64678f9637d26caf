#include "measure/process_groups.h"

#include <algorithm>

namespace tandem::measure {
namespace {

constexpr int kLookAgainEvery = 30;

}  // namespace

ProcessGroups::ProcessGroups(platform::ProcFs proc) : proc_(std::move(proc)) {}

void ProcessGroups::add(TaskId task, std::int64_t pid) {
  const auto stat = proc_.stat(pid);
  first_[pid] = task;
  members_[pid] = {task, stat ? stat->started : 0};
  strangers_.erase(pid);
}

void ProcessGroups::remove(TaskId task) {
  std::erase_if(first_, [&](const auto& entry) { return entry.second == task; });
  std::erase_if(members_, [&](const auto& entry) { return entry.second.task == task; });
}

void ProcessGroups::forget_the_gone(const std::vector<std::int64_t>& living) {
  const auto gone = [&](std::int64_t pid) { return !std::binary_search(living.begin(), living.end(), pid); };
  std::erase_if(strangers_, gone);
  std::erase_if(members_, [&](const auto& entry) {
    if (gone(entry.first)) return true;
    const auto stat = proc_.stat(entry.first);
    return !stat || stat->started != entry.second.started;
  });
}

void ProcessGroups::refresh() {
  const auto living = proc_.pids();
  if (++refreshes_ % kLookAgainEvery == 0) strangers_.clear();
  forget_the_gone(living);

  std::map<std::int64_t, platform::ProcessStat> unknown;
  for (const auto pid : living) {
    if (members_.contains(pid) || strangers_.contains(pid)) continue;
    if (const auto stat = proc_.stat(pid)) unknown[pid] = *stat;
  }
  // A child's number may be lower than its parent's, so until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = unknown.begin(); it != unknown.end();) {
      const auto group = first_.find(it->second.group);
      const auto parent = members_.find(it->second.parent);
      if (group == first_.end() && parent == members_.end()) {
        ++it;
        continue;
      }
      const TaskId task = group != first_.end() ? group->second : parent->second.task;
      members_[it->first] = {task, it->second.started};
      it = unknown.erase(it);
      changed = true;
    }
  }
  for (const auto& [pid, stat] : unknown) strangers_.insert(pid);
}

std::vector<std::int64_t> ProcessGroups::members(TaskId task) const {
  std::vector<std::int64_t> pids;
  for (const auto& [pid, member] : members_)
    if (member.task == task) pids.push_back(pid);
  return pids;
}

}  // namespace tandem::measure
