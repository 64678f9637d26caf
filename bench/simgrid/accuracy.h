#pragma once

#include <cstdint>

namespace tandem::bench {

// Runs the problems of the seeds on both simulators and prints how far their completion times are apart; true
// when never more than 0.1 %.
bool compare_accuracy(std::uint64_t first, std::uint64_t seeds);

}  // namespace tandem::bench
