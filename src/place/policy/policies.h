// Placement policies by name: who is served next, where, and what happens to those that run.
//
//     Policy policy = parse_policy("heats:H=0.6:x=30");
//     for (const auto& entry : policies()) ...  // name, one line, options: also for --help
//
// A policy is a value: an order of the queue (queue.h) and a choice of machine (a kit, HEATS, or the fastest
// pool and first fit). A `Ranking` turns it into decisions: it ranks machine types for a task, and says by
// which rule a node of them is taken. The engine (engine.h) carries it out for its hosts, the live scheduler
// and the trace level. Randomness is drawn from (seed, task, attempt). Pure; a Ranking has one owner.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "place/dias/dias_deflator.h"
#include "place/infra/infra_pick.h"
#include "place/policy/heats.h"
#include "place/policy/kit.h"
#include "place/policy/queue.h"

namespace tandem::place {

enum class Preemption { none, restart, resume };

// DiAS instead of preemption: a job that tolerates a loss, and above which others stand, does less.
struct Dropping {
  AccuracyCurve curve{};
  double recently = 600;  // s: others stand above it if one was submitted so lately, or is not done
};

// Infrastructure-aware placement of tasks that run on one node each (infra_pick.h).
struct InfraOptions {
  PickOptions pick{.housekeeping = 0.1};
  ThresholdOptions thresholds{};
};

// Tasks are resized as they report, so that what is asked for ends soonest (scheduler.h, rule 6).
struct Malleability {
  int held_a_core = 4;  // at most so many held tasks a core of a node, and a few in any case
};

struct Policy {
  std::string name{}, description{};  // as written, with its options
  const OrderEntry* order = nullptr;
  std::optional<Kit> kit{};             // none: the pool where the task is fastest, first fit
  std::optional<HeatsOptions> heats{};  // it scores, the kit's filters and node rule hold
  std::optional<InfraOptions> infra{};  // it chooses the node, among those the kit's filters leave
  Preemption preemption = Preemption::none;
  bool backfill = false;               // who comes later may pass if the first one's start is not delayed
  std::optional<Dropping> dropping{};  // DiAS: work of lower priority is left out
  std::optional<Malleability> malleable{};
};

struct PolicyOption {
  std::string name, meaning;
};
struct PolicyEntry {
  std::string name, description;
  std::vector<PolicyOption> options{};
  Policy (*make)(const std::vector<std::pair<std::string, std::string>>& options);
};
const std::vector<PolicyEntry>& policies();
// Of every policy that only orders and ranks; written without a value.
const PolicyOption& malleable_option();
// "heats:H=1:x=30", "fifo:malleable". UserError for a name, option or value that cannot be.
Policy parse_policy(const std::string& text);
Policy policy_of(const OrderEntry&);  // the order alone

inline constexpr const char* kNoRoom = "no room now";

// One machine type a task was held against, for people.
struct Considered {
  std::uint32_t type = 0;
  std::string refused{};  // by a filter, or kNoRoom; "": it was scored
  double score = 0;
  std::string why{};
};

class Ranking {
 public:
  // `types` and the predictor must outlive it. UserError where the policy predicts and nobody can.
  Ranking(const Policy&, std::span<const MachineType> types, Predictor*, std::uint64_t seed);

  // Types in the order in which they should be tried; only types of `allowed` (those no filter refuses, see
  // `allowed`). Types without room may be among them.
  const std::vector<std::uint32_t>& rank(std::uint32_t task, std::uint32_t attempt, const TaskRequirements&,
                                         std::span<const std::uint32_t> allowed, std::span<const Pool> pools);
  // By which rule a node of the type is taken; after `rank`.
  Where where(std::uint32_t type, bool apart = false) const;
  // For all parts that must be apart; of others, for one.
  bool has_room(const TaskRequirements&, const Pool&, std::uint32_t type) const;

  // Types that no filter refuses and that could hold it if nothing ran, of `among`.
  std::vector<std::uint32_t> allowed(const TaskRequirements&, std::span<const std::uint32_t> among) const;
  double h_of(std::uint32_t task) const;  // HEATS' weight
  // HEATS' scores, best first; until the next call.
  const std::vector<HeatsScore>& scores(std::uint32_t task, std::span<const std::uint32_t> allowed);

  // What the last `rank` gave the type; nothing where it did not rank it. Of other policies than HEATS the
  // sum alone.
  HeatsScore last_score(std::uint32_t type) const;
  // All types, best first, then those refused.
  std::vector<Considered> explain(std::uint32_t task, const TaskRequirements&,
                                  std::span<const std::uint32_t> among, std::span<const Pool> pools);

 private:
  void rank_by_kit(std::uint32_t task, const TaskRequirements&, std::span<const std::uint32_t> allowed,
                   std::span<const Pool> pools);

  Policy policy_;
  std::span<const MachineType> types_;
  Predictor* predictor_;
  std::uint64_t seed_, draw_ = 0;
  std::vector<Amount> keep_;  // by type
  std::vector<std::uint32_t> order_;
  std::vector<Candidate> candidates_;
  std::vector<double> sums_;
  std::vector<HeatsOption> options_;
  std::vector<HeatsScore> scores_;
};

}  // namespace tandem::place
