// The sizes a task may run in, and how the cores of one node are dealt out among the tasks on it.
//
// A size is one of the task's options: a configuration, and the time an epoch takes in it. More cores must
// make an epoch shorter by some (kWorthIt) to be worth having. Memory does not change speed. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "event/view.h"

namespace tandem::place {

inline constexpr double kWorthIt = 0.97;

// By cores; among equals as the job prefers them. What a task without options wants is its one size; what it
// has, where it cannot be resized.
std::vector<Option> sizes_of(const TaskView&);
// The least core-seconds an epoch.
std::size_t thriftiest(const std::vector<Option>& sizes);
// The thriftiest, then those with no more cores, the most first: to be tried in this order.
std::vector<std::size_t> modest_sizes(const std::vector<Option>& sizes);
int least_cores(const std::vector<Option>& sizes);

// Of each the size that makes all end soonest on so many cores together: first the thriftiest each, then, one
// step at a time, whoever would end last gets more, as long as that makes it end sooner.
struct Sharer {
  const std::vector<Option>* sizes = nullptr;
  std::int64_t epochs_left = 1;
};
std::vector<std::size_t> deal_cores(std::span<const Sharer>, int cores);

}  // namespace tandem::place
