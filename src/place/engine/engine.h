// The placement engine: who of those that wait starts now, and where; who makes room for whom; who moves.
//
// One engine for the live scheduler (live.h) and the simulator's trace level (sim/trace/replay_run.h). The
// host says what happens (somebody waits, holds room, is gone) and asks the engine to serve the queue; the
// engine calls the host back with what follows: start this there, stop that. What it knows is kept from event
// to event:
//   - tasks that ask the same of nodes are of one shape; those of a shape that are alike in all else wait in
//     one line, in the order of the policy. A shape for which there is no room is closed, and looked at again
//     only when room came free that could do for it. So an event costs as much as there are shapes it
//     concerns, however many tasks wait and run on however many nodes;
//   - those that run, by when they are expected to end (backfill) and by who would have to go first
//     (preemption); those that are being stopped, by node.
// Rules of a round (`serve`), in order: first the lines' firsts in the policy's order; whoever finds room
// starts. Where some may go (the policy preempts, or somebody is held), one that finds none waits for room
// that is on its way, or has it made: of lower priority the lowest, and of equals who began last, no more
// than it needs; the held go first, under every policy. Where the policy blocks, the first without room ends
// the round; where it backfills, others pass only if they end before that one can start, or leave it its
// place.
//
// Pools belong to the host, and change only through the engine. One owner; deterministic; pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "place/engine/by_task.h"
#include "place/policy/policies.h"

namespace tandem::place {

// Where a task is: its share of a node, and the pool that node is in.
struct Placed {
  std::uint32_t type = 0;
  Share share{};
};
bool operator==(const Placed&, const Placed&);

// Why a task is to be stopped: room for another, or a better place for itself.
struct StopCause {
  std::optional<std::uint32_t> room_for{};  // the task
  bool was_held = false;
};

struct Lasts {
  double seconds = 0;
  bool known = true;  // or a guess, on which nobody passes others
};

class EngineHost {
 public:
  virtual ~EngineHost() = default;
  // Types in the order in which they should be tried for the task; those without room may be missing.
  virtual const std::vector<std::uint32_t>& ranked(std::uint32_t task) = 0;
  // By which rule a node of it is taken; after `ranked` for the same task.
  virtual Where where(std::uint32_t task, std::uint32_t type) = 0;
  // How long it will take there, where the policy backfills.
  virtual Lasts lasts(std::uint32_t task, std::uint32_t type, std::span<const Share> shares) = 0;
  // Its time counts from its start; otherwise from when the host says that it has begun (Holding::beginning).
  virtual bool begins_at_once() const { return false; }
  // Policies that choose nodes themselves: room for all parts of it, not taken yet; none: there is none.
  virtual bool chooses_nodes() const { return false; }
  virtual std::optional<std::vector<Placed>> choose(std::uint32_t /*task*/) { return std::nullopt; }
  virtual void start(std::uint32_t task, std::span<const Placed>) = 0;
  virtual void stop(std::uint32_t task, const StopCause&) = 0;
};

class Engine {
 public:
  // A place in the queue: by the policy's key, then by a second one of the host's.
  struct Key {
    double key = 0, asked = 0;
    std::uint32_t task = 0;
    auto operator<=>(const Key&) const = default;
  };
  using NodeKey = std::pair<std::uint32_t, std::uint32_t>;  // type, node
  enum class Standing : std::uint8_t { runs, held, stopping };
  // A task that has a process, or is about to.
  struct Holding {
    Amount part{};
    std::vector<Placed> places{};
    int priority = 0;
    double begun = 0;
    Standing standing = Standing::runs;
    double ends = 0;         // where the policy backfills: when, as expected
    bool beginning = false;  // not begun yet: `ends` is counted from now, whenever that is
  };

  // `most_cleared`: for so many priorities it keeps what would be free if all below were gone. A matter of
  // speed alone.
  Engine(const Policy&, std::vector<Pool>& pools, EngineHost&, std::size_t most_cleared = 8);

  // What tasks ask of nodes, and the types they may use. The requirements must outlive the engine, or its
  // next `reset`.
  std::uint32_t add_shape(const TaskRequirements&, std::vector<std::uint32_t> types);
  std::uint32_t add_line(std::uint32_t shape);
  const std::vector<std::uint32_t>& types_of_line(std::uint32_t line) const {
    return shapes_[lines_[line].shape].types;
  }
  // Forgets everything; the host has made the pools anew.
  void reset();

  void wait(std::uint32_t task, std::uint32_t line, double key, double asked, int priority);
  void wait_no_more(std::uint32_t task);
  bool waits(std::uint32_t task) const { return tasks_.contains(task) && tasks_[task].waiting; }
  std::size_t waiting() const { return waiting_; }
  // The task will not be heard of again: it neither waits nor holds anything.
  void forget(std::uint32_t task) { tasks_.forget(task); }
  std::size_t room_for_tasks() const { return tasks_.room(); }  // in memory. For tests

  // The task holds this and no other; what it held before is given back. False: there is no room for some.
  bool hold(std::uint32_t task, Holding);
  void release(std::uint32_t task);
  const Holding* holding(std::uint32_t task) const;
  // More (or less) of each of its places; false: there is no room, and nothing changed.
  bool change_part(std::uint32_t task, const Amount& part);
  // Room the host took in the pools itself.
  void give_back_room(std::uint32_t type, const Amount& part, std::span<const Share>);
  void set_up(std::uint32_t type, std::uint32_t node, bool up);
  void forget_lines();  // nobody waits; nodes may have been added to the pools
  // What another engine knows otherwise of the task; "": nothing.
  std::string differs(const Engine&, std::uint32_t task) const;
  void open_all();  // what shapes were closed for may hold no more

  // One round.
  void serve(double now);

  // For a policy that is malleable (live_malleable.cpp), in place of `serve`: who is first of those that
  // wait; starts the first as it is, if there is room; who holds something of a node, by number; some who
  // are held on nodes of a type; and nodes on which something has changed since this was asked last.
  std::optional<Key> first() const;
  bool start_first(double now);
  const std::set<std::uint32_t>& on_node(const NodeKey&) const;
  std::vector<std::uint32_t> some_held(std::uint32_t type) const;
  std::set<NodeKey> take_changed() { return std::exchange(changed_, {}); }

  // HEATS: where the task should move; the room is kept for it until `end_round`, unless the host takes it.
  struct Move {
    std::uint32_t type = 0;
    std::vector<Share> shares{};
  };
  struct MoveFacts {
    HeatsOptions options{};
    double h = 1, left = 1;  // energy's weight; the share of the task still to be done where it is
    double redo = 1;         // so many times as much of it has to be done elsewhere
  };
  // `scores` best first. Only types that are better for the whole task are looked at; `settled` says that
  // there are none, with room or without.
  std::optional<Move> better_place_for(std::uint32_t task, const TaskRequirements&, const MoveFacts&,
                                       std::span<const HeatsScore> scores, Ranking&, bool* settled = nullptr);
  void keep_for_round(std::uint32_t type, const Amount& part, std::vector<Share>);
  void end_round();

 private:
  enum class Outcome : std::uint8_t { started, no_room, not_allowed };
  using Head = std::pair<Key, std::uint32_t>;  // a line, by its first
  struct Shape {
    enum Room : std::uint8_t { not_allowed, none, maybe };  // of a type: `none` until some comes free
    const TaskRequirements* needs = nullptr;
    Amount part{};
    std::vector<std::uint32_t> types{};
    std::vector<Room> room{};           // by type
    std::set<Head> heads{};             // of its lines in which somebody waits
    bool open = false, listed = false;  // in `open_`
    // The last round in which one of it did not start, and why.
    std::uint64_t vain_round = 0;
    Outcome vain{};
    bool uses(std::uint32_t type) const { return type < room.size() && room[type] != not_allowed; }
    bool may_fit(std::uint32_t type) const { return type < room.size() && room[type] == maybe; }
  };
  struct Line {
    std::uint32_t shape = 0;
    std::set<Key> waiting{};
  };
  struct Task {
    bool waiting = false, holds = false;
    std::uint32_t line = 0;
    Key key{};
    int priority = 0;
    Holding holding{};
  };
  // Who goes first: the lowest priority, of equals who began last.
  struct GoesKey {
    int priority = 0;
    double begun = 0;  // negative
    std::int64_t task = 0;
    auto operator<=>(const GoesKey&) const = default;
  };
  using Goers = std::map<std::uint32_t, std::set<GoesKey>>;  // by type

  void open(std::uint32_t shape);
  void open_anywhere(std::uint32_t shape);
  void close(Shape&);
  void freed(std::uint32_t type, std::uint32_t node);
  void changed(std::uint32_t type, std::uint32_t node);
  void open_above(int priority, std::uint32_t type);
  bool take_up_or_down(const Amount& part, const Placed&);
  bool occupy(const Holding&);
  void give_back(const Holding&);
  void index(std::uint32_t task);
  void unindex(std::uint32_t task);
  void note_on_nodes(std::uint32_t task, bool there);

  // A round. Of each open shape one is asked at a time: `leads` says that the shape's next follows.
  struct Candidate {
    Key key{};
    std::uint32_t line = 0;
    bool leads = true;
    bool operator>(const Candidate& other) const { return key > other.key; }
  };
  void take_open_ones();
  void serve_in_order();
  void push(const Candidate&);
  void push_next_of_line(std::uint32_t line, const Key& after);
  void push_next_of_shape(std::uint32_t shape, const Key& after);
  Outcome place(std::uint32_t task);
  Outcome place_on(std::uint32_t task, const Shape&, std::uint32_t type);
  void begin(std::uint32_t task, std::vector<Placed>, bool taken);
  void failed(const Candidate&, Outcome);

  // Preemption (engine_preempt.cpp)
  bool some_may_go() const { return policy_.preemption != Preemption::none || !held_.empty(); }
  bool make_room(std::uint32_t task);
  bool make_room_on(std::uint32_t task, std::uint32_t type);
  std::vector<std::uint32_t> may_go_for(std::uint32_t task, std::uint32_t type, const Amount& part,
                                        const Pool* cleared) const;
  bool any_may_go_for(std::uint32_t task, std::uint32_t type) const;
  bool claims(std::uint32_t type, const Amount& part, std::span<const Share>);
  void look_ahead();
  void clear(Pool&, const NodeKey&, int priority);
  Pool* cleared_for(int priority, std::uint32_t type);
  void restore_all_but(std::uint32_t type, std::span<const Share> taken,
                       std::map<std::uint32_t, Pool::NodeState>& before);
  void soon_changed(const NodeKey& node) {
    if (!cleared_.empty()) cleared_stale_.insert(node);
  }

  // Backfill (engine_backfill.cpp)
  // Who ends when: seconds from now, and the task.
  using Ends = std::pair<double, std::uint32_t>;
  struct Reserved {
    Ends after{};  // once that one is gone
    std::uint32_t type = 0;
    std::vector<Share> shares{};
  };
  void note_ends(std::uint32_t task, bool there);
  template <class Visit>
  void each_end(std::uint32_t type, Visit visit);  // in order, until `visit` says so
  void reserve();
  void reserve_one(const Shape&, std::uint32_t type, std::optional<Reserved>&);
  void reserve_parts(const Shape&, std::uint32_t type, std::optional<Reserved>&);
  void look_at_then(const std::optional<Reserved>&, const Shape&);
  Pool::NodeState& then_on(std::uint32_t type, std::uint32_t node);
  bool may_pass(std::uint32_t task, std::uint32_t type, std::span<const Share> offered);
  bool reserving() const { return reserved_for_.has_value(); }

  const Policy& policy_;
  std::vector<Pool>& pools_;
  EngineHost& host_;
  double now_ = 0;
  std::vector<Shape> shapes_;
  std::vector<std::vector<std::uint32_t>> shapes_of_type_;
  std::vector<Line> lines_;
  ByTask<Task> tasks_;
  std::size_t waiting_ = 0;
  std::set<Head> heads_;             // of the lines in which somebody waits
  std::vector<std::uint32_t> open_;  // shapes that may have room, and some more
  std::vector<Share> taken_;

  std::uint64_t round_ = 0;
  std::vector<Candidate> candidates_;     // of this round: a heap
  std::vector<std::uint32_t> held_back_;  // lines with room that may not pass
  struct Kept {
    std::uint32_t type = 0;
    Amount part{};
    std::vector<Share> shares{};
  };
  std::vector<Kept> kept_;  // until the round is over

  // Once those that are being stopped are gone, and those they make room for are there.
  std::optional<std::vector<Pool>> soon_;
  bool looked_ahead_ = false;     // in this round
  bool may_go_ = false;           // somebody, as this round began
  std::set<NodeKey> soon_stale_;  // nodes of `soon_` that must be looked at again
  std::map<NodeKey, std::set<std::uint32_t>> stopping_on_, may_go_on_;
  // The same if all below a priority were gone too, and the held: whether it is worth while to try who of them
  // must go. By priority.
  std::map<int, std::vector<Pool>> cleared_;
  std::set<NodeKey> cleared_stale_;  // nodes of `cleared_` that must be looked at again
  std::size_t most_cleared_;
  std::size_t stopping_ = 0;
  Goers held_, lower_;
  std::vector<std::uint32_t> goes_for_;  // types, kept to avoid allocations
  // Where the policy is malleable.
  std::map<NodeKey, std::set<std::uint32_t>> on_node_;
  std::set<NodeKey> changed_;

  struct EndsOfType {
    std::set<Ends> running{};    // by the time they end
    std::set<Ends> beginning{};  // by how long they last
    std::set<std::uint32_t> overdue{};
  };
  std::vector<EndsOfType> ends_;
  bool gpus_are_shared_ = false;  // by some who may wait
  std::optional<std::uint32_t> reserved_for_;
  bool reserved_ = false;
  double reserved_in_ = 0;  // seconds from now
  // Nodes at that time. Where no GPUs are shared, others than those kept for the first have then all that is
  // free on them now, and are not among them.
  std::map<NodeKey, Pool::NodeState> then_;
  struct Later {
    std::uint64_t search = 0;  // in which it was written
    Amount free{};
  };
  std::vector<std::vector<Later>> later_;  // by type and node: scratch of `reserve_one`
  std::uint64_t searches_ = 0;
};

}  // namespace tandem::place
