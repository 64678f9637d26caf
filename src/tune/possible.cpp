#include "tune/possible.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "search/points.h"
#include "search/searcher.h"
#include "tune/goals.h"
#include "tune/system_tuner.h"
#include "tune/tuning.h"

namespace tandem::tune {

bool fits_somewhere(const View& view, const Resources& wanted, int nodes) {
  return std::any_of(view.nodes.begin(), view.nodes.end(), [&](const NodeView& node) {
    const auto& most = node.largest;
    if (wanted.cores > most.cores || wanted.memory > most.memory || wanted.gpus > most.gpus) return false;
    return nodes == 1 ||
           nodes <= std::count_if(view.nodes.begin(), view.nodes.end(),
                                  [&](const NodeView& other) { return same_type(node, other); });
  });
}

void require_possible(const spec::TrainJob& job, const View& view) {
  if (!fits_somewhere(view, job.system))
    throw UserError(fmt::format("it asks for {}, more than any node has", text(job.system)));
  if (!fits_somewhere(view, job.system, job.nodes))
    throw UserError(
        fmt::format("it asks for {} nodes of one type with {} each, and there are not so many here", job.nodes,
                    text(job.system)));
}

const NodeView& largest_node(const View& view) {
  return *std::max_element(view.nodes.begin(), view.nodes.end(), [](const NodeView& a, const NodeView& b) {
    return a.capacity.cores < b.capacity.cores;
  });
}

const NodeView& node_for(const spec::TuneJob& job, const View& view) {
  if (view.nodes.empty()) throw UserError("there is no machine to tune on");
  const NodeView& node = largest_node(view);
  const auto system = on_node(job.system, node);
  if (job.hyper_cores && *job.hyper_cores > node.capacity.cores)
    throw UserError(fmt::format("--cores {} is more than the {} cores of this machine", *job.hyper_cores,
                                node.capacity.cores));
  if (system.cores.empty())
    throw UserError(fmt::format("system.cores: every choice is more than the {} cores of this machine",
                                node.capacity.cores));
  if (system.gpus > node.capacity.gpus)
    throw UserError(fmt::format(
        "system.gpus: {} asked for, and this machine has {} that can be used; see `tandem doctor`",
        system.gpus, node.capacity.gpus));
  if (system.gpu_memory > node.capacity.gpu_memory)
    throw UserError(fmt::format("system.gpu_memory: {} is more than the {} of a GPU here",
                                text_bytes(system.gpu_memory), text_bytes(node.capacity.gpu_memory)));
  if (system.memory.empty())
    throw UserError(fmt::format("system.memory: every choice is more than the {} of this machine",
                                text_bytes(node.capacity.memory)));
  return node;
}

namespace {

// All of them are looked at for each epoch of a trial.
void require_few_configurations(const spec::TuneJob& job, const NodeView& node) {
  const auto system = on_node(job.system, node);
  double all = 1;
  for (const auto size : {system.cores.size(), system.memory.size(), system.speed.size(), system.gpu_power.size(),
                          system.gpu_clock.size(), system.precision.size()})
    all *= static_cast<double>(size);
  if (const int most = search::most_tries(job.hyper); all > most)
    throw UserError(fmt::format("system: {:.0f} combinations on this machine; at most {} are allowed{}: leave some out",
                                all, most, job.hyper.constraints.empty() ? "" : " with these constraints"));
}

}  // namespace

void require_possible(const spec::TuneJob& job, const View& view) {
  const NodeView& node = node_for(job, view);
  require_few_configurations(job, node);
  search::require_bounded(job.search, search_space(job, node), loss_count(job));
}

}  // namespace tandem::tune
