#include "app/experiment_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/ask_tell.h"
#include "app/catalogue.h"
#include "app/installation.h"
#include "base/error.h"
#include "base/json.h"
#include "tune/experiment_plan.h"

namespace tandem::app {

using nlohmann::json;

json json_of(const RunWorld& where) {
  json out{{"world", where.world},
           {"partition", where.partition},
           {"account", where.account},
           {"qos", where.qos},
           {"constraint", where.constraint}};
  if (where.time) out["time"] = where.time->value;
  return out;
}

bool is_asked(const store::RunInfo& run) {
  const auto spec = parse_json(run.spec);
  return spec.is_object() && spec.contains("world") && spec["world"].is_object() &&
         spec["world"].value("world", "") == kAskedWorld;
}

RunWorld world_of(const store::RunInfo& run) {
  if (is_asked(run))
    throw UserError(
        fmt::format("the trials of run {0} are tried by a program that asks for them: in Python "
                    "tandem.Study(resume=\"{0}\") goes on, elsewhere `{1} ask --resume {0}`",
                    run.id, own_command()));
  RunWorld out;
  const auto spec = parse_json(run.spec);
  if (!spec.is_object() || !spec.contains("world") || !spec["world"].is_object()) return out;
  const auto& from = spec["world"];
  out.world = from.value("world", out.world);
  out.partition = from.value("partition", "");
  out.account = from.value("account", "");
  out.qos = from.value("qos", "");
  out.constraint = from.value("constraint", "");
  if (from.contains("time")) out.time = Seconds{from.value("time", 0.0)};
  return out;
}

HostedWorld there(const RunWorld& where, const store::RunInfo& run, const std::filesystem::path& folder) {
  WorldSetup setup{.world = where.world, .run = run.id, .folder = folder};
  setup.trainer = trainer_program().string();
  setup.programs = own_folder();
  setup.slurm = {where.partition, where.account, where.qos, where.constraint, where.time};
  return make_world(setup);
}

int lanes_for(const spec::Experiment& job) {
  int lanes = 1;
  for (const auto& run : tune::plan_of(job).runs) lanes = std::max(lanes, run.jobs * run.nodes);
  return lanes;
}

void check_fits_here(const spec::Experiment& job, const Resources& machine) {
  for (const auto& run : tune::plan_of(job).runs) {
    if (run.wanted.cores > machine.cores)
      throw UserError(
          fmt::format("system.cores: a point asks for {} cores, and this machine has {}; leave the "
                      "larger ones out",
                      run.wanted.cores, machine.cores));
    const Bytes memory = run.wanted.memory * run.jobs * run.nodes;
    if (memory > machine.memory)
      throw UserError(
          fmt::format("a point has {} processes of {} at once, {} in all, and this machine has {}: "
                      "give system.memory smaller choices, or leave the largest of experiment.jobs out",
                      run.jobs * run.nodes, text_bytes(run.wanted.memory), text_bytes(memory),
                      text_bytes(machine.memory)));
  }
}

}  // namespace tandem::app
