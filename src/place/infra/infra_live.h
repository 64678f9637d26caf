// What infrastructure-aware placement (infra_pick.h) knows of a live cluster: its catalogue from the view,
// and its classes of jobs from those that ended.
//
// A node's facts are its capacity, speed factor and stated bandwidth. What was observed of it (NodeObserved)
// is what others use, and holds until it is said otherwise; so the past is made of it by looking back every
// 10 s for 5 minutes, and "most of the past" is most of that time. What our own tasks hold is not load: it is
// theirs alone. Of the network they have what they demanded, or what is seen to be in use where that is more.
// A share that nobody can tell counts as unused, but no job that demands bandwidth goes where the network's
// load is not known.
//
// A class of jobs is a family (place.family). Each task of it that ran from its beginning to its end in one
// attempt says how long a unit of its work took under the load that others made when it started; nodes of
// another speed factor and tasks with more cores are brought to speed factor 1 and one core. Pure.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "event/view.h"
#include "place/engine/cluster.h"
#include "place/infra/infra_pick.h"

namespace tandem::place {

Shares shares_of(const NodeLoad&);

// Nodes that are up, by name.
Catalogue catalogue_of(const View&, const Cluster&);
// One more task was put on the node; the cluster has taken its room already.
void put_there(Catalogue&, const Cluster&, const NodeView&, const Demands&);

Demands demands_of(const View&, const TaskView&);

// A fold over events.
class ClassMemory {
 public:
  explicit ClassMemory(ThresholdOptions options = {}) : classes_(options) {}
  void saw(const View&, const Event&);  // after the view took the event
  const JobClasses& classes() const { return classes_; }
  nlohmann::json to_json() const;
  void restore(const nlohmann::json&);

 private:
  void learn(const View&, const TaskView&, const Shares& in_use);

  JobClasses classes_;
  std::map<TaskId, Shares> at_start_;  // of those that run: what others used of their node
};

}  // namespace tandem::place
