// Which of several losses are best when there is more than one goal.
//
// Ranks by non-domination (a dominates b when it is nowhere worse and somewhere better), ties inside a rank
// by crowding distance, then by index. With one goal this is plain sorting. Losses of unequal length are a
// bug.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/searcher.h"

namespace tandem::search {

bool dominates(const Losses& a, const Losses& b);
// 0 for the front, 1 for the front of the rest, and so on. O(n log n) for one or two goals, O(n²) for more.
std::vector<int> ranks(const std::vector<Losses>&);
// How alone each is among `which` (indices of one rank); infinite at the ends.
std::vector<double> crowding(const std::vector<Losses>&, const std::vector<std::size_t>& which);
// Indices, best first; only so many of them when `most` says so, which is quicker.
std::vector<std::size_t> best_first(const std::vector<Losses>&, std::size_t most = SIZE_MAX);
// Indices of the non-dominated ones, in order of index.
std::vector<std::size_t> front(const std::vector<Losses>&);

}  // namespace tandem::search
