// Malleability: a round in which tasks are started, resized and held so that what is asked for ends soonest.
// The rules are those of scheduler.h, 6.
//
// It looks at the nodes on which something changed since the last round, at the node that the first without
// room waited for, and at those that it puts somebody on; at no others. On a node where nothing changed those
// that wait for their answer still find no room.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "place/engine/live.h"
#include "place/engine/sizes.h"
#include "place/policy/unwanted.h"

namespace tandem::place {
namespace {

constexpr int kHeldAtLeast = 16;

bool shares_gpus(const Resources& resources) {
  return resources.gpu_memory > 0;
}

// In the pools GPUs that are shared count as free.
Amount part_of(const Resources& resources) {
  Amount out = amount_of(resources);
  if (shares_gpus(resources)) out.gpus = 0;
  return out;
}

}  // namespace

class Live::MalleableRound {
 public:
  explicit MalleableRound(Live& live)
      : live_(live), engine_(live.engine_), view_(*live.view_), pools_(live.own_.pools) {}

  void run() {
    refuse();
    look_where_it_changed();
    serve();
    for (auto& [at, node] : nodes_)
      if (!node.blocked && !is_pressed(at.first)) deal(at, node);
    carry_out();
    for (const auto& [at, node] : nodes_) evict(at, node);
  }

 private:
  using NodeKey = Engine::NodeKey;
  using Key = Engine::Key;
  // Somebody who waits, in the order they were asked.
  struct Member {
    const TaskView* task = nullptr;
    std::vector<Option> sizes{};
    NodeKey at{};
    std::optional<std::size_t> granted{};  // of its sizes
    std::optional<Start> start{};          // where it has no process yet

    const Resources& given() const { return sizes[*granted].resources; }
  };
  struct Node {
    std::map<Bytes, int> gpus{};  // held, by how much of a GPU's memory each needs; 0: all of it
    std::vector<Member*> granted{};
    bool blocked = false;    // somebody found no room: those behind it get none
    bool by_memory = false;  // there are cores: those that have their memory may go on
  };
  struct Free {
    int cores = 0;
    Bytes memory = 0;
  };

  const TaskView& task(std::uint32_t number) const { return live_.task(static_cast<TaskId>(number)); }
  const NodeView& node_at(const NodeKey& at) const {
    return view_.nodes[static_cast<std::size_t>(live_.cluster_.nodes[at.first][at.second])];
  }
  NodeKey place_of(const TaskView& task) const {
    const auto [type, index] = live_.cluster_.place[static_cast<std::size_t>(task.node)];
    return {type, index};
  }
  Key key_of(const TaskView& task) const {
    return {live_.order_key(task.id, {}), live_.second_key(task.id), static_cast<std::uint32_t>(task.id)};
  }
  bool waits_for_answer(const TaskView& task) const {
    return task.alive && task.state == TaskState::waiting && task.nodes_wanted == 1 &&
           !wanted_no_more(view_, task);
  }
  bool is_pressed(std::uint32_t type) const {
    return std::find(pressed_.begin(), pressed_.end(), type) != pressed_.end();
  }

  void refuse() {
    for (const TaskId id : live_.refused_)
      live_.out_.push_back(
          FinishJob{live_.task(id).job, JobState::failed,
                    fmt::format("it asks for {} nodes (system.nodes), and the cores of one machine "
                                "are dealt out here; `tandem submit` it to a server with so many",
                                live_.task(id).nodes_wanted)});
  }

  // ---- looking ----

  void look_where_it_changed() {
    auto changed = engine_.take_changed();
    if (live_.awaited_) changed.insert(*std::exchange(live_.awaited_, std::nullopt));
    for (const auto& at : changed) look_at(at);
  }

  // Those on it that wait for their answer are asked when their turn comes. Whose turn was before had no room
  // there, as nothing has changed.
  Node& look_at(const NodeKey& at) {
    const auto [found, fresh] = nodes_.try_emplace(at);
    Node& node = found->second;
    if (!fresh) return node;
    ++live_.nodes_looked_at_;
    std::optional<Key> before;
    for (const auto number : engine_.on_node(at)) {
      const TaskView& t = task(number);
      node.gpus[t.granted.gpu_memory] += t.gpus_held;
      if (!waits_for_answer(t)) continue;
      const Key key = key_of(t);
      if (!asked_last_ || *asked_last_ < key)
        answering_.insert(key);
      else
        before = std::min(before.value_or(key), key);
    }
    if (before) block(node, at, sizes_of(task(before->task)));
    return node;
  }

  // Free on its node as if it had been given nothing in this round.
  Free free_for(const Member& member) const {
    const Amount free = pools_[member.at.first].free_on(member.at.second);
    const Amount keep = live_.ranking_for(0).where(member.at.first).keep;
    Free left{static_cast<int>((free.milli_cores - keep.milli_cores) / 1000), free.memory - keep.memory};
    if (member.granted) {
      left.cores += member.given().cores - member.task->cores_held;
      left.memory += member.given().memory - member.task->memory_held;
    }
    return left;
  }

  // Whole ones, or places on those that are shared by tasks of this size: so many on each as its memory
  // holds. Beside tasks of another size a GPU counts as taken.
  static int free_gpus(const Node& node, const Resources& capacity, Bytes size) {
    const auto places = [&](Bytes of) { return of == 0 ? 1 : static_cast<int>(capacity.gpu_memory / of); };
    int own = 0, taken = 0;
    for (const auto& [other, gpus] : node.gpus) {
      if (other == size)
        taken += gpus;
      else if (other == 0 || size > 0)
        own += gpus;
      else if (places(other) > 0)
        own += (gpus + places(other) - 1) / places(other);
    }
    return (capacity.gpus - own) * places(size) - taken;
  }

  bool fits(const Member& member, std::size_t size) const {
    const Resources& asked = member.sizes[size].resources;
    const Free left = free_for(member);
    if (asked.cores > left.cores || asked.memory - member.task->memory_held > left.memory) return false;
    if (!pools_[member.at.first].is_up(member.at.second)) return false;
    const int given = member.granted ? member.given().gpus - member.task->gpus_held : 0;
    return asked.gpus - member.task->gpus_held <=
           free_gpus(nodes_.at(member.at), node_at(member.at).capacity, asked.gpu_memory) + given;
  }

  // ---- serving ----

  void serve() {
    while (true) {
      const auto fresh = blocked_ ? std::nullopt : engine_.first();
      if (!fresh && answering_.empty()) return;
      if (!fresh || (!answering_.empty() && *answering_.begin() < *fresh))
        answer(answering_.extract(answering_.begin()).value());
      else if (!start(*fresh))
        block_all_behind(*fresh);
    }
  }

  void answer(const Key& key) {
    asked_last_ = key;
    const TaskView& t = task(key.task);
    Member& member = members_.emplace_back(Member{&t, sizes_of(t), place_of(t)});
    Node& node = nodes_.at(member.at);
    if (node.blocked && !node.by_memory) return;
    for (const std::size_t size : modest_sizes(member.sizes))
      if (fits(member, size)) {
        give(member, size);
        return node.granted.push_back(&member);
      }
    block(node, member.at, member.sizes);
  }

  bool start(const Key& key) {
    asked_last_ = key;
    const TaskView& t = task(key.task);
    if (!live_.resizes(t)) return start_as_it_is(t);
    Member member{&t, sizes_of(t)};
    const auto types = live_.ranked(key.task);
    for (const std::size_t size : modest_sizes(member.sizes))
      for (const auto type : types) {
        const auto index = find_node(member, size, type);
        if (!index) continue;
        const Placed place{type, Share{*index, 1, 0}};
        member.start = live_.start_of(t.id, {&place, 1}, {});
        Member& kept = members_.emplace_back(std::move(member));
        nodes_.at(kept.at).granted.push_back(&kept);
        engine_.wait_no_more(key.task);
        give(kept, size);
        return true;
      }
    return false;
  }

  // A gang: where the engine puts it.
  bool start_as_it_is(const TaskView& t) {
    if (!engine_.start_first(view_.now.value)) return false;
    members_.emplace_back(Member{&t}).start = std::get<Start>(std::move(live_.out_.back()));
    live_.out_.pop_back();
    return true;
  }

  std::optional<std::uint32_t> find_node(Member& member, std::size_t size, std::uint32_t type) {
    Pool& pool = pools_[type];
    const Resources& asked = member.sizes[size].resources;
    Amount part = amount_of(asked);
    if (shares_gpus(asked)) part.gpus = std::min(part.gpus, 1);
    const Where rule = live_.where(static_cast<std::uint32_t>(member.task->id), type);
    std::vector<std::uint32_t> passed_over;
    std::optional<std::uint32_t> found;
    while ((found = pool.node_for(part, rule))) {
      member.at = {type, *found};
      if (!look_at(member.at).blocked && fits(member, size)) break;
      pool.set_up(*found, false);
      passed_over.push_back(*found);
    }
    for (const auto node : passed_over) pool.set_up(node, true);
    return found;
  }

  void give(Member& member, std::size_t size) {
    auto& gpus = nodes_.at(member.at).gpus;
    const int had = member.granted ? member.given().gpus : member.task->gpus_held;
    member.granted = size;
    gpus[member.given().gpu_memory] += member.given().gpus - had;
    Engine::Holding holding{part_of(member.given()),
                            {{member.at.first, Share{member.at.second, 1, 0}}},
                            live_.priority(member.task->id),
                            member.task->started_at.value};
    engine_.hold(static_cast<std::uint32_t>(member.task->id), std::move(holding));
  }

  // ---- nothing free ----

  void block(Node& node, const NodeKey& at, const std::vector<Option>& sizes) {
    if (std::exchange(node.blocked, true)) return;
    node.by_memory = has_cores(at, sizes);
  }
  bool has_cores(const NodeKey& at, const std::vector<Option>& sizes) const {
    const Pool& pool = pools_[at.first];
    return pool.is_up(at.second) &&
           least_cores(sizes) * std::int64_t{1000} <= pool.free_on(at.second).milli_cores;
  }

  // Nobody who comes after it starts. Who is at work goes on with little wherever it might start, and on the
  // node that it waits for not at all.
  void block_all_behind(const Key& key) {
    blocked_ = true;
    pressed_ = engine_.types_of_line(live_.line_of(static_cast<TaskId>(key.task)).number);
    const auto sizes = sizes_of(task(key.task));
    live_.awaited_ = worth_waiting_for(sizes);
    if (live_.awaited_) block(look_at(*live_.awaited_), *live_.awaited_, sizes);
  }

  // One that has the cores, where somebody who is held can make room; or the one with most free cores.
  std::optional<NodeKey> worth_waiting_for(const std::vector<Option>& sizes) const {
    for (const auto type : pressed_)
      for (const auto number : engine_.some_held(type))
        if (const auto at = place_of(task(number)); has_cores(at, sizes)) return at;
    std::optional<NodeKey> best;
    std::int64_t most = -1;
    for (const auto type : pressed_) {
      const auto node = pools_[type].node_for({}, {.rule = NodeRule::most_free});
      if (!node || pools_[type].free_on(*node).milli_cores <= most) continue;
      best = {type, *node};
      most = pools_[type].free_on(*node).milli_cores;
    }
    return best;
  }

  // ---- shares ----

  // Nobody waits for this node in vain, so cores may be left: it is dealt out among all who are on it, and
  // those who waited get what their share is, as far as it is free now.
  void deal(const NodeKey& at, Node& node) {
    if (node.granted.empty()) return;
    std::deque<Member> at_work;
    int cores = free_for(*node.granted.front()).cores;
    for (const auto number : engine_.on_node(at)) {
      const TaskView& t = task(number);
      if (t.cores_held == 0 || t.state == TaskState::stopping || t.nodes_wanted > 1) continue;
      if (wanted_no_more(view_, t)) continue;
      at_work.push_back({&t, sizes_of(t), at});
      cores += t.cores_held;
    }
    std::vector<Sharer> sharers;
    for (const auto& member : at_work) sharers.push_back({&member.sizes, member.task->epochs_left});
    for (const auto* member : node.granted) sharers.push_back({&member->sizes, member->task->epochs_left});
    for (std::size_t i = 1; i < node.granted.size(); ++i) cores += node.granted[i]->given().cores;
    const auto share = deal_cores(sharers, cores);
    for (std::size_t i = 0; i < node.granted.size(); ++i) grow(*node.granted[i], share[at_work.size() + i]);
    std::vector<Claim> claims;
    for (std::size_t i = 0; i < at_work.size(); ++i) {
      const int more = at_work[i].sizes[share[i]].resources.cores - at_work[i].task->cores_held;
      if (more > 0) claims.push_back({more, until_report(at_work[i])});
    }
    for (auto* member : node.granted)
      if (member->task->alive) borrow(*member, claims);  // who starts up first takes longer than an epoch
  }

  // As much of the share as is free now.
  void grow(Member& member, std::size_t share) {
    std::size_t best = *member.granted;
    for (std::size_t i = 0; i < member.sizes.size(); ++i)
      if (member.sizes[i].resources.cores <= member.sizes[share].resources.cores && fits(member, i) &&
          member.sizes[i].seconds < kWorthIt * member.sizes[best].seconds)
        best = i;
    give(member, best);
  }

  // Cores that those at work will want when they report would idle until then: they are lent for an epoch
  // that is over before.
  struct Claim {
    int cores = 0;
    double in = 0;  // seconds
  };
  void borrow(Member& member, const std::vector<Claim>& claims) {
    const int free = free_for(member).cores;
    std::size_t best = *member.granted;
    for (std::size_t i = 0; i < member.sizes.size(); ++i) {
      const auto& [resources, seconds] = member.sizes[i];
      if (!fits(member, i) || seconds >= kWorthIt * member.sizes[best].seconds) continue;
      int claimed = 0;
      for (const auto& claim : claims) claimed += claim.in < seconds ? claim.cores : 0;
      if (resources.cores + claimed <= free) best = i;
    }
    give(member, best);
  }

  // As far as what it told of its epochs goes. One that is late is expected to take as long again as it is
  // late: it may be starting up.
  double until_report(const Member& member) const {
    const TaskView& t = *member.task;
    double epoch = 0;
    for (const auto& size : member.sizes)
      if (size.resources.cores == t.granted.cores) epoch = size.seconds;
    return std::abs((std::max(t.requested_at, t.started_at) - view_.now).value + epoch);
  }

  // ---- deciding ----

  // What sets cores free comes before what takes them, and new ones start before others go on: a clone copies
  // what its parent has on disk now.
  void carry_out() {
    auto& out = live_.out_;
    for (const auto& m : members_)
      if (m.task->alive && !m.granted && !m.task->parked) out.push_back(Hold{m.task->id, m.task->attempt});
    resize(true);
    for (auto& m : members_) {
      if (!m.start) continue;
      if (m.granted) m.start->granted = m.given();
      out.push_back(std::move(*m.start));
    }
    resize(false);
    for (const auto& m : members_)
      if (m.task->alive && m.granted)
        out.push_back(Continue{m.task->id, m.task->attempt, m.task->reported()});
  }

  void resize(bool shrinking) {
    for (const auto& m : members_) {
      if (!m.granted || !m.task->alive) continue;
      const auto& t = *m.task;
      const bool shrinks =
          !t.parked && m.given().cores <= t.granted.cores && m.given().memory <= t.memory_held;
      if (shrinks == shrinking && (t.parked || !(m.given() == t.granted)))
        live_.out_.push_back(Resize{t.id, t.attempt, m.given()});
    }
  }

  // Of those held by their controllers the one of the lowest priority, and of equals who has waited longest.
  void evict(const NodeKey& at, const Node& node) {
    const TaskView* victim = nullptr;
    int held = 0;
    for (const auto number : engine_.on_node(at)) {
      const TaskView& t = task(number);
      if (t.state == TaskState::stopping) return;  // what it holds is on its way
      if (t.state != TaskState::held || wanted_no_more(view_, t)) continue;
      ++held;
      if (!victim || t.priority < victim->priority ||
          (t.priority == victim->priority && t.epochs.back().at < victim->epochs.back().at))
        victim = &t;
    }
    const int limit =
        std::max(kHeldAtLeast, live_.policy_.malleable->held_a_core * node_at(at).capacity.cores);
    if (victim && (held > limit || node.by_memory))
      live_.out_.push_back(Stop{victim->id, victim->attempt, "held, and its memory is needed by others"});
  }

  Live& live_;
  Engine& engine_;
  const View& view_;
  std::vector<Pool>& pools_;
  std::map<NodeKey, Node> nodes_;  // that it looked at
  std::set<Key> answering_;        // have a process, and wait for their answer: not asked yet
  std::optional<Key> asked_last_;
  std::deque<Member> members_;
  bool blocked_ = false;                // by one that waits to start
  std::vector<std::uint32_t> pressed_;  // types it may use
};

void Live::resize_and_serve() {
  go_on();
  MalleableRound(*this).run();
}

}  // namespace tandem::place
