#include "spec/job.h"

#include "spec/journalled.h"

namespace tandem::spec {
namespace {

using namespace journalled;

Program read_program(const json& from) {
  Program program;
  read_word(from, "model", program.model);
  read_word(from, "dataset", program.dataset);
  if (from.contains("command")) from["command"].get_to(program.command);
  const bool model = !program.model.empty() || !program.dataset.empty();
  if (model && !program.command.empty()) damaged("it has both a model and a command");
  return program;
}

TrainJob read_job(const json& from) {
  if (!from.is_object() || from.value("kind", "") != "train") damaged("it is not of kind train");
  TrainJob job;
  read_word(from, "name", job.name);
  job.program = read_program(part(from, "program"));
  int refused = 0;
  job.hyper = values_from_json(part(from, "hyper"), &refused);
  if (refused > 0) damaged("a hyperparameter is not a scalar");
  read_whole(from, "epochs", job.epochs, 1);
  job.system = resources_from_json(part(from, "system"));
  read_whole(from, "seed", job.seed, std::numeric_limits<std::int64_t>::min());
  const json limits = part(from, "limits");
  if (limits.contains("stall")) job.limits.stall.value = not_negative(limits["stall"], "stall");
  read_quantity(limits, "time", job.limits.time);
  read_whole(limits, "retries", job.limits.retries, 0);
  read_whole(from, "keep_checkpoints", job.keep_checkpoints, 0);
  const json energy = part(from, "energy");
  read_word(energy, "source", job.energy.source);
  read_word(energy, "url", job.energy.url);
  read_quantity(energy, "idle", job.energy.idle);
  read_quantity(energy, "busy", job.energy.busy);
  return job;
}

}  // namespace

nlohmann::json to_json(const TrainJob& job) {
  json program = job.program.built_in() ? json{{"model", job.program.model}, {"dataset", job.program.dataset}}
                                        : json{{"command", job.program.command}};
  json limits = {{"stall", job.limits.stall.value}, {"retries", job.limits.retries}};
  if (job.limits.time) limits["time"] = job.limits.time->value;
  json energy = {{"source", job.energy.source}};
  if (!job.energy.url.empty()) energy["url"] = job.energy.url;
  if (job.energy.idle) energy["idle"] = job.energy.idle->value;
  if (job.energy.busy) energy["busy"] = job.energy.busy->value;
  return {{"kind", "train"},
          {"name", job.name},
          {"program", program},
          {"hyper", tandem::to_json(job.hyper)},
          {"epochs", job.epochs},
          {"system", to_json(job.system)},
          {"seed", job.seed},
          {"limits", limits},
          {"keep_checkpoints", job.keep_checkpoints},
          {"energy", energy}};
}

TrainJob train_job_from_json(const nlohmann::json& from) {
  try {
    return read_job(from);
  } catch (const json::exception& error) {
    damaged(error.what());
  }
}

}  // namespace tandem::spec
