#include "sim/step/step_run.h"

#include <algorithm>
#include <cassert>

namespace tandem::sim {
namespace {

template <class Number>
void sort_unique(std::vector<Number>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

void add_times(std::vector<double>& sum, const std::vector<double>& part, double times) {
  if (sum.size() < part.size()) sum.resize(part.size(), 0);
  for (std::size_t i = 0; i < part.size(); ++i) sum[i] += times * part[i];
}

}  // namespace

void StepResult::add(const StepResult& part, std::int64_t times) {
  const auto by = static_cast<double>(times);
  seconds += by * part.seconds;
  trained += by * part.trained;
  add_times(busy, part.busy, by);
  add_times(work, part.work, by);
  add_times(memory, part.memory, by);
  add_times(starved, part.starved, by);
  for (std::size_t i = 0; i < kLinkClasses; ++i) {
    traffic[i].sent += by * part.traffic[i].sent;
    traffic[i].received += by * part.traffic[i].received;
    traffic[i].busy += by * part.traffic[i].busy;
  }
  add_times(carried, part.carried, by);
  operations += times * part.operations;
}

StepRunner::StepRunner(Engine& engine, Devices& devices, double interference)
    : engine_(engine), devices_(devices), interference_(interference), processors_(devices.all().size()) {
  assert(interference >= 0);
}

StepResult StepRunner::run(const Plan& plan) {
  prepare(plan);
  for (TaskIndex id = 0; id < plan.tasks.size(); ++id)
    if (waits_[id] == 0) arrive(id);
  while (true) {
    drain();
    dispatch();
    interfere();
    if (left_ == 0) break;
    const auto* done = engine_.next();
    assert(done != nullptr && "tasks wait for each other");
    for (const Token token : *done) finish(static_cast<TaskIndex>(token));
  }
  result_.seconds = engine_.now() - begun_;
  result_.trained = plan.trained == kNoTask ? result_.seconds : ended_[plan.trained] - begun_;
  return std::move(result_);
}

void StepRunner::prepare(const Plan& plan) {
  const std::size_t tasks = plan.tasks.size(), devices = processors_.size();
  plan_ = &plan;
  begun_ = engine_.now();
  left_ = tasks;
  result_ = {};
  for (auto* times : {&result_.busy, &result_.work, &result_.memory, &result_.starved})
    times->assign(devices, 0);
  started_.assign(tasks, begun_);
  ended_.assign(tasks, begun_);
  waits_.assign(tasks, 0);
  first_next_.assign(tasks + 1, 0);
  next_.resize(plan.edges.size());
  for (const auto& edge : plan.edges) {
    ++waits_[edge.later];
    ++first_next_[edge.earlier + std::size_t{1}];
  }
  for (std::size_t i = 0; i < tasks; ++i) first_next_[i + 1] += first_next_[i];
  std::vector<std::uint32_t> place(first_next_.begin(), first_next_.end());
  for (const auto& edge : plan.edges) next_[place[edge.earlier]++] = edge.later;

  members_.clear();
  slowed_links_.clear();
  for (const Task& task : plan.tasks) {
    if (task.purpose != Purpose::reduce) continue;
    const Path& path = devices_.path(task.device, task.peer);
    slowed_links_.insert(slowed_links_.end(), path.links.begin(), path.links.end());
    members_.push_back(task.device);
    members_.push_back(task.peer);
  }
  sort_unique(members_);
  sort_unique(slowed_links_);
}

// All it waited for is done.
void StepRunner::arrive(TaskIndex id) {
  const Task& task = plan_->tasks[id];
  started_[id] = engine_.now();
  if (computes(task.purpose)) {
    auto& ready = processors_[task.device].ready;
    ready.push_back({task.order, id});
    std::push_heap(ready.begin(), ready.end());
    touched_.push_back(task.device);
  } else if (const Path* path = path_of(task)) {
    start_transfer(id, *path);
  } else if (task.purpose == Purpose::launch && task.amount > 0) {
    engine_.wait_until(engine_.now() + task.amount, id);
  } else {
    finish(id);
  }
}

const Path* StepRunner::path_of(const Task& task) {
  if (copies(task.purpose)) return &devices_.path(task.device, task.peer);
  if (task.purpose == Purpose::read) return &devices_.reading(task.device);
  if (task.purpose == Purpose::feed) return devices_.feeding(task.device);
  return nullptr;
}

void StepRunner::start_transfer(TaskIndex id, const Path& path) {
  const Task& task = plan_->tasks[id];
  for (std::size_t i = 0; i < kLinkClasses; ++i) {
    if (!path.crosses[i]) continue;
    result_.traffic[i].sent += task.amount;
    if (crossing_[i]++ == 0) crossed_since_[i] = engine_.now();
  }
  for (const LinkId link : path.links) {
    if (link >= result_.carried.size()) result_.carried.resize(link + std::size_t{1}, 0);
    result_.carried[link] += task.amount;
  }
  if (task.purpose == Purpose::reduce) ++reducing_;
  // Two processors of one node: nothing lies between them.
  if (path.links.empty()) return finish(id);
  engine_.transfer(path.links, task.amount, path.latency * task.messages, id);
}

void StepRunner::finish(TaskIndex id) {
  const Task& task = plan_->tasks[id];
  ended_[id] = engine_.now();
  count(id);
  if (timeline_ && task.purpose != Purpose::join && task.purpose != Purpose::begin)
    timeline_->push_back(
        {task.purpose, task.device, task.peer, task.operation, task.operations, started_[id], ended_[id]});
  finished_.push_back(id);
}

void StepRunner::count(TaskIndex id) {
  const Task& task = plan_->tasks[id];
  const double took = ended_[id] - started_[id];
  if (computes(task.purpose)) {
    result_.busy[task.device] += took;
    result_.work[task.device] += task.amount;
    result_.memory[task.device] += task.memory;
    result_.operations += task.operations;
    processors_[task.device].busy = false;
    touched_.push_back(task.device);
    --computing_;
  } else if (task.purpose == Purpose::begin) {
    const double could = task.previous == kNoTask ? begun_ : ended_[task.previous];
    result_.starved[task.device] += ended_[id] - could;
  } else if (const Path* path = path_of(task)) {
    for (std::size_t i = 0; i < kLinkClasses; ++i) {
      if (!path->crosses[i]) continue;
      result_.traffic[i].received += task.amount;
      if (--crossing_[i] == 0) result_.traffic[i].busy += engine_.now() - crossed_since_[i];
    }
    if (task.purpose == Purpose::reduce) --reducing_;
    if (task.purpose == Purpose::feed) result_.starved[task.device] += took;
  }
}

// Tells those that waited; what takes no time is over at once, so this may go on for a while.
void StepRunner::drain() {
  for (std::size_t i = 0; i < finished_.size(); ++i) {
    const TaskIndex id = finished_[i];
    --left_;
    for (std::uint32_t at = first_next_[id]; at < first_next_[id + std::size_t{1}]; ++at)
      if (--waits_[next_[at]] == 0) arrive(next_[at]);
  }
  finished_.clear();
}

void StepRunner::dispatch() {
  for (const DeviceId device : touched_) {
    Processor& processor = processors_[device];
    if (processor.busy || processor.ready.empty()) continue;
    std::pop_heap(processor.ready.begin(), processor.ready.end());
    const TaskIndex id = processor.ready.back().task;
    processor.ready.pop_back();
    processor.busy = true;
    ++computing_;
    started_[id] = engine_.now();
    engine_.compute(devices_.all()[device].host, plan_->tasks[id].amount, id);
  }
  touched_.clear();
}

void StepRunner::interfere() {
  const bool both = reducing_ > 0 && computing_ > 0 && interference_ > 0;
  if (both == slowed_) return;
  slowed_ = both;
  const double share = both ? 1 / (1 + interference_) : 1;
  for (const DeviceId device : members_) engine_.set_host(devices_.all()[device].host, share, 1);
  for (const LinkId link : slowed_links_) engine_.set_link(link, devices_.capacity(link) * share);
}

}  // namespace tandem::sim
