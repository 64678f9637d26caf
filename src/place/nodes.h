// What is free on the nodes of a cluster, so that room for a job is found without a look at every node.
//
// Nodes that are alike are a pool. A job is one or more equal parts, which may be on different nodes of one
// pool; a part asks for cores, memory, and either whole GPUs or a share of one. Room is looked for first on
// one node for all parts, then from the first node on, as many parts each as fit: first fit. A share of a GPU
// goes to the fullest GPU that has it, so that whole ones stay whole.
//
// The nodes of a pool are the leaves of a tree that knows the most of each resource that a node below has.
// That makes finding and changing a node logarithmic; only where one node has the cores and another the
// memory are nodes looked at in vain. Plain state, one owner; pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"

namespace tandem::place {

// Of one part of a job, or of a node. GPUs by the thousandth, as cores are.
struct Amount {
  std::int64_t milli_cores = 0;
  Bytes memory = 0;
  std::int32_t gpus = 0;       // whole ones
  std::int32_t gpu_share = 0;  // of one GPU, thousandths below 1000
  bool operator==(const Amount&) const = default;
};
std::string text(const Amount&);  // "4 cores, 16 GiB, 2 GPUs"

// Parts of a job on one node.
struct Share {
  std::uint32_t node = 0;  // in its pool
  std::uint32_t parts = 0;
  std::uint32_t gpu = 0;  // where the parts have a share of one: each share is one part
};

class Pool {
 public:
  Pool(Amount node, std::size_t count);

  std::size_t size() const { return nodes_.size(); }
  const Amount& node() const { return node_; }

  // Takes room for all parts, or nothing: false. `taken` is replaced.
  bool take(const Amount& part, std::int64_t parts, std::vector<Share>& taken);
  void give_back(const Amount& part, const Share&);
  // Whether there would be room if nothing ran and every node were up.
  bool could_ever(const Amount& part, std::int64_t parts) const;

  // A node that is down has no room; what it held can still be given back.
  void set_up(std::uint32_t node, bool up);

 private:
  static constexpr std::size_t kChildren = 8;  // of a node of the tree: a few lines of the cache
  struct Free {
    std::int64_t milli_cores = 0;
    Bytes memory = 0;
    std::int32_t gpus = 0;   // whole ones
    std::int32_t share = 0;  // the most that is free of one GPU
  };
  struct Node {
    std::int64_t milli_cores = 0;
    Bytes memory = 0;
    std::int32_t whole_gpus = 0;
    bool up = true;
  };

  static bool fits(const Free&, const Amount&);
  std::uint32_t find(const Amount&, std::uint32_t from) const;  // size(): none
  bool find_below(std::size_t level, std::size_t index, const Amount&, std::uint32_t from,
                  std::uint32_t& found) const;
  std::int64_t parts_that_fit(const Amount&, std::uint32_t node) const;
  Share occupy(const Amount&, std::uint32_t node, std::int64_t parts);
  bool take_spread(const Amount&, std::int64_t parts, std::vector<Share>& taken);
  void changed(std::uint32_t node);
  Free free_of(std::uint32_t node) const;

  Amount node_;
  std::vector<Node> nodes_;
  std::vector<std::int16_t> gpu_free_;     // node × GPU, thousandths
  std::vector<std::vector<Free>> levels_;  // of the tree: nodes first, the root last
};

}  // namespace tandem::place
