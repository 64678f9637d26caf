#include "tune/retry.h"

#include <algorithm>

namespace tandem::tune {

bool worth_another_attempt(const TaskView& task, const TaskFailed& failed, int retries) {
  if (failed.failure == Failure::lost) return true;
  if (task.failures > retries) return false;
  const bool progressed = !task.epochs.empty() && task.epochs.back().attempt == failed.attempt;
  switch (failed.failure) {
    case Failure::killed:
    case Failure::stalled:
      return true;
    case Failure::crashed:
      return progressed;
    default:
      return false;
  }
}

Resources settable_somewhere(const View& view, Resources wanted) {
  const auto any = [&](auto may) { return std::any_of(view.nodes.begin(), view.nodes.end(), may); };
  if (!any([](const NodeView& node) { return node.capacity.gpu_power.value > 0; })) wanted.gpu_power = {};
  if (!any([](const NodeView& node) { return node.capacity.gpu_clock > 0; })) wanted.gpu_clock = 0;
  return wanted;
}

}  // namespace tandem::tune
