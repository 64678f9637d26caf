// The parts of search_bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/search/problems.h"

namespace tandem::bench {

// The losses of a search's trials, one after the other, each told before the next is asked for.
std::vector<double> search_for(const Problem&, const std::string& algorithm, std::uint64_t seed);

// Ten real and whole parameters; seconds of each ask and tell together after so many trials.
std::vector<double> ask_tell_seconds(const std::string& algorithm, std::int64_t trials, int asks);

// The pipe for bench/search/run.
int serve(const std::string& data);

}  // namespace tandem::bench
