#include "place/engine/nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/text.h"

namespace tandem::place {
namespace {
constexpr std::int32_t kWhole = 1000;
constexpr std::int16_t kTaken = -1;  // as a whole; 0 is one that is full of shares

Amount times_parts(const Amount& part, std::int64_t parts) {
  return {part.milli_cores * parts, part.memory * parts, static_cast<std::int32_t>(part.gpus * parts), 0};
}

Amount sum(Amount part, const Amount& keep) {
  part.milli_cores += keep.milli_cores, part.memory += keep.memory, part.gpus += keep.gpus;
  return part;
}
}  // namespace

std::string text(const Amount& amount) {
  std::vector<std::string> words;
  const double cores = static_cast<double>(amount.milli_cores) / 1000;
  if (amount.milli_cores > 0) words.push_back(fmt::format("{:g} {}", cores, cores == 1 ? "core" : "cores"));
  if (amount.memory > 0) words.push_back(text_bytes(amount.memory));
  if (amount.gpus > 0) words.push_back(fmt::format("{} {}", amount.gpus, amount.gpus == 1 ? "GPU" : "GPUs"));
  if (amount.gpu_share > 0) words.push_back(fmt::format("{:g} of a GPU", amount.gpu_share / 1000.0));
  return words.empty() ? "nothing" : join(words);
}

Pool::Pool(Amount node, std::size_t count) : node_(node) {
  if (count == 0) throw UserError("a pool of nodes needs at least one");
  nodes_.assign(count, {node.milli_cores, node.memory, node.gpus, true});
  gpu_free_.assign(count * static_cast<std::size_t>(node.gpus), kWhole);
  for (std::size_t size = count;; size = (size + kChildren - 1) / kChildren) {
    levels_.emplace_back(size, Free{node.milli_cores, node.memory, node.gpus, node.gpus > 0 ? kWhole : 0});
    if (size == 1) break;
  }
}

bool Pool::fits(const Free& free, const Amount& part) {
  return free.milli_cores >= part.milli_cores && free.memory >= part.memory && free.gpus >= part.gpus &&
         free.share >= part.gpu_share;
}

bool Pool::find_below(std::size_t level, std::size_t index, const Amount& part, std::uint32_t from,
                      std::uint32_t& found) const {
  if (!fits(levels_[level][index], part)) return false;
  if (level == 0) {
    found = static_cast<std::uint32_t>(index);
    return index >= from;
  }
  std::size_t below = 1;  // nodes under one of its children
  for (std::size_t i = 1; i < level; ++i) below *= kChildren;
  const std::size_t first = index * kChildren;
  const std::size_t end = std::min(first + kChildren, levels_[level - 1].size());
  for (std::size_t child = first; child < end; ++child)
    if ((child + 1) * below > from && find_below(level - 1, child, part, from, found)) return true;
  return false;
}

std::uint32_t Pool::find(const Amount& part, std::uint32_t from) const {
  std::uint32_t found = 0;
  if (find_below(levels_.size() - 1, 0, part, from, found)) return found;
  return static_cast<std::uint32_t>(nodes_.size());
}

std::int64_t Pool::parts_that_fit(const Amount& part, std::uint32_t index, const Amount& keep) const {
  const Node& node = nodes_[index];
  if (part.gpu_share > 0) return 1;  // found by the tree, so one does
  std::int64_t parts = std::numeric_limits<std::int64_t>::max();
  if (part.milli_cores > 0) parts = std::min(parts, (node.milli_cores - keep.milli_cores) / part.milli_cores);
  if (part.memory > 0) parts = std::min(parts, (node.memory - keep.memory) / part.memory);
  if (part.gpus > 0) parts = std::min<std::int64_t>(parts, (node.whole_gpus - keep.gpus) / part.gpus);
  return parts;
}

std::int64_t Pool::free_gpus(std::uint32_t node) const {
  const auto gpus = gpu_free_.begin() + static_cast<std::ptrdiff_t>(node) * node_.gpus;
  return std::accumulate(gpus, gpus + node_.gpus, std::int64_t{0}, [](std::int64_t sum, std::int16_t free) {
    return sum + std::max<std::int64_t>(0, free);
  });
}

std::int64_t Pool::key(std::uint32_t node, bool gpus) const {
  if (!nodes_[node].up) return -1;
  return gpus ? free_gpus(node) : nodes_[node].milli_cores;
}

const Pool::Order& Pool::order(bool gpus) const {
  Order& out = gpus ? by_gpus_ : by_cores_;
  if (!out.keys.empty()) return out;
  out.keys.resize(nodes_.size());
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) out.nodes.insert({out.keys[i] = key(i, gpus), i});
  return out;
}

std::uint32_t Pool::choose(const Amount& asked, const Where& where) const {
  const auto none = static_cast<std::uint32_t>(nodes_.size());
  if (where.rule == NodeRule::first) return find(asked, 0);
  if (where.rule == NodeRule::random) {
    const auto found = find(asked, static_cast<std::uint32_t>(where.random % nodes_.size()));
    return found < none ? found : find(asked, 0);
  }
  if (find(asked, 0) == none) return none;
  const bool gpus = asked.gpus > 0 || asked.gpu_share > 0;
  const auto& nodes = order(gpus).nodes;
  const auto has_room = [&](const auto& entry) { return fits(levels_[0][entry.second], asked); };
  if (where.rule == NodeRule::least_free) {
    const std::int64_t least = gpus ? std::int64_t{kWhole} * asked.gpus + asked.gpu_share : asked.milli_cores;
    return std::find_if(nodes.lower_bound({least, 0}), nodes.end(), has_room)->second;
  }
  const auto most = std::find_if(nodes.rbegin(), nodes.rend(), has_room)->first;
  return std::find_if(nodes.lower_bound({most, 0}), nodes.end(), has_room)->second;  // first of its equals
}

std::optional<std::uint32_t> Pool::node_for(const Amount& part, const Where& where) const {
  const std::uint32_t node = choose(sum(part, where.keep), where);
  if (node == nodes_.size()) return std::nullopt;
  return node;
}

std::optional<Amount> Pool::room(const Amount& part, const Where& where) const {
  const auto node = node_for(part, where);
  if (!node) return std::nullopt;
  return free_on(*node);
}

Amount Pool::free_on(std::uint32_t node) const {
  const std::int64_t gpus = free_gpus(node);
  return {nodes_[node].milli_cores, nodes_[node].memory, static_cast<std::int32_t>(gpus / kWhole),
          static_cast<std::int32_t>(gpus % kWhole)};
}

bool Pool::take_there(const Amount& part, std::span<const Share> shares) {
  for (std::size_t i = 0; i < shares.size(); ++i) {
    Amount together = times_parts(part, shares[i].parts);
    together.gpu_share = part.gpu_share;
    if (fits(levels_[0][shares[i].node], together) &&
        occupy(part, shares[i].node, shares[i].parts, static_cast<std::int32_t>(shares[i].gpu)).parts > 0)
      continue;
    for (std::size_t k = 0; k < i; ++k) give_back(part, shares[k]);
    return false;
  }
  return true;
}

Share Pool::occupy(const Amount& part, std::uint32_t index, std::int64_t parts, std::int32_t that_gpu) {
  Node& node = nodes_[index];
  const auto free = gpu_free_.begin() + static_cast<std::ptrdiff_t>(index) * node_.gpus;
  if (part.gpu_share > 0 && that_gpu >= 0 && free[that_gpu] < part.gpu_share) return {index, 0, 0};
  node.milli_cores -= part.milli_cores * parts;
  node.memory -= part.memory * parts;
  Share share{index, static_cast<std::uint32_t>(parts), 0};
  const auto gpus = gpu_free_.begin() + static_cast<std::ptrdiff_t>(index) * node_.gpus;
  if (part.gpu_share > 0) {
    std::int32_t best = that_gpu;
    for (std::int32_t i = 0; that_gpu < 0 && i < node_.gpus; ++i)
      if (gpus[i] >= part.gpu_share && (best < 0 || gpus[i] < gpus[best])) best = i;
    assert(best >= 0);
    if (gpus[best] == kWhole) --node.whole_gpus;
    gpus[best] = static_cast<std::int16_t>(gpus[best] - part.gpu_share);
    share.gpu = static_cast<std::uint32_t>(best);
  }
  std::int64_t whole = part.gpus * parts;
  node.whole_gpus -= static_cast<std::int32_t>(whole);
  for (std::int32_t i = 0; whole > 0; ++i)
    if (gpus[i] == kWhole) gpus[i] = kTaken, --whole;
  changed(index);
  return share;
}

void Pool::give_back(const Amount& part, const Share& share) {
  Node& node = nodes_[share.node];
  node.milli_cores += part.milli_cores * share.parts;
  node.memory += part.memory * share.parts;
  const auto gpus = gpu_free_.begin() + static_cast<std::ptrdiff_t>(share.node) * node_.gpus;
  if (part.gpu_share > 0) {
    gpus[share.gpu] = static_cast<std::int16_t>(gpus[share.gpu] + part.gpu_share);
    if (gpus[share.gpu] == kWhole) ++node.whole_gpus;
  }
  // Whole GPUs are alike: any that is taken whole stands for the one that is free again.
  std::int64_t whole = static_cast<std::int64_t>(part.gpus) * share.parts;
  node.whole_gpus += static_cast<std::int32_t>(whole);
  for (std::int32_t i = 0; whole > 0 && i < node_.gpus; ++i)
    if (gpus[i] == kTaken) gpus[i] = kWhole, --whole;
  changed(share.node);
}

bool Pool::take(const Amount& part, std::int64_t parts, std::vector<Share>& taken, const Where& where) {
  taken.clear();
  if (parts == 1 || (part.gpu_share == 0 && !where.apart)) {
    Amount together = times_parts(part, parts);
    together.gpu_share = part.gpu_share;
    if (const std::uint32_t node = choose(sum(together, where.keep), where); node < nodes_.size()) {
      taken.push_back(occupy(part, node, parts));
      return true;
    }
    if (parts == 1) return false;
  }
  return take_spread(part, parts, taken, where);
}

bool Pool::take_spread(const Amount& part, std::int64_t parts, std::vector<Share>& taken,
                       const Where& where) {
  std::uint32_t node = 0;
  while (parts > 0) {
    node = find(sum(part, where.keep), node);
    if (node == nodes_.size()) break;
    const std::int64_t fit = where.apart ? 1 : parts_that_fit(part, node, where.keep);
    taken.push_back(occupy(part, node, std::min(parts, fit)));
    parts -= taken.back().parts;
    if (where.apart) ++node;
  }
  if (parts == 0) return true;
  for (const Share& share : taken) give_back(part, share);
  taken.clear();
  return false;
}

bool Pool::has_room_apart(const Amount& part, std::int64_t parts, const Amount& keep) const {
  std::uint32_t node = 0;
  for (; parts > 0; --parts, ++node)
    if ((node = find(sum(part, keep), node)) == nodes_.size()) return false;
  return true;
}

bool Pool::could_ever(const Amount& part, std::int64_t parts) const {
  return could_ever(node_, nodes_.size(), part, parts);
}

bool Pool::could_ever(const Amount& node, std::size_t count, const Amount& part, std::int64_t parts,
                      bool apart) {
  if (!fits({node.milli_cores, node.memory, node.gpus, node.gpus > 0 ? kWhole : 0}, part)) return false;
  std::int64_t each = apart ? 1 : std::numeric_limits<std::int64_t>::max();
  if (part.milli_cores > 0) each = std::min(each, node.milli_cores / part.milli_cores);
  if (part.memory > 0) each = std::min(each, node.memory / part.memory);
  if (part.gpus > 0) each = std::min<std::int64_t>(each, node.gpus / part.gpus);
  if (part.gpu_share > 0)
    each = std::min(each, node.gpus * static_cast<std::int64_t>(kWhole / part.gpu_share));
  return static_cast<double>(each) * static_cast<double>(count) >= static_cast<double>(parts);
}

void Pool::set_up(std::uint32_t node, bool up) {
  nodes_[node].up = up;
  changed(node);
}

Pool::Free Pool::free_of(std::uint32_t index) const {
  const Node& node = nodes_[index];
  if (!node.up) return {-1, -1, -1, -1};  // not even room for nothing
  Free free{node.milli_cores, node.memory, node.whole_gpus, 0};
  const auto gpus = gpu_free_.begin() + static_cast<std::ptrdiff_t>(index) * node_.gpus;
  for (std::int32_t i = 0; i < node_.gpus; ++i) free.share = std::max<std::int32_t>(free.share, gpus[i]);
  return free;
}

void Pool::changed(std::uint32_t node) {
  levels_[0][node] = free_of(node);
  for (const bool gpus : {false, true}) {
    Order& kept = gpus ? by_gpus_ : by_cores_;
    if (kept.keys.empty()) continue;
    const std::int64_t now = key(node, gpus);
    if (now == kept.keys[node]) continue;
    auto moved = kept.nodes.extract({kept.keys[node], node});
    moved.value().first = kept.keys[node] = now;
    kept.nodes.insert(std::move(moved));
  }
  std::size_t index = node;
  for (std::size_t level = 1; level < levels_.size(); ++level) add_up(level, index /= kChildren);
}

void Pool::add_up(std::size_t level, std::size_t index) {
  const auto& below = levels_[level - 1];
  const std::size_t first = index * kChildren, end = std::min(first + kChildren, below.size());
  Free most = below[first];
  for (std::size_t i = first + 1; i < end; ++i) {
    most.milli_cores = std::max(most.milli_cores, below[i].milli_cores);
    most.memory = std::max(most.memory, below[i].memory);
    most.gpus = std::max(most.gpus, below[i].gpus);
    most.share = std::max(most.share, below[i].share);
  }
  levels_[level][index] = most;
}

std::uint32_t Pool::add_node() {
  const auto node = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({node_.milli_cores, node_.memory, node_.gpus, true});
  gpu_free_.resize(nodes_.size() * static_cast<std::size_t>(node_.gpus), kWhole);
  std::size_t size = nodes_.size();
  for (std::size_t level = 0;; ++level, size = (size + kChildren - 1) / kChildren) {
    if (level == levels_.size()) levels_.emplace_back();
    levels_[level].resize(size);
    if (level > 0)  // a new level has all below it to look at; others only their last
      for (std::size_t i = level + 1 == levels_.size() ? 0 : size - 1; i < size; ++i) add_up(level, i);
    else
      levels_[0].back() = free_of(node);
    if (size == 1) break;
  }
  by_cores_ = by_gpus_ = {};  // made again when they are asked for
  return node;
}

Pool::NodeState Pool::state_of(std::uint32_t node) const {
  const Node& here = nodes_[node];
  NodeState out{here.milli_cores, here.memory, here.whole_gpus, here.up, {}};
  const auto gpus = gpu_free_.begin() + static_cast<std::ptrdiff_t>(node) * node_.gpus;
  out.gpus.assign(gpus, gpus + node_.gpus);
  return out;
}

void Pool::set_state(std::uint32_t node, const NodeState& state) {
  nodes_[node] = {state.milli_cores, state.memory, state.whole_gpus, state.up};
  std::copy(state.gpus.begin(), state.gpus.end(),
            gpu_free_.begin() + static_cast<std::ptrdiff_t>(node) * node_.gpus);
  changed(node);
}

bool Pool::NodeState::take(const Amount& part, const Share& share) {
  const Amount all = times_parts(part, share.parts);
  if (!up || milli_cores < all.milli_cores || memory < all.memory || whole_gpus < all.gpus) return false;
  if (part.gpu_share > 0 && gpus[share.gpu] < part.gpu_share) return false;
  milli_cores -= all.milli_cores, memory -= all.memory;
  if (part.gpu_share > 0) {
    if (gpus[share.gpu] == kWhole) --whole_gpus;
    gpus[share.gpu] = static_cast<std::int16_t>(gpus[share.gpu] - part.gpu_share);
  }
  whole_gpus -= all.gpus;
  std::int32_t whole = all.gpus;
  for (auto& gpu : gpus)
    if (whole > 0 && gpu == kWhole) gpu = kTaken, --whole;
  return true;
}

void Pool::NodeState::give_back(const Amount& part, const Share& share) {
  const Amount all = times_parts(part, share.parts);
  milli_cores += all.milli_cores, memory += all.memory, whole_gpus += all.gpus;
  if (part.gpu_share > 0) {
    gpus[share.gpu] = static_cast<std::int16_t>(gpus[share.gpu] + part.gpu_share);
    if (gpus[share.gpu] == kWhole) ++whole_gpus;
  }
  std::int32_t whole = all.gpus;
  for (auto& gpu : gpus)
    if (whole > 0 && gpu == kTaken) gpu = kWhole, --whole;
}

}  // namespace tandem::place
