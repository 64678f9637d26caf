#include "app/leftovers.h"

#include <fmt/format.h>

namespace tandem::app {

std::vector<RunLeftovers> reap_leftovers(store::Store& store) {
  std::vector<RunLeftovers> out;
  for (const auto& run : store.runs()) {
    const auto folder = store.run_folder(run.id);
    if (!local::has_leftovers(folder)) continue;
    const auto lock = store::RunLock::take(folder);
    if (!lock) continue;
    if (auto reaped = local::reap_leftovers(folder); reaped.any()) out.push_back({run.id, std::move(reaped)});
  }
  return out;
}

std::string text(const RunLeftovers& left) {
  std::string out = fmt::format("ended what run {} left: {}", left.run, local::text(left.reaped));
  if (!left.reaped.alive.empty())
    out += fmt::format("; could not end {}", fmt::join(left.reaped.alive, " "));
  return out;
}

}  // namespace tandem::app
