#pragma once

namespace tandem::bench {

// Runs star clusters on both simulators in turns and prints completions a second and their ratios; true when
// those are what is asked and both simulated the same.
bool compare_speed(int repetitions);

}  // namespace tandem::bench
