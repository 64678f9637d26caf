// The allocator: the only one who starts, resizes, moves and stops tasks, of one run or of many jobs.
//
// It is the control loop's host of the placement engine (engine.h, by live.h), as sim/trace/replay.h is the
// trace level's: the same queue order, filters, weighers, backfill, preemption and moves, on nodes that join,
// fail and come back. An event costs as much as it concerns, however many nodes there are and tasks wait.
// Rules, in order:
//   1. tasks that are wanted no more are stopped; tasks that reported and are asked for again go on, with
//      their GPUs set as they ask for now: that takes nothing from anybody;
//   2. those that wait are tried in the policy's order, on the machine types in the order it ranks them; of
//      these, types that would miss the job's deadline come last. Where the policy blocks, the first that
//      finds no room ends the round; a policy that backfills lets others pass who do not delay it;
//      DiAS: a job that tolerates a loss of accuracy is started with less of its work, while others stand
//      above it;
//   3. a policy that preempts stops the lowest running below a task that finds no room, and no more than it
//      needs. They go on later from their checkpoint, if they keep any. Under every policy, trials that are
//      held (reported, and told to wait) make room first: they do nothing, and keep memory and GPUs;
//   4. infrastructure-aware placement chooses the node itself, of those the filters leave, by what was
//      observed of each (infra_live.h); there is no other room for a task that it refuses;
//   5. HEATS, every x seconds while nobody waits: a running task that would be better off elsewhere, its
//      move included, is stopped and starts there. Its program goes on from its checkpoint; a plain one
//      starts over, and that is part of what the move costs.
//   6. malleable policies (live_malleable.cpp) deal cores out again whenever a task reports, so that all that
//      is asked for ends soonest. A Request may leave open what it is run with: its options are
//      configurations with the time an epoch takes in each. Assumes that a program can be resized at an
//      epoch's end, and only then, until its world refuses: it then keeps the size it has for as long as it
//      runs; that memory does not change speed.
//      a. those that wait are served in the policy's order, then by the priority of their requests, then by
//         id: to be started, or to go on where their process is. The first to be started that finds no room
//         lets nobody start after it; a node is kept for it (where the held can make room, or with most free
//         cores): who reports there and comes after it waits too, unless it is memory that is short. One that
//         cannot go on where it is blocks its node in the same way;
//      b. while somebody finds no room, each on the types it may use gets its thriftiest option: the least
//         core-seconds an epoch, or a smaller one that fits;
//      c. otherwise all who run or waited on the node are dealt a share of it: first the thriftiest option
//         each, then, one step at a time, whoever would end last gets more, as long as that makes it end
//         sooner. A task that waited gets its share as far as cores are free now; who runs keeps what it has
//         until it reports, and what it might want then is lent to those whose epochs will end before;
//      d. a task that reported and gets nothing is held: its cores are free, its memory is not. Where held
//         memory is in the way of the first that waits for a node, or too many are held on it, the longest
//         waiting task there that its controller holds, of the lowest priority, is stopped; it will go on
//         from its checkpoint;
//      e. tasks of several nodes start and go on as they are. Where there is but one machine their jobs fail
//         at once, and say why.
// `to-the-end`: as all who wait are tried in each round, who finds no room is behind those that did already.
// State beside the view: what was learnt of run times (experience.h) and of classes of jobs (infra_live.h),
// and an index of the view, which follows it by what changed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event/policy.h"
#include "place/engine/experience.h"
#include "place/infra/infra_live.h"
#include "place/policy/policies.h"

namespace tandem::place {

// One machine type a task was held against; one node, where the policy chooses among nodes (infra).
struct Consideration {
  std::string type{};
  std::size_t nodes = 0, up = 0;
  std::string refused{};  // by a filter, or for want of room; "": it could start there
  double score = 0;
  std::string why{};  // of the score; where there is no room, what is short
  Expected expected{};
  bool passes = false;  // the refusal: it may be gone later
};

struct Explanation {
  std::string policy{};
  std::optional<double> energy_weight{};  // HEATS'
  std::vector<Consideration> types{};     // best first, then those refused
  std::string verdict{};                  // one sentence
  int ahead = 0;                          // tasks tried before it
  std::optional<Seconds> expected_start{};
  std::string start_note{};  // why none, or what it rests on
};

// A copy of what the scheduler knows beside the view: enough to explain, on any thread.
struct SchedulerKnowledge {
  place::Policy policy;
  std::uint64_t seed = 1;
  Experience experience;
  JobClasses classes;

  // Of a task that waits: why, and what would be best for it now.
  Explanation explain(const View&, TaskId) const;
};

class Live;

class Scheduler final : public tandem::Policy {
 public:
  // What a job asks of its machine (architecture, accelerator, labels) holds under every policy.
  Scheduler(place::Policy, std::uint64_t seed);
  ~Scheduler() override;

  std::vector<DecisionBody> step(const View&, const Event&) override;
  void fold(const View&, const Event&, std::span<const Decision>) override;
  std::optional<std::string> save(const View&) const override;
  bool restore(const std::string&) override;

  Explanation explain(const View& view, TaskId task) const { return knowledge().explain(view, task); }
  SchedulerKnowledge knowledge() const { return {policy_, seed_, experience_.learnt(), classes_.classes()}; }
  const JobClasses& classes() const { return classes_.classes(); }
  const place::Policy& policy() const { return policy_; }
  // Whether the index is what it would be if it were made anew of the view; what differs, otherwise. For
  // tests.
  std::string check(const View&);
  std::uint64_t nodes_looked_at() const;  // by a malleable policy, so far. For tests
  std::size_t room_for_tasks() const;     // for so many memory is kept. For tests

 private:
  place::Policy policy_;
  std::uint64_t seed_;
  Experience experience_;
  ClassMemory classes_;
  std::unique_ptr<Live> live_;
};

}  // namespace tandem::place
