// The policy kit: filters say which machine types a task may use, weighers which of them it should.
//
// Both are rows of a table; a policy names some of each, with a number where they take one, so policies are
// put together from text: `filter=accelerator+threshold@0.8`, `weigh=energy@0.6+free@0.4`. A filter judges a
// task and a machine type (so its answer can be kept), and may ask that some of each node stays free. A
// weigher gives every candidate between 0 and 1; weights multiply, scores add up, the highest wins, the type
// named first among equals. Candidates are machine types that have room now, each with the node of it that
// would be taken (NodeRule), so a decision costs as much as there are types, however many nodes. Pure;
// values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "place/engine/nodes.h"
#include "place/policy/heats_model.h"

namespace tandem::place {

struct MachineType {
  std::string name{}, architecture{}, accelerator{};
  Amount node{};
  std::size_t count = 1;
  std::vector<std::string> labels{};
  double slowness = 1;  // measured time over the expected one
};

// What a task asks for beyond its size.
struct TaskRequirements {
  Amount part{};
  std::int64_t parts = 1;
  std::string architecture{}, accelerator{};  // "": any; "A|B": either
  std::vector<std::string> labels{};          // "ssd": only there; "!spot": not there
  bool apart = false;                         // each part on a node of its own
  bool operator==(const TaskRequirements&) const = default;
};

struct Candidate {
  std::uint32_t type = 0;
  Amount free{};           // on the node that would be taken, before it is
  Prediction predicted{};  // filled only where a weigher asks for it
  double random = 0;       // 0 .. 1
};

struct FilterEntry {
  std::string name, description;
  double number = 0;  // used where the policy gives none; 0: it takes none
  std::string (*refuses)(const TaskRequirements&, const MachineType&, double number);  // "": it passes
};
struct WeigherEntry {
  std::string name, description;
  bool predicts = false;
  void (*weigh)(const TaskRequirements&, std::span<const Candidate>, std::span<const MachineType>,
                std::span<double> out);
};
const std::vector<FilterEntry>& filters();
const std::vector<WeigherEntry>& weighers();

struct Kit {
  struct Filter {
    const FilterEntry* entry = nullptr;
    double number = 0;
  };
  struct Weigher {
    const WeigherEntry* entry = nullptr;
    double weight = 1;
  };
  std::vector<Filter> filters{};
  std::vector<Weigher> weighers{};
  NodeRule nodes = NodeRule::first;

  bool predicts() const;
  // Why the task may not use the type, "threshold: ..."; "" when it may.
  std::string refuses(const TaskRequirements&, const MachineType&) const;
  // What must stay free on a node of the type (filter `threshold`).
  Amount keeps_free(const MachineType&) const;
  // The sum for each candidate; `out` is replaced.
  void score(const TaskRequirements&, std::span<const Candidate>, std::span<const MachineType>,
             std::vector<double>& out) const;
};

// "accelerator+threshold@0.8"; UserError for names and numbers that cannot be.
std::vector<Kit::Filter> parse_filters(const std::string&);
std::vector<Kit::Weigher> parse_weighers(const std::string&);
NodeRule parse_nodes(const std::string&);  // first, most, least, random

}  // namespace tandem::place
