#include "sim/step/step_plan.h"

#include <cassert>

namespace tandem::sim {

const char* name(Purpose purpose) {
  switch (purpose) {
    case Purpose::join:
      return "join";
    case Purpose::begin:
      return "begin";
    case Purpose::forward:
      return "forward";
    case Purpose::backward:
      return "backward";
    case Purpose::update:
      return "update";
    case Purpose::pull:
      return "pull";
    case Purpose::push:
      return "push";
    case Purpose::send:
      return "send";
    case Purpose::reduce:
      return "reduce";
    case Purpose::read:
      return "read";
    case Purpose::feed:
      return "feed";
    case Purpose::launch:
      return "launch";
  }
  return "?";
}

bool computes(Purpose purpose) {
  return purpose == Purpose::forward || purpose == Purpose::backward || purpose == Purpose::update;
}

bool copies(Purpose purpose) {
  return purpose == Purpose::pull || purpose == Purpose::push || purpose == Purpose::send ||
         purpose == Purpose::reduce;
}

TaskIndex Plan::add(const Task& task, std::initializer_list<TaskIndex> earlier) {
  const auto id = static_cast<TaskIndex>(tasks.size());
  tasks.push_back(task);
  for (const TaskIndex other : earlier) after(id, other);
  return id;
}

TaskIndex Plan::join(const std::vector<TaskIndex>& earlier) {
  const TaskIndex id = add({});
  after(id, earlier);
  return id;
}

TaskIndex Plan::compute(Purpose purpose, DeviceId device, const Cost& cost, std::uint64_t order) {
  Task task;
  task.purpose = purpose;
  task.device = device;
  task.amount = cost.seconds;
  task.memory = cost.memory;
  task.order = order;
  return add(task);
}

TaskIndex Plan::copy(Purpose purpose, DeviceId from, DeviceId to, double bytes,
                     std::initializer_list<TaskIndex> earlier) {
  Task task;
  if (from != to) {
    task.purpose = purpose;
    task.device = from;
    task.peer = to;
    task.amount = bytes;
  }
  return add(task, earlier);
}

void Plan::after(TaskIndex later, TaskIndex earlier) {
  if (earlier == kNoTask) return;
  assert(earlier < tasks.size() && later < tasks.size() && earlier != later);
  edges.push_back({earlier, later});
}

void Plan::after(TaskIndex later, const std::vector<TaskIndex>& earlier) {
  for (const TaskIndex other : earlier) after(later, other);
}

}  // namespace tandem::sim
