// When nodes fail, and for how long.
//
// Drawn: the time from a repair to the next failure and the time to repair are exponential. Every node draws
// from a stream of its own, so that what one node does changes nothing for another. Or listed, as a log tells
// it. A node is up when the simulation begins. One owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "base/units.h"
#include "event/ids.h"

namespace tandem::sim {

struct Outage {
  NodeId node = 0;
  Seconds from{}, until{};  // until infinity: it does not come back
};

class Failures {
 public:
  Failures() = default;  // none
  // Mean times, both above 0; UserError otherwise.
  static Failures drawn(Seconds between, Seconds repair, std::uint64_t seed);
  // In any order; UserError where two of one node overlap, or one ends before it begins.
  static Failures listed(std::vector<Outage>);

  // The node's next outage, from this moment on. Asked with times that rise; a listed outage is told once.
  std::optional<Outage> next(NodeId, Seconds from);

  bool endless() const { return between_ > Seconds{}; }
  // The nodes that are spoken of are below this number; of drawn failures all are.
  std::size_t nodes_named() const { return listed_.size(); }

 private:
  Seconds between_{}, repair_{};
  std::uint64_t seed_ = 0;
  std::vector<Random> streams_;              // by node, of drawn ones
  std::vector<std::vector<Outage>> listed_;  // by node, the next one last
};

}  // namespace tandem::sim
