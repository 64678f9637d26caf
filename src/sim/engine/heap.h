// A priority queue of numbered items that can be moved and taken out: four children a node, so that a line of
// the cache holds a level's candidates. Order is total: by time, then by the order of the last change, so
// that equal times come out first come, first served, and every run is the same. Items are small dense
// numbers. One owner.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

namespace tandem::sim {

class Heap {
 public:
  using Item = std::uint32_t;

  bool empty() const { return nodes_.empty(); }
  std::size_t size() const { return nodes_.size(); }
  double first_time() const { return nodes_.front().time; }
  Item first() const { return nodes_.front().item; }
  bool contains(Item item) const { return item < place_.size() && place_[item] != kNowhere; }

  // Puts it in, or moves it.
  void set(Item item, double time) {
    if (item >= place_.size()) place_.resize(item + std::size_t{1}, kNowhere);
    const Node node{time, ++changes_, item};
    if (place_[item] == kNowhere) {
      nodes_.push_back(node);
      up(nodes_.size() - 1, node);
    } else {
      const std::size_t at = place_[item];
      if (before(node, nodes_[at]))
        up(at, node);
      else
        down(at, node);
    }
  }

  void erase(Item item) {
    assert(contains(item));
    const std::size_t at = place_[item];
    place_[item] = kNowhere;
    const Node last = nodes_.back();
    nodes_.pop_back();
    if (at == nodes_.size()) return;
    if (before(last, nodes_[at]))
      up(at, last);
    else
      down(at, last);
  }

  Item pop() {
    const Item item = first();
    erase(item);
    return item;
  }

 private:
  struct Node {
    double time;
    std::uint64_t change;
    Item item;
  };
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  static bool before(const Node& a, const Node& b) {
    return a.time < b.time || (a.time == b.time && a.change < b.change);
  }
  void put(std::size_t at, const Node& node) {
    nodes_[at] = node;
    place_[node.item] = static_cast<std::uint32_t>(at);
  }
  void up(std::size_t at, const Node& node) {
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (!before(node, nodes_[parent])) break;
      put(at, nodes_[parent]);
      at = parent;
    }
    put(at, node);
  }
  void down(std::size_t at, const Node& node) {
    while (true) {
      const std::size_t begin = 4 * at + 1;
      if (begin >= nodes_.size()) break;
      const std::size_t end = begin + 4 < nodes_.size() ? begin + 4 : nodes_.size();
      std::size_t least = begin;
      for (std::size_t i = begin + 1; i < end; ++i)
        if (before(nodes_[i], nodes_[least])) least = i;
      if (!before(nodes_[least], node)) break;
      put(at, nodes_[least]);
      at = least;
    }
    put(at, node);
  }

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> place_;  // of each item
  std::uint64_t changes_ = 0;
};

}  // namespace tandem::sim
