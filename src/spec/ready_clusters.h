// Clusters that a simulation can name instead of describing one: `cluster: kth`.
//
// What they are made of comes from what was published about them; the source says where, and what had to be
// assumed. Efficiencies count a multiply and an add as two operations. Made once, never changed.
#pragma once

#include <string>
#include <vector>

#include "spec/cluster.h"

namespace tandem::spec {

struct ReadyCluster {
  std::string name, description;
  Cluster cluster;
};

const std::vector<ReadyCluster>& ready_clusters();

}  // namespace tandem::spec
