// How the live host keeps in step with the view.
#include <fmt/format.h>

#include <algorithm>

#include "place/engine/live.h"
#include "place/policy/unwanted.h"

namespace tandem::place {

void Live::follow(const View& view, const std::string* learnt) {
  const bool another = view_ != &view;
  view_ = &view;
  if (another || !exact_ || seen_ < view.touched_before || seen_ > view.touched_in_all()) {
    if (learnt) ++version_;
    return make_anew();
  }
  const auto first = static_cast<std::size_t>(seen_ - view.touched_before);
  seen_ = view.touched_in_all();
  std::set<TaskId> tasks;  // by number: as they would be looked at anew
  for (std::size_t i = first; i < view.touched.size(); ++i) {
    const auto [what, id] = view.touched[i];
    if (what == Touched::What::node) follow_node(static_cast<NodeId>(id));
    if (what == Touched::What::task) tasks.insert(static_cast<TaskId>(id));
    if (what == Touched::What::job && view.jobs.contains(id))
      for (const TaskId task : view.jobs[static_cast<std::size_t>(id)].tasks) tasks.insert(task);
    if (!exact_) return make_anew();
  }
  for (const TaskId id : tasks)
    if (view.tasks.contains(id))
      follow_task(id);
    else
      forget_task(id);
  if (learnt) follow_family(*learnt);
  if (!exact_ || lines_.size() > kMostLines + 2 * view.waiting.size()) make_anew();
}

void Live::make_anew() {
  own_ = empty_cluster_of(*view_);
  engine_.reset();
  lines_.clear(), by_key_.clear(), shapes_.clear(), line_of_task_.clear();
  unwanted_.clear(), answering_.clear(), refused_.clear(), families_.clear();
  awaited_.reset();
  forget_types();
  ++version_;
  exact_ = true;
  seen_ = view_->touched_in_all();
  for (const TaskId id : view_->holding) follow_task(id);
  for (const TaskId id : view_->waiting)
    if (!task(id).alive) follow_task(id);
  for (const auto& node : view_->nodes) {
    const auto [type, index] = cluster_.place[static_cast<std::size_t>(node.id)];
    engine_.set_up(type, index, node.capacity.cores > 0);
  }
}

// A node that is new, up or down. One that became another makes everything anew.
void Live::follow_node(NodeId id) {
  const auto& node = view_->nodes[static_cast<std::size_t>(id)];
  if (static_cast<std::size_t>(id) == own_.place.size() && engine_.waiting() == 0) {
    const bool new_type = own_.add(node);
    if (new_type) forget_types();
    if (new_type && !view_->holding.empty()) exact_ = false;  // what is expected of those may differ
    forget_lines();
  } else if (static_cast<std::size_t>(id) >= own_.place.size() || !own_.is_still(node)) {
    exact_ = false;
    return;
  }
  const auto [type, index] = own_.place[static_cast<std::size_t>(id)];
  engine_.set_up(type, index, node.capacity.cores > 0);
}

void Live::follow_task(TaskId id) {
  const auto& t = task(id);
  const auto number = static_cast<std::uint32_t>(id);
  const bool unwanted = wanted_no_more(*view_, t), waits = t.state == TaskState::waiting;
  if (t.alive) {
    Engine::Holding held{held_by(t), {}, priority(id), t.started_at.value};
    t.each_node([&](NodeId node) {
      const auto [type, index] = cluster_.place[static_cast<std::size_t>(node)];
      held.places.push_back({type, Share{index, 1, 0}});
    });
    if (t.state == TaskState::stopping || unwanted)
      held.standing = Engine::Standing::stopping;
    else if (t.state == TaskState::held)
      held.standing = Engine::Standing::held;
    if (policy_.backfill) {
      held.beginning = t.state == TaskState::starting;
      held.ends = (held.beginning ? 0 : t.started_at.value) + seconds(id, cluster_.type_of(t));
    }
    exact_ = engine_.hold(number, std::move(held)) && exact_;
  } else {
    engine_.release(number);
  }
  if (t.alive && unwanted && t.state != TaskState::stopping)
    unwanted_.insert(id);
  else
    unwanted_.erase(id);
  if (t.alive && waits && !unwanted && !resizes(t))
    answering_.insert(id);
  else
    answering_.erase(id);
  const bool refused = waits && !unwanted && policy_.malleable && t.nodes_wanted > 1 && is_one_machine();
  if (refused)
    refused_.insert(id);
  else
    refused_.erase(id);
  note_family(id, t.alive || (waits && !unwanted));
  if (!waits || t.alive || unwanted || refused) return engine_.wait_no_more(number);
  const auto line = find_line(id).number;
  engine_.wait(number, line, order_key(id, engine_.types_of_line(line)), second_key(id), priority(id));
}

void Live::forget_task(TaskId id) {
  const auto number = static_cast<std::uint32_t>(id);
  if (engine_.waits(number) || engine_.holding(number)) {
    engine_.release(number);
    engine_.wait_no_more(number);
    unwanted_.erase(id), answering_.erase(id), refused_.erase(id);
    for (auto& [name, family] : families_) family.tasks.erase(id);
  }
  engine_.forget(number);
  line_of_task_.forget(number);
}

// What was learnt changes what is expected of the family's tasks: where they stand in the queue, or end.
void Live::follow_family(const std::string& name) {
  const auto found = families_.find(name);
  if (found == families_.end()) return;
  for (const auto line : found->second.lines) lines_[line].version = 0;
  const auto tasks = found->second.tasks;
  for (const TaskId id : tasks) follow_task(id);
}

void Live::note_family(TaskId id, bool matters) {
  const auto& name = job(id).base().place.family;
  if (name.empty() || !(policy_.order->by_time || policy_.backfill)) return;
  if (matters)
    families_[name].tasks.insert(id);
  else if (const auto found = families_.find(name); found != families_.end())
    found->second.tasks.erase(id);
}

// Nobody waits.
void Live::forget_lines() {
  engine_.forget_lines();
  lines_.clear(), by_key_.clear(), shapes_.clear(), line_of_task_.clear();
  for (auto& [name, family] : families_) family.lines.clear();
  ++version_;
}

// Which it waits in; made where it is the first of its kind.
Live::Line& Live::find_line(TaskId id) {
  const auto& t = task(id);
  const auto& place = job(id).base().place;
  const Resources asked = asked_of(id);
  // What room it asks for; then what it does with it.
  LineKey key{asked.cores,
              asked.memory,
              asked.speed,
              asked.gpus,
              asked.gpu_power.value,
              asked.gpu_clock,
              static_cast<int>(asked.precision),
              t.nodes_wanted,
              place.architecture,
              place.accelerator,
              place.labels,
              0,
              policy_.infra ? place.bandwidth : 0,
              policy_.infra ? place.family : "",
              0,
              0,
              0};
  const LineKey shape_key = key;
  std::get<11>(key) = priority(id);
  std::get<12>(key) = place.bandwidth;
  std::get<13>(key) = place.family;
  std::get<14>(key) = place.work;
  std::get<15>(key) = place.seconds ? place.seconds->value : -1;
  std::get<16>(key) = place.energy_weight.value_or(-1);
  const auto [found, fresh] = by_key_.try_emplace(std::move(key), static_cast<std::uint32_t>(lines_.size()));
  line_of_task_.make(static_cast<std::uint32_t>(id)) = found->second;
  if (!fresh) return lines_[found->second];
  Line& line = lines_.emplace_back();
  line.needs = needs_of(id);
  const auto [shape, fresh_shape] = shapes_.try_emplace(shape_key, 0);
  if (fresh_shape)
    shape->second = engine_.add_shape(line.needs, ranking_for(0).allowed(line.needs, all_types_));
  line.number = engine_.add_line(shape->second);
  if (!place.family.empty()) families_[place.family].lines.push_back(found->second);
  return line;
}

// The order of types does not depend on what is free, nor on which task of a line it is.
bool Live::order_is_fixed() const {
  if (policy_.heats) return !policy_.heats->random_h;
  return policy_.kit->weighers.empty() && policy_.kit->nodes != NodeRule::random;
}

Live::Line& Live::line_known(TaskId id) {
  Line& line = line_of(id);
  if (line.version == version_) return line;
  line.version = version_;
  line.h = weight(id);
  line.expected.clear();
  for (const auto type : all_types_)
    line.expected.push_back(experience_.expect(*view_, task(id), cluster_, type));
  line.order = engine_.types_of_line(line.number);
  if (policy_.heats) {
    line.scores =
        ranking_for(line.h).scores(static_cast<std::uint32_t>(id), engine_.types_of_line(line.number));
    line.order.clear();
    for (const auto& scored : line.scores) line.order.push_back(scored.type);
  } else {
    std::stable_sort(line.order.begin(), line.order.end(),
                     [&](auto a, auto b) { return line.expected[a].seconds < line.expected[b].seconds; });
  }
  return line;
}

std::string Live::check() {
  Live anew(policy_, seed_, {experience_, classes_});
  anew.follow(*view_, nullptr);
  if (own_.types.size() != anew.own_.types.size()) return "machine types";
  for (std::uint32_t type = 0; type < own_.types.size(); ++type)
    for (std::uint32_t node = 0; node < own_.nodes[type].size(); ++node) {
      const Pool &kept = own_.pools[type], &made = anew.own_.pools[type];
      if (own_.nodes[type][node] != anew.own_.nodes[type][node] || kept.is_up(node) != made.is_up(node) ||
          !(kept.free_on(node) == made.free_on(node)))
        return fmt::format("node {} of {}: {} free instead of {}", node, own_.types[type].name,
                           text(kept.free_on(node)), text(made.free_on(node)));
    }
  if (unwanted_ != anew.unwanted_ || answering_ != anew.answering_) return "who has a process";
  if (engine_.waiting() != anew.engine_.waiting()) return "how many wait";
  for (const auto& t : view_->tasks)
    if (const auto difference = engine_.differs(anew.engine_, static_cast<std::uint32_t>(t.id));
        !difference.empty())
      return fmt::format("task {}: {}", t.id, difference);
  return "";
}

}  // namespace tandem::place
