// What a bag of tasks comes to: how often each key was seen. Words in text; triangles at each corner of a
// graph.
//
// Where some tasks were dropped, the counts of the others stand for them too: scaled up by tasks / tasks run,
// as approximate map-reduce systems do. What that costs is measured against the counts of the whole: the mean
// absolute relative error over the keys seen most, so that rare keys, whose error is all or nothing, do not
// hide what people ask for. Plain values; all but reading and writing is pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>

namespace tandem::bags {

using Counts = std::unordered_map<std::string, std::uint64_t>;  // in no order

inline constexpr std::size_t kKeysJudged = 1000;

// The loss of `part`, which `run` of `tasks` tasks counted, against the whole. 0: the same. UserError where
// there is nothing to compare.
double loss(const Counts& whole, const Counts& part, int tasks, int run);

// One "COUNT KEY" a line. Reading refuses, as a SystemError, what is not a whole result.
void write_counts(const Counts&, const std::filesystem::path&);
Counts read_counts(const std::filesystem::path&);

}  // namespace tandem::bags
