#include "tune/retry.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem::tune {

std::string why_held(const TaskView& task, const spec::Limits& limits) {
  if (limits.lost == 0 || task.lost_at_once < limits.lost) return "";
  return fmt::format(
      "held: Tandem ended {} times in a row within {} of its start, before it had reported anything, so it "
      "may be what ends Tandem (limits.lost); to run it again, resume its run, or submit it again",
      task.lost_at_once, text(TaskView::kAtOnce));
}

bool worth_another_attempt(const TaskView& task, const TaskFailed& failed, const spec::Limits& limits) {
  if (failed.failure == Failure::lost) return why_held(task, limits).empty();
  if (task.failures > limits.retries) return false;
  const bool progressed = !task.epochs.empty() && task.epochs.back().attempt == failed.attempt;
  switch (failed.failure) {
    case Failure::killed:
    case Failure::stalled:
    case Failure::no_space:
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
