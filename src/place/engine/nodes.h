// What is free on the nodes of a cluster, so that room for a job is found without a look at every node.
//
// Nodes that are alike are a pool. A job is one or more equal parts, which may be on different nodes of one
// pool; a part asks for cores, memory, and either whole GPUs or a share of one. Room is looked for first on
// one node for all parts, then from the first node on, as many parts each as fit: first fit. Parts that must
// be apart are dealt out from the first node on, one each. A share of a GPU goes to the fullest GPU that has
// it, so that whole ones stay whole.
//
// The nodes of a pool are the leaves of a tree that knows the most of each resource that a node below has.
// That makes finding and changing a node logarithmic; only where one node has the cores and another the
// memory are nodes looked at in vain. Other rules than first fit (the node that has most or least free) keep
// the nodes in order of what is free, from the first time they are asked for. Plain state, one owner; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
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

// Which of the nodes with room. Most and least: of GPUs where the task asks for some, otherwise of cores; the
// first among equals. A job that fits no single node is dealt out from the first node on, whatever the rule.
enum class NodeRule : std::uint8_t { first, most_free, least_free, random };
struct Where {
  NodeRule rule = NodeRule::first;
  std::uint64_t random = 0;  // a number drawn by the caller
  Amount keep{};             // of cores, memory and whole GPUs: must stay free on each node
  bool apart = false;        // each part on a node of its own: a live gang has one process a node
};

class Pool {
 public:
  Pool(Amount node, std::size_t count);

  std::size_t size() const { return nodes_.size(); }
  const Amount& node() const { return node_; }

  // Takes room for all parts, or nothing: false. `taken` is replaced.
  bool take(const Amount& part, std::int64_t parts, std::vector<Share>& taken, const Where& = {});
  // The node that one such part would be put on; none: there is no room.
  std::optional<std::uint32_t> node_for(const Amount& part, const Where& = {}) const;
  // What is free on the node that one such part would be put on; none: there is no room.
  std::optional<Amount> room(const Amount& part, const Where& = {}) const;
  Amount free_on(std::uint32_t node) const;  // up or not; shares of GPUs added up
  // Takes exactly these places again, or nothing: false.
  bool take_there(const Amount& part, std::span<const Share>);
  void give_back(const Amount& part, const Share&);
  // Is there room for all parts, each on a node of its own?
  bool has_room_apart(const Amount& part, std::int64_t parts, const Amount& keep = {}) const;
  // Whether there would be room if nothing ran and every node were up.
  bool could_ever(const Amount& part, std::int64_t parts) const;
  static bool could_ever(const Amount& node, std::size_t count, const Amount& part, std::int64_t parts,
                         bool apart = false);

  // A node that is down has no room; what it held can still be given back.
  void set_up(std::uint32_t node, bool up);
  bool is_up(std::uint32_t node) const { return nodes_[node].up; }
  bool fits_on(std::uint32_t node, const Amount& part) const { return fits(levels_[0][node], part); }
  std::uint32_t add_node();  // an empty one; its number

  // What is free on one node, to look ahead without a copy of the pool.
  struct NodeState {
    std::int64_t milli_cores = 0;
    Bytes memory = 0;
    std::int32_t whole_gpus = 0;
    bool up = true;
    std::vector<std::int16_t> gpus{};  // thousandths free of each; taken as a whole: -1
    bool operator==(const NodeState&) const = default;
    bool take(const Amount& part, const Share&);  // false: there is no room, and nothing changed
    void give_back(const Amount& part, const Share&);
  };
  NodeState state_of(std::uint32_t node) const;
  void set_state(std::uint32_t node, const NodeState&);

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
  std::uint32_t choose(const Amount& asked, const Where&) const;  // size(): none
  std::int64_t parts_that_fit(const Amount&, std::uint32_t node, const Amount& keep = {}) const;
  // `gpu`: where its share must be, or any: -1. No parts: it is not free there.
  Share occupy(const Amount&, std::uint32_t node, std::int64_t parts, std::int32_t gpu = -1);
  bool take_spread(const Amount&, std::int64_t parts, std::vector<Share>& taken, const Where&);
  void changed(std::uint32_t node);
  void add_up(std::size_t level, std::size_t index);  // an inner node of the tree, from those below it
  Free free_of(std::uint32_t node) const;
  std::int64_t free_gpus(std::uint32_t node) const;  // thousandths of all of them

  // Nodes by how much of one resource is free.
  struct Order {
    std::vector<std::int64_t> keys{};  // empty: nobody asked for it yet
    std::set<std::pair<std::int64_t, std::uint32_t>> nodes{};
  };
  std::int64_t key(std::uint32_t node, bool gpus) const;
  const Order& order(bool gpus) const;

  Amount node_;
  std::vector<Node> nodes_;
  std::vector<std::int16_t> gpu_free_;     // node × GPU, thousandths
  std::vector<std::vector<Free>> levels_;  // of the tree: nodes first, the root last
  mutable Order by_cores_{}, by_gpus_{};
};

}  // namespace tandem::place
