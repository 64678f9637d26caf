// Which of the measured quantities say something of their own.
//
// A sensor puts into a profile whatever it could measure, less fixed aliases (platform::EventCode::alias_of:
// cpu-clock, page-faults, bus-cycles, branch-loads, branch-load-misses). Which others move together depends
// on the jobs, so it is decided over a set of profiles by whoever compares them. Pure.
#pragma once

#include <string>
#include <vector>

#include "event/event.h"

namespace tandem::measure {

// Every name a profile may hold, the more telling first: perf's events in the order of the table, then /proc,
// then GPUs.
const std::vector<std::string>& profile_names();

inline constexpr std::size_t kFewestProfiles = 8;

// The names, in the order of profile_names() and unknown ones after it by alphabet, less each that correlates
// with an earlier kept one by |r| > threshold over the profiles that hold both. With fewer than
// kFewestProfiles such profiles, or a quantity that never changes, nothing can be said and the name is kept.
// The same profiles give the same answer in whatever order they come, but for rounding.
std::vector<std::string> independent(const std::vector<Profile>& profiles, double threshold = 0.98);

}  // namespace tandem::measure
