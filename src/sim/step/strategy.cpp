#include "sim/step/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "sim/step/step_partition.h"
#include "sim/step/strategy_parts.h"

namespace tandem::sim {
namespace {

void complain_of_strategy(const spec::Workload& workload, const std::string& what) {
  throw UserError(fmt::format("workload '{}': {}", printable(workload.name, 80), what));
}

void check_options(const spec::Workload& workload, const StrategyOptions& options) {
  const auto positive = [](double number) { return number >= 0 && std::isfinite(number); };
  if (!positive(options.interference)) complain_of_strategy(workload, "interference must not be negative");
  if (!positive(options.bucket) || !positive(options.copy_bucket))
    complain_of_strategy(workload, "the bytes of a bucket must not be negative");
  if (!positive(options.launch)) complain_of_strategy(workload, "the time to launch must not be negative");
  if (options.micro_batches < 0) complain_of_strategy(workload, "micro_batches must not be negative");
  if (!(options.clock_share > 0 && options.clock_share <= 1))
    complain_of_strategy(workload, "the share of the clock must be more than 0 and at most 1");
}

void check_workload(const spec::Workload& workload, const StrategyEntry& strategy) {
  if (strategy.name == "default" && workload.workers != 1)
    complain_of_strategy(
        workload,
        fmt::format("strategy 'default' uses one device, not {}: set workers to 1, or another strategy",
                    workload.workers));
  if (!workload.synchronous && strategy.name != "parameter-server")
    complain_of_strategy(
        workload, fmt::format("strategy '{}' is synchronous: only parameter-server can be asynchronous",
                              strategy.name));
}

// Of each pass, as long as a worker with these samples takes for it.
std::vector<double> pass_seconds(const Setting& setting, std::int64_t samples) {
  const spec::DeviceType& type = *setting.placement.workers.front().type;
  std::vector<double> out;
  for (const Pass& pass : setting.training.passes)
    out.push_back(
        pass_cost(type, setting.options.clock_share, setting.model, pass.operation, pass.backward, samples)
            .seconds);
  return out;
}

void cut(Setting& setting, const std::vector<double>& seconds) {
  std::vector<double> of_operation(setting.model.operations.size(), 0);
  for (std::size_t i = 0; i < seconds.size(); ++i)
    of_operation[setting.training.passes[i].operation] += seconds[i];
  setting.part = partition(setting.model, of_operation, setting.placement.workers.size());
}

void check_memories(const Setting& setting, std::int64_t samples) {
  std::vector<std::vector<std::uint32_t>> operations(setting.part.empty() ? 1
                                                                          : setting.placement.workers.size());
  for (std::uint32_t i = 0; i < setting.model.operations.size(); ++i)
    operations[setting.part.empty() ? 0 : setting.part[i]].push_back(i);
  const auto& workers = setting.placement.workers;
  for (std::size_t i = 0; i < workers.size(); ++i)
    check_memory(*workers[i].type, setting.model, operations[setting.part.empty() ? 0 : i], samples);
}

}  // namespace

const std::vector<StrategyEntry>& strategies() {
  static const std::vector<StrategyEntry> all{
      {"default", "one device", true, false, plan_alone},
      {"parameter-server", "servers hold the variables; workers pull them and push gradients", true, true,
       plan_parameter_server},
      {"distributed-replicated", "parameter servers; the workers of a node share one copy", true, true,
       plan_distributed_replicated},
      {"replicated", "each gradient is summed on one worker and copied to the others", true, false,
       plan_replicated},
      {"all-reduce", "gradients are summed in a ring of all workers", true, false, plan_all_reduce},
      {"hierarchical", "gradients are summed within nodes, across them, and handed out within", true, false,
       plan_hierarchical},
      {"model", "each worker has a part of the model", false, false, plan_model},
      {"pipeline", "each worker has a part of the model and works on micro-batches in turn", false, false,
       plan_pipeline},
  };
  return all;
}

const StrategyEntry& find_strategy(const std::string& name) {
  std::vector<std::string> known;
  for (const StrategyEntry& entry : strategies()) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  throw UserError(fmt::format("there is no strategy '{}'{}; there are: {}", printable(name, 80),
                              did_you_mean(name, known), join(known)));
}

Setting make_setting(const Placement& placement, const spec::Workload& workload, const graph::Model& model,
                     const StrategyOptions& options, const Step& most) {
  Setting setting{find_strategy(workload.strategy), placement, workload, model, options};
  check_options(workload, options);
  check_workload(workload, setting.strategy);
  const std::int64_t samples = *std::max_element(most.samples.begin(), most.samples.end());
  setting.training = training_graph(model);
  const auto seconds = pass_seconds(setting, samples);
  if (!setting.strategy.divides) cut(setting, seconds);
  std::vector<std::uint32_t> device;
  for (const Pass& pass : setting.training.passes)
    device.push_back(setting.part.empty() ? 0 : setting.part[pass.operation]);
  setting.ranks = ranks(setting.training, options.scheduler, seconds, device);
  setting.order = order_on_one(setting.training, setting.ranks);
  check_memories(setting, samples);
  return setting;
}

Plan plan_step(const Setting& setting, const Step& step) {
  Plan plan = setting.strategy.plan(setting, step);
  add_reads(plan, setting, step.next);
  return plan;
}

Plan plan_reading(const Setting& setting, const Step& step) {
  Plan plan;
  add_reads(plan, setting, step.samples);
  return plan;
}

}  // namespace tandem::sim
