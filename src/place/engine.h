// The placement engine: who of those that wait starts now, and where; who makes room for whom; who moves.
//
// One engine for the live scheduler (live.h) and the simulator's trace level (sim/replay_run.h). The host says
// what happens (somebody waits, holds room, is gone) and asks the engine to serve the queue; the engine calls
// the host back with what follows: start this there, stop that. What it knows is kept from event to event:
//   - tasks that ask for the same wait in one line, in the order of the policy. A line whose first found no
//     room anywhere is closed, and looked at again only when room came free that could do for it. So an event
//     costs as much as there are lines it concerns, however many tasks wait and run on however many nodes;
//   - those that run, by when they are expected to end (backfill) and by who would have to go first
//     (preemption); those that are being stopped, by node.
// Rules of a round (`serve`), in order: first the lines' firsts in the policy's order; whoever finds room
// starts. Where some may go (the policy preempts, or somebody is held), one that finds none waits for room
// that is on its way, or has it made: of lower priority the lowest, and of equals who began last, no more than
// it needs; the held go first, under every policy. Where the policy blocks, the first without room ends the
// round; where it backfills, others pass only if they end before that one can start, or leave it its place.
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

#include "place/policies.h"

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

class EngineHost {
 public:
  virtual ~EngineHost() = default;
  // Types in the order in which they should be tried for the task; those without room may be missing.
  virtual const std::vector<std::uint32_t>& ranked(std::uint32_t task) = 0;
  // By which rule a node of it is taken; after `ranked` for the same task.
  virtual Where where(std::uint32_t task, std::uint32_t type) = 0;
  // How long it will take there; none: nobody knows.
  virtual std::optional<double> lasts(std::uint32_t task, std::uint32_t type,
                                      std::span<const Share> shares) = 0;
  // Policies that choose nodes themselves: room for all parts of it, not taken yet; none: there is none.
  virtual bool chooses_nodes() const { return false; }
  virtual std::optional<std::vector<Placed>> choose(std::uint32_t /*task*/) { return std::nullopt; }
  virtual void start(std::uint32_t task, std::span<const Placed>) = 0;
  virtual void stop(std::uint32_t task, const StopCause&) = 0;
};

class Engine {
 public:
  enum class Standing : std::uint8_t { runs, held, stopping };
  // A task that has a process, or is about to.
  struct Holding {
    Amount part{};
    std::vector<Placed> places{};
    int priority = 0;
    double begun = 0;
    Standing standing = Standing::runs;
    double ends = 0;        // where the policy backfills: when, as expected
    bool beginning = false;  // not begun yet: `ends` is counted from now, whenever that is
  };

  Engine(const Policy&, std::vector<Pool>& pools, EngineHost&);

  // Tasks of a line ask for the same: `fit` numbers what they ask of a node, `types` are those they may use.
  // The wish must outlive the engine, or its next `reset`.
  std::uint32_t add_line(const TaskWish&, std::uint32_t fit, std::vector<std::uint32_t> types);
  const std::vector<std::uint32_t>& types_of_line(std::uint32_t line) const { return lines_[line].types; }
  // Forgets everything; the host has made the pools anew.
  void reset();

  void wait(std::uint32_t task, std::uint32_t line, double key, double asked, int priority);
  void wait_no_more(std::uint32_t task);
  bool waits(std::uint32_t task) const { return task < tasks_.size() && tasks_[task].waiting; }
  std::size_t waiting() const { return waiting_; }

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
  void open_all();  // what lines were closed for may hold no more

  // One round.
  void serve(double now);
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
  std::optional<Move> better_place_for(std::uint32_t task, const TaskWish&, const MoveFacts&,
                                       std::span<const HeatsScore> scores, Ranking&, bool* settled = nullptr);
  void keep_for_round(std::uint32_t type, const Amount& part, std::vector<Share>);
  void end_round();

  bool any_held() const { return !held_.empty(); }

 private:
  struct Key {
    double key = 0, asked = 0;
    std::uint32_t task = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Line {
    const TaskWish* wish = nullptr;
    std::uint32_t fit = 0;
    std::vector<std::uint32_t> types{};
    std::set<Key> waiting{};
    bool open = false, listed = false;  // in `open_`
    std::size_t place = 0;              // in `busy_`
    // Once it was closed, there is room only on types where some came free since; before, anywhere.
    bool anywhere = true;
    std::vector<std::uint32_t> freed{};
    // Backfill: its first has room and may not pass; a pool it uses has changed since.
    bool held_back = false, again = false;
    bool uses(std::uint32_t type) const;
    bool may_fit(std::uint32_t type) const;
  };
  struct Task {
    bool waiting = false, holds = false;
    std::uint32_t line = 0;
    Key key{};
    int priority = 0;
    Holding holding{};
  };
  using Head = std::pair<Key, std::uint32_t>;  // a line, by its first
  // Who goes first: the lowest priority, of equals who began last.
  struct GoesKey {
    int priority = 0;
    double begun = 0;  // negative
    std::int64_t task = 0;
    auto operator<=>(const GoesKey&) const = default;
  };
  using Goers = std::map<std::uint32_t, std::set<GoesKey>>;  // by type
  using NodeKey = std::pair<std::uint32_t, std::uint32_t>;   // type, node

  void take_open_ones();
  void close(std::uint32_t line);
  void open(std::uint32_t line, bool anywhere);
  void freed(std::uint32_t type, std::uint32_t node);
  void changed(std::uint32_t type, std::uint32_t node);
  void open_above(int priority, std::uint32_t type);
  bool occupy(const Holding&);
  void give_back(const Holding&);
  void index(std::uint32_t task);
  void unindex(std::uint32_t task);

  // A round
  enum class Outcome { started, no_room, not_allowed };
  Outcome place(std::uint32_t task);
  void begin(std::uint32_t task, std::vector<Placed>, bool taken);
  void failed(const Head&, Outcome);
  void push(const Head&);
  void push_next(std::uint32_t line, const Key& after);

  // Preemption (engine_preempt.cpp)
  bool some_may_go() const { return policy_.preemption != Preemption::none || !held_.empty(); }
  bool make_room(std::uint32_t task);
  bool make_room_on(std::uint32_t task, std::uint32_t type);
  std::vector<std::uint32_t> may_go_for(std::uint32_t task, std::uint32_t type) const;
  bool claims(std::uint32_t type, const Amount& part, std::span<const Share>);
  void look_ahead();

  // Backfill (engine_backfill.cpp)
  void reserve();
  bool goes_from(const Holding&, const Line&);
  bool reserved_as_before();
  void remember_held_back();
  bool may_pass(std::uint32_t task, std::uint32_t type, std::span<const Share> taken);
  void note_then(std::uint32_t type, const Amount& part, std::span<const Share> taken);
  bool reserving() const { return reserved_for_.has_value(); }

  const Policy& policy_;
  std::vector<Pool>& pools_;
  EngineHost& host_;
  double now_ = 0;
  std::vector<Line> lines_;
  std::vector<Task> tasks_;
  std::size_t waiting_ = 0;
  std::set<Head> heads_;                    // of the lines in which somebody waits
  std::vector<std::uint32_t> busy_, open_;  // those lines; those that may have room, and some more
  std::vector<Share> taken_;

  std::uint64_t round_ = 0;
  struct InVain {
    std::uint64_t round = 0;
    Outcome outcome = Outcome::no_room;
  };
  std::vector<InVain> in_vain_;         // by fit: the last round in which one did not start
  std::vector<Head> candidates_;        // of this round: a heap
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
  std::map<NodeKey, std::set<std::uint32_t>> stopping_on_;
  std::size_t stopping_ = 0;
  Goers held_, lower_;
  std::vector<std::uint32_t> goes_for_;  // types, kept to avoid allocations

  std::set<std::pair<double, std::uint32_t>> ends_, beginning_;
  std::set<std::uint32_t> overdue_;
  std::optional<std::uint32_t> reserved_for_;
  bool reserved_ = false;
  double reserved_in_ = 0;                    // seconds from now
  std::optional<NodeKey> reserved_node_;      // of a single part
  std::map<NodeKey, Pool::NodeState> then_;  // nodes at that time, where they differ from now
  // Who was held back by this reservation still is, where nothing that concerns it has changed.
  struct Reservation {
    std::uint32_t task = 0;
    NodeKey node{};
    double in = 0;
    std::uint64_t changes = 0;
    bool valid = false;
  };
  Reservation last_;
  std::uint64_t changes_ = 0, reserved_at_changes_ = 0;  // of pools
  std::vector<std::uint32_t> lines_held_back_, left_out_;  // of the last round; of those, not asked in this one
};

}  // namespace tandem::place
