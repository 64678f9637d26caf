#include "place/engine/scheduler_explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

#include "base/text.h"
#include "place/policy/unwanted.h"

namespace tandem::place {
namespace {

// "1 GPU asked for, 0 of 2 free": what stands in the way; "" where nothing does.
std::string what_is_short(const Amount& asked, const Amount& free, const Amount& all) {
  std::vector<std::string> out;
  const auto cores = [](const Amount& amount) { return static_cast<double>(amount.milli_cores) / 1000; };
  if (free.milli_cores < asked.milli_cores)
    out.push_back(fmt::format("{:g} core{} asked for, {:g} of {:g} free", cores(asked),
                              asked.milli_cores == 1000 ? "" : "s", cores(free), cores(all)));
  if (free.memory < asked.memory)
    out.push_back(fmt::format("{} asked for, {} of {} free", text_bytes(asked.memory),
                              text_bytes(free.memory), text_bytes(all.memory)));
  if (free.gpus < asked.gpus)
    out.push_back(fmt::format("{} GPU{} asked for, {} of {} free", asked.gpus, asked.gpus == 1 ? "" : "s",
                              free.gpus, all.gpus));
  return join(out, "; ");
}

}  // namespace

Explainer::Explainer(const place::Policy& policy, std::uint64_t seed, const Learnt& learnt, const View& view,
                     const Cluster& cluster)
    : PlacementContext(policy, seed, learnt, &view, cluster) {}

std::vector<TaskId> Explainer::in_order() {
  using Key = std::tuple<double, double, TaskId>;
  std::vector<Key> keys;
  for (const TaskId id : view_->waiting) {
    const auto& t = task(id);
    if ((t.alive && !policy_.malleable) || wanted_no_more(*view_, t)) continue;
    const auto types =
        policy_.order->by_time ? ranking(id).allowed(needs_of(id), all_types_) : std::vector<std::uint32_t>{};
    keys.emplace_back(order_key(id, types), second_key(id), id);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<TaskId> out;
  for (const auto& key : keys) out.push_back(std::get<TaskId>(key));
  return out;
}

// Those that have room in the order they are tried, then those it may use that have none now: weighers rank
// only those that have.
std::vector<std::uint32_t> Explainer::all_ranked(TaskId id, const TaskRequirements& needs) {
  auto out = ranked(id, needs);
  for (const auto type : ranking(id).allowed(needs, all_types_))
    if (std::find(out.begin(), out.end(), type) == out.end()) out.push_back(type);
  return out;
}

std::vector<Consideration> Explainer::consider_types(TaskId id, const TaskRequirements& needs) {
  std::vector<Consideration> out;
  for (const auto& row :
       ranking(id).explain(static_cast<std::uint32_t>(id), needs, all_types_, cluster_.pools)) {
    const auto& type = cluster_.types[row.type];
    Consideration c{type.name,
                    type.count,
                    0,
                    row.refused,
                    row.score,
                    row.why,
                    experience_.expect(*view_, task(id), cluster_, row.type)};
    for (const NodeId node : cluster_.nodes[row.type])
      c.up += view_->nodes[static_cast<std::size_t>(node)].capacity.cores > 0;
    const bool part_fits = Pool::could_ever(type.node, type.count, needs.part, 1);
    if (!part_fits)
      c.refused = fmt::format("{} asked for, a node has {}", text(needs.part), text(type.node));
    else if (!Pool::could_ever(type.node, type.count, needs.part, needs.parts, needs.apart))
      c.refused = fmt::format("{} nodes asked for, there are {}", needs.parts, type.count);
    c.passes = c.refused == kNoRoom;
    if (c.passes) c.why = shortage(needs, row.type);
    out.push_back(std::move(c));
  }
  return out;
}

// Of what no node of the type has enough now.
std::string Explainer::shortage(const TaskRequirements& needs, std::uint32_t type) const {
  Amount most;  // free on any of them
  for (std::uint32_t index = 0; index < cluster_.nodes[type].size(); ++index) {
    const NodeId node = cluster_.nodes[type][index];
    if (view_->nodes[static_cast<std::size_t>(node)].capacity.cores == 0) continue;
    const Amount free = cluster_.pools[type].free_on(index);
    most.milli_cores = std::max(most.milli_cores, free.milli_cores);
    most.memory = std::max(most.memory, free.memory);
    most.gpus = std::max(most.gpus, free.gpus);
  }
  return what_is_short(needs.part, most, cluster_.types[type].node);
}

// Types that a filter refuses, whatever was observed; of the others each node, those admitted first.
std::vector<Consideration> Explainer::consider_nodes(TaskId id, const TaskRequirements& needs) {
  const auto types = ranking(id).allowed(needs, all_types_);
  const auto nodes = judged(id);
  const auto order = admitted(nodes, policy_.infra->pick.readmit);
  bool any_fit = false;  // with room
  std::vector<Consideration> out, refused;
  const auto consider = [&](const Judgement& node, bool admissible) {
    const auto [type, index] = cluster_.place[static_cast<std::size_t>(node_called(node.host))];
    if (std::find(types.begin(), types.end(), type) == types.end()) return;
    Consideration c{.type = node.host, .nodes = 1, .up = 1, .score = node.score};
    c.expected = experience_.expect(*view_, task(id), cluster_, type);
    const Share here{index, 1, 0};
    const bool room = Pool(cluster_.pools[type]).take_there(needs.part, {&here, 1});
    const std::string said = node.why.empty() ? "" : fmt::format("{}: {}", name(node.standing), node.why);
    any_fit |= room && node.standing == Standing::fit;
    c.passes = node.standing != Standing::lacks;
    c.refused = !admissible || (any_fit && !said.empty()) ? said : room ? "" : kNoRoom;
    if (c.refused == kNoRoom)
      c.why = what_is_short(needs.part, cluster_.pools[type].free_on(index), cluster_.types[type].node);
    if (c.refused.empty() && !said.empty())
      c.why = fmt::format("no node is fit, so it may be used ({})", said);
    (c.refused.empty() ? out : refused).push_back(std::move(c));
  };
  for (const std::size_t place : order) consider(nodes[place], true);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (std::find(order.begin(), order.end(), i) == order.end()) consider(nodes[i], false);
  out.insert(out.end(), refused.begin(), refused.end());
  for (auto& type : consider_types(id, needs)) {
    const auto is_it = [&](std::uint32_t t) { return cluster_.types[t].name == type.type; };
    if (type.up == 0 || std::none_of(types.begin(), types.end(), is_it)) out.push_back(std::move(type));
  }
  return out;
}

Explanation Explainer::explain(TaskId id) {
  Explanation out;
  out.policy = policy_.name;
  if (policy_.heats) out.energy_weight = weight(id);
  const auto needs = needs_of(id);
  out.types = policy_.infra ? consider_nodes(id, needs) : consider_types(id, needs);
  const auto line = in_order();
  const auto place = std::find(line.begin(), line.end(), id);
  out.ahead = place == line.end() ? 0 : static_cast<int>(place - line.begin());
  if (place != line.end()) conclude(id, out);
  return out;
}

void Explainer::conclude(TaskId id, Explanation& out) {
  const auto any = [&](auto test) { return std::any_of(out.types.begin(), out.types.end(), test); };
  const bool can = any([](const Consideration& c) { return c.refused.empty(); });
  const bool full = any([](const Consideration& c) { return c.refused == kNoRoom; });
  if (!can && !any([](const Consideration& c) { return c.passes; })) {
    out.verdict = "no machine here can ever run it: change what it asks for, or add such a machine";
    return;
  }
  out.verdict = can    ? "there is room for it; it is behind others, or starts with the next event"
                : full ? "no machine that it may use has room now"
                       : "no node is fit for it now; it waits until one is seen to be";
  if (policy_.malleable) return conclude_malleable(id, out);
  looked_too_far_ = out.ahead >= kMostTries;
  if ((can || full) && !looked_too_far_) out.expected_start = expected_start(id);
  out.start_note = out.expected_start ? "from the run times expected of those before it"
                   : looked_too_far_  ? "too many are before it to tell when"
                   : can || full      ? "the run time of somebody before it is not known (place.takes)"
                                      : "what others do on the nodes is not known before it is seen";
}

void Explainer::conclude_malleable(TaskId id, Explanation& out) {
  const auto& t = task(id);
  if (t.alive)
    out.verdict = fmt::format("it is held on {}, where its memory is, until cores come free there",
                              view_->nodes[static_cast<std::size_t>(t.node)].name);
  else if (out.ahead > 0)
    out.verdict = "those before it are served first; the first that finds no room lets nobody pass";
  out.start_note = "tasks get more or fewer cores whenever they report, so nobody can tell when";
}

std::optional<Seconds> Explainer::expected_start(TaskId id) {
  auto later = cluster_;
  using End = std::pair<double, std::function<void()>>;
  const auto by_time = [](const End& a, const End& b) { return a.first > b.first; };
  std::priority_queue<End, std::vector<End>, decltype(by_time)> ends(by_time);
  const auto known = [&](TaskId t, std::uint32_t type) {
    return experience_.expect(*view_, task(t), cluster_, type).from != Expected::From::nothing;
  };
  for (const TaskId other : view_->holding) {
    if (!known(other, cluster_.type_of(task(other)))) return std::nullopt;
    ends.emplace(left(other), [&later, this, other] { later.give_back(task(other)); });
  }
  auto line = in_order();
  int tries = 0;
  for (double now = 0;;) {
    for (auto next = line.begin(); next != line.end();) {
      if (looked_too_far_ = ++tries > kMostTries; looked_too_far_) return std::nullopt;
      const auto needs = requirements_of(*view_, task(*next));
      std::vector<Share> taken;
      std::optional<std::uint32_t> type;
      for (const auto candidate : all_ranked(*next, needs))
        if (later.pools[candidate].take(needs.part, needs.parts, taken,
                                        ranking(*next).where(candidate, needs.apart))) {
          type = candidate;
          break;
        }
      if (!type && policy_.order->blocks) break;
      if (!type) {
        ++next;
        continue;
      }
      if (*next == id) return view_->now + Seconds{now};
      if (!known(*next, *type)) return std::nullopt;
      ends.emplace(now + seconds(*next, *type), [&later, type = *type, part = needs.part, taken] {
        for (const Share& share : taken) later.pools[type].give_back(part, share);
      });
      next = line.erase(next);
    }
    if (ends.empty()) return std::nullopt;
    now = ends.top().first;
    ends.top().second();
    ends.pop();
  }
}

}  // namespace tandem::place
