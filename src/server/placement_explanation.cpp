#include "server/placement_explanation.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tandem::server {

place::Explanation placed_because(control::Journal& journal, const place::Policy& policy, TaskId task,
                                  Attempt attempt) {
  View view;
  place::Scheduler scheduler(policy, 1);
  std::optional<place::Explanation> found;
  journal.replay([&](control::Entry&& entry) {
    if (found) return;
    view.apply(entry.event);
    scheduler.fold(view, entry.event, entry.decisions);
    for (const auto& decision : entry.decisions) {
      const auto* start = std::get_if<Start>(&decision.body);
      if (start && start->task == task && start->attempt == attempt) {
        found = scheduler.explain(view, task);
        std::string where = view.nodes[static_cast<std::size_t>(start->node)].name;
        for (const NodeId node : start->more) where += ", " + view.nodes[static_cast<std::size_t>(node)].name;
        found->verdict = fmt::format("it was put on {} when this was so", where);
        found->expected_start.reset();
        found->start_note.clear();
      }
      view.apply(decision);
    }
  });
  if (!found)
    throw SystemError(fmt::format("the journal holds no start of attempt {} of task {}", attempt, task));
  return *found;
}

}  // namespace tandem::server
