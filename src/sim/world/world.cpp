#include "sim/world/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"

namespace tandem::sim {
namespace {

constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
constexpr const char* kNothingToCloneFrom =
    "it was to go on from another trial's checkpoint but has none: population-based training needs a program "
    "that keeps checkpoints (docs/protocol.md)";

void check_background(const NodeGroup& group) {
  const auto later = [](const Background& a, const Background& b) { return a.after < b.after; };
  if (!std::is_sorted(group.background.begin(), group.background.end(), later))
    throw UserError(
        fmt::format("nodes '{}': their background load must be in the order of time", group.name));
  for (const auto& [after, load] : group.background)
    for (const auto& share : {load.cpu, load.memory, load.network, load.gpu, load.gpu_memory})
      if (share && !(*share >= 0 && *share <= 1))
        throw UserError(
            fmt::format("nodes '{}': a background load of {}; a share is 0 to 1", group.name, *share));
}

void check_group(const NodeGroup& group) {
  if (group.count < 1 || group.capacity.cores < 1 || group.capacity.memory < 0)
    throw UserError(fmt::format("nodes '{}': {} of them with {} cores; both must be 1 or more", group.name,
                                group.count, group.capacity.cores));
  if (group.power) check(*group.power, fmt::format("nodes '{}'", group.name));
  check_background(group);
}

}  // namespace

World::World(WorldOptions options, Programs& programs)
    : options_(std::move(options)), programs_(programs), now_(options_.start) {
  for (auto& group : options_.nodes) {
    check_group(group);
    if (group.name.empty()) group.name = "node";
    if (group.type.empty()) group.type = group.name;
    energy_sources_.push_back(group.power ? group.power->source() : "");
    for (int i = 0; i < group.count; ++i) {
      Node& node = nodes_.emplace_back();
      node.group = static_cast<std::uint32_t>(energy_sources_.size() - 1);
      if (group.power) node.power = NodePower(group.power->idle, now_);
    }
  }
  if (nodes_.empty()) throw UserError("a simulated cluster needs at least one node");
  if (options_.failures.nodes_named() > nodes_.size())
    throw UserError(fmt::format("an outage of node {} is listed, but the last of the {} nodes is node {}",
                                options_.failures.nodes_named() - 1, nodes_.size(), nodes_.size() - 1));
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    const auto node = static_cast<NodeId>(id);
    ledger_.set_node(node, name_of(node), group_of(node).capacity);
    plan_outage(static_cast<NodeId>(id));
    plan_background(static_cast<NodeId>(id));
  }
}

control::Capabilities World::capabilities() const {
  const auto some = [&](auto test) {
    return std::any_of(options_.nodes.begin(), options_.nodes.end(), test);
  };
  control::Capabilities out = kSimulatedCapabilities;
  out.load = some([](const NodeGroup& group) { return !group.background.empty(); });
  out.gpus = some([](const NodeGroup& group) { return group.capacity.gpus > 0; });
  out.gang_gpus = out.gpus;
  return out;
}

std::vector<NodeJoined> World::nodes() {
  std::vector<NodeJoined> out;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    out.push_back(joined(id, nodes_[i].up ? group_of(id).capacity : Resources{0, 0, 1.0}));
  }
  return out;
}

std::vector<NodeGroup> nodes_of(const View& view) {
  std::vector<NodeGroup> out;
  for (const auto& node : view.nodes)
    if (node.capacity.cores > 0)
      out.push_back({.name = node.name, .type = node.type, .capacity = node.capacity, .traits = node.traits});
  return out;
}

// ---- decisions ----

void World::start(DecisionId id, const Start& d, const View& view) {
  if (const Attempted* there = attempt_of(d.task)) {
    if (there->number != d.attempt) refuse(id, "an earlier attempt of the task is still there");
    return;  // the same command again
  }
  std::vector<NodeId> all{d.node};
  all.insert(all.end(), d.more.begin(), d.more.end());
  if (const std::string why = why_not(all, d.granted); !why.empty()) return refuse(id, why);
  control::Holding holds;
  if (const std::string why = ledger_.start(holds, all, d.granted); !why.empty()) return refuse(id, why);
  const TaskView& task = view.tasks.at(static_cast<std::size_t>(d.task));
  Attempted& a = take_slot(d.task);
  a.number = d.attempt;
  a.holds = std::move(holds);
  for (const NodeId node : a.holds.nodes) sit_down(a, node);

  const ProgramRun run = run_of(a, view);
  a.program = programs_.start(run);
  a.epochs = run.epochs;
  a.counted_before = task.reported();
  // Without a checkpoint to go on from, it starts over and its new epochs supersede the old.
  a.last_epoch = a.program.keeps_checkpoints ? a.counted_before : 0;
  if (task.trial && task.trial->clone_epoch > 0 && !a.program.keeps_checkpoints &&
      a.program.cannot_start.empty())
    a.program.cannot_start = kNothingToCloneFrom;
  a.plain = run.spec.program.plain;
  a.stall_after = a.plain ? Seconds{std::numeric_limits<double>::infinity()} : run.spec.limits.stall;
  a.stall_at = now_ + a.stall_after;
  a.stretch_from = now_;
  prepare_epoch(a, view);
  say(TaskStarted{a.task, a.number, id, 0, 0, {}});
  begin(a, Doing::starting, a.program.startup);
}

void World::resize(DecisionId id, Attempted& a, const Resize& d, const View& view) {
  std::string why = why_not(a.holds.nodes, d.granted);
  const double progress = a.progress(now_);
  if (why.empty()) why = ledger_.resize(a.holds, d.granted);
  if (!why.empty()) return refuse(id, why);
  say(SystemChanged{a.task, a.number, id, d.granted});
  if (a.doing == Doing::starting || a.doing == Doing::saving || a.doing == Doing::training)
    prepare_epoch(a, view);
  if (a.doing == Doing::training) {
    a.done = std::min(progress, 1.0);
    a.doing_since = now_;
    plan(a, now_ + (1 - a.done) * a.epoch.seconds);
  }
  draw_power(a);
}

void World::go_on(Attempted& a, const Continue& d, const View& view) {
  // One that was to be resized first, and was not, waits on: the refusal is on its way.
  if (a.told_to_stop || d.epoch != a.last_epoch || a.holds.lent || a.doing != Doing::waiting) return;
  a.stretch_from = now_;
  a.stall_at = now_ + a.stall_after;
  prepare_epoch(a, view);
  if (a.checkpoint_asked)
    begin(a, Doing::saving, a.program.checkpoint);
  else
    go_on(a);
}

// Only a task that waits for an answer: one at work keeps its cores until it reports.
void World::hold(Attempted& a) {
  if (a.doing != Doing::waiting || a.told_to_stop) return;
  ledger_.lend_cores(a.holds);
}

void World::stop(Attempted& a) {
  if (a.told_to_stop) return;
  a.told_to_stop = true;
  // One that waits hears it with its answer, and with it that a checkpoint is asked for.
  if (a.doing == Doing::waiting && a.checkpoint_asked && a.program.checkpoint <= options_.grace)
    begin(a, Doing::saving, a.program.checkpoint);
  else
    begin(a, Doing::ending, std::min(a.program.ending, options_.grace));
}

// What it will do next, with what it has now; a view is at hand only while a decision is carried out.
void World::prepare_epoch(Attempted& a, const View& view) {
  if (a.plain || a.last_epoch < a.epochs)
    a.epoch = programs_.epoch(run_of(a, view), a.last_epoch + 1, a.first_report);
}

ProgramRun World::run_of(const Attempted& a, const View& view) const {
  const TaskView& task = view.tasks.at(static_cast<std::size_t>(a.task));
  const auto& job = view.jobs.at(static_cast<std::size_t>(task.job)).base();
  return {a.task,
          task.job,
          a.number,
          job,
          task.trial ? task.trial->hyper : job.hyper,
          task.trial ? task.trial->epochs : job.epochs,
          a.granted(),
          group_of(a.parts.front().node).type,
          static_cast<int>(a.parts.size()),
          task.drop};
}

// ---- after a crash ----

std::vector<Event> World::reconcile(const View& view) {
  for (const auto& [id, decision] : view.open)
    if (const auto* wake = std::get_if<Wake>(&decision.body)) wakes_.emplace(wake->at.value, id);
  for (const TaskId id : view.holding) {
    if (Attempted* a = attempt_of(id)) release(*a);
    say(TaskFailed{id,
                   view.tasks[static_cast<std::size_t>(id)].attempt,
                   Failure::lost,
                   "the simulation ended while it ran",
                   "",
                   {}});
  }
  return std::exchange(pending_, {});
}

// ---- small things ----

// Beside what the ledger says.
std::string World::why_not(const std::vector<NodeId>& nodes, const Resources& granted) const {
  if (!(granted.speed > 0) || !(granted.speed <= 1))
    return fmt::format("a speed of {:.0f} % cannot be set", granted.speed * 100);
  for (const NodeId id : nodes)
    if (ledger_.knows(id) && !nodes_[static_cast<std::size_t>(id)].up) return name_of(id) + " is down";
  return "";
}

const NodeGroup& World::group_of(NodeId id) const {
  return options_.nodes[nodes_[static_cast<std::size_t>(id)].group];
}

std::string World::name_of(NodeId id) const {
  const NodeGroup& group = group_of(id);
  return group.count == 1 ? group.name : fmt::format("{}-{}", group.name, id);
}

NodeJoined World::joined(NodeId id, const Resources& capacity) const {
  const auto& group = group_of(id);
  NodeTraits traits = group.traits;
  if (group.power) traits.idle = group.power->idle, traits.busy = group.power->busy;
  return {id, name_of(id), capacity, group.type, std::move(traits)};
}

Attempted* World::attempt_of(TaskId task) {
  const auto index = static_cast<std::size_t>(task);
  if (index >= slot_of_task_.size() || slot_of_task_[index] == kNoSlot) return nullptr;
  return &attempts_[slot_of_task_[index]];
}

Attempted* World::find(TaskId task, Attempt attempt) {
  Attempted* a = attempt_of(task);
  return a && a->number == attempt ? a : nullptr;
}

Attempted& World::take_slot(TaskId task) {
  const auto index = static_cast<std::size_t>(task);
  if (index >= slot_of_task_.size()) slot_of_task_.resize(index + 1, kNoSlot);
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<Slot>(attempts_.size()));
    attempts_.emplace_back();
  }
  const Slot slot = free_slots_.back();
  free_slots_.pop_back();
  slot_of_task_[index] = slot;
  ++alive_;
  attempts_[slot].task = task;
  return attempts_[slot];
}

void World::sit_down(Attempted& a, NodeId id) {
  Node& node = nodes_[static_cast<std::size_t>(id)];
  a.parts.push_back({id, static_cast<std::uint32_t>(node.tasks.size()), {}});
  node.tasks.push_back(slot_of(a));
}

void World::release(Attempted& a) {
  const Slot slot = slot_of(a);
  ledger_.end(a.holds);
  for (auto& part : a.parts) {
    Node& node = node_of(part);
    part.claim.rest(node.power, now_);
    const Slot last = node.tasks.back();
    node.tasks[part.place] = last;
    for (auto& moved : attempts_[last].parts)
      if (moved.node == part.node) moved.place = part.place;
    node.tasks.pop_back();
  }
  if (programs_next_.contains(slot)) programs_next_.erase(slot);
  slot_of_task_[static_cast<std::size_t>(a.task)] = kNoSlot;
  free_slots_.push_back(slot);
  --alive_;
  a = {};  // as it will be used again
}

void World::refuse(DecisionId id, const std::string& reason) {
  say(DecisionRefused{id, reason});
}

void World::say(EventBody body) {
  pending_.push_back({now_, std::move(body)});
}

}  // namespace tandem::sim
