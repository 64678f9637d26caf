// What tuning jobs learn about programs on a machine: the ground truth of the system tuner (PipeTune 5.4).
//
// A record says how fast a workload class ran in each configuration it was seen in. It carries no names of
// models, data or users: only rates of counters, a batch size and times. Plain values.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/resources.h"
#include "base/value.h"

namespace tandem {

// How epochs went in one configuration, of `epochs` of them; a program's first epoch counts only where there
// is no other.
struct Measured {
  Resources system;
  double seconds = 0;  // an epoch, start-up not counted
  std::optional<double> joules;
  std::int64_t epochs = 0;
  bool operator==(const Measured&) const = default;
};

struct KnownWorkload {
  std::string machine;  // its type: what was learned on another kind is not comparable
  double batch = 0;     // 0: the program has no batch size
  Resources reference;  // where the profile was taken
  Metrics rates;        // mean rates of the counters there
  Metrics spread;       // their standard deviations over the epochs of this workload class
  std::vector<Measured> measured;
  // A program's first epoch in the reference configuration, which often takes longer than later ones (lazy
  // imports, caches); 0: not known. That is what the first epoch of another program is compared with.
  double first_seconds = 0;
  bool operator==(const KnownWorkload&) const = default;
};

nlohmann::json to_json(const KnownWorkload&);
KnownWorkload known_workload_from_json(const nlohmann::json&);  // SystemError on nonsense

}  // namespace tandem
