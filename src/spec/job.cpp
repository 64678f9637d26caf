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
  read_word(from, "folder", program.folder);
  if (from.contains("plain")) from["plain"].get_to(program.plain);
  if (from.contains("placeholders")) from["placeholders"].get_to(program.placeholders);
  read_word(from, "parameter_file", program.parameter_file);
  if (from.contains("metrics")) from["metrics"].get_to(program.metrics);
  read_word(from, "epoch", program.epoch);
  read_word(from, "metrics_file", program.metrics_file);
  read_word(from, "metrics_format", program.metrics_format);
  if (from.contains("preload")) from["preload"].get_to(program.preload);
  const bool model = !program.model.empty() || !program.dataset.empty();
  if (model && !program.command.empty()) damaged("it has both a model and a command");
  return program;
}

PlaceSpec read_place(const json& from) {
  PlaceSpec place;
  read_whole(from, "priority", place.priority, std::numeric_limits<int>::min());
  if (from.contains("energy_weight"))
    place.energy_weight = not_negative(from["energy_weight"], "energy_weight");
  read_quantity(from, "deadline", place.deadline);
  read_word(from, "architecture", place.architecture);
  read_word(from, "accelerator", place.accelerator);
  if (from.contains("labels")) from["labels"].get_to(place.labels);
  read_quantity(from, "seconds", place.seconds);
  read_word(from, "family", place.family);
  if (from.contains("work")) place.work = not_negative(from["work"], "work");
  if (from.contains("loss")) place.loss = not_negative(from["loss"], "loss");
  if (from.contains("bandwidth")) place.bandwidth = not_negative(from["bandwidth"], "bandwidth");
  return place;
}

TrainJob read_train_job(const json& from) {
  if (!from.is_object() || from.value("kind", "") != "train") damaged("it is not of kind train");
  TrainJob job;
  read_word(from, "name", job.name);
  job.program = read_program(part(from, "program"));
  int refused = 0;
  job.hyper = values_from_json(part(from, "hyper"), &refused);
  if (refused > 0) damaged("a hyperparameter has no value");
  if (from.contains("groups")) from["groups"].get_to(job.groups);
  read_whole(from, "epochs", job.epochs, job.program.plain ? 0 : 1);
  job.system = resources_from_json(part(from, "system"));
  read_whole(from, "nodes", job.nodes, 1);
  read_whole(from, "seed", job.seed, std::numeric_limits<std::int64_t>::min());
  const json& limits = part(from, "limits");
  if (limits.contains("stall")) job.limits.stall.value = not_negative(limits["stall"], "stall");
  read_quantity(limits, "time", job.limits.time);
  read_whole(limits, "retries", job.limits.retries, 0);
  read_whole(limits, "processes", job.limits.processes, 1);
  read_whole(limits, "output", job.limits.output, 1);
  read_whole(limits, "lost", job.limits.lost, 0);
  read_whole(from, "keep_checkpoints", job.keep_checkpoints, 0);
  const json& energy = part(from, "energy");
  read_word(energy, "source", job.energy.source);
  read_word(energy, "url", job.energy.url);
  read_quantity(energy, "idle", job.energy.idle);
  read_quantity(energy, "busy", job.energy.busy);
  job.place = read_place(part(from, "place"));
  return job;
}

// Only what was said: most jobs say nothing, and a journal holds many of them.
json written_place(const PlaceSpec& place) {
  json out = json::object();
  if (place.priority != 0) out["priority"] = place.priority;
  if (place.energy_weight) out["energy_weight"] = *place.energy_weight;
  if (place.deadline) out["deadline"] = place.deadline->value;
  if (!place.architecture.empty()) out["architecture"] = place.architecture;
  if (!place.accelerator.empty()) out["accelerator"] = place.accelerator;
  if (!place.labels.empty()) out["labels"] = place.labels;
  if (place.seconds) out["seconds"] = place.seconds->value;
  if (!place.family.empty()) out["family"] = place.family;
  if (place.work > 0) out["work"] = place.work;
  if (place.loss > 0) out["loss"] = place.loss;
  if (place.bandwidth > 0) out["bandwidth"] = place.bandwidth;
  return out;
}

// The longest first: a group may lie in another.
const std::string* group_of(const std::string& name, const std::vector<std::string>& groups) {
  const std::string* best = nullptr;
  for (const auto& group : groups)
    if (name.size() > group.size() + 1 && name.starts_with(group) && name[group.size()] == '.' &&
        (best == nullptr || group.size() > best->size()))
      best = &group;
  return best;
}

// The map of a group, made where it is missing, in those it lies in.
json& place_of(json& root, const std::string& group, const std::vector<std::string>& groups) {
  const std::string* outer = group_of(group, groups);
  json& around = outer ? place_of(root, *outer, groups) : root;
  json& here = around[outer ? group.substr(outer->size() + 1) : group];
  if (!here.is_object()) here = json::object();
  return here;
}

}  // namespace

Values in_groups(const Values& hyper, const std::vector<std::string>& groups) {
  if (groups.empty()) return hyper;
  json nested = json::object();
  Values out;
  for (const auto& [name, value] : hyper) {
    if (const auto* group = group_of(name, groups))
      place_of(nested, *group, groups)[name.substr(group->size() + 1)] = tandem::to_json(value);
    else
      out.emplace(name, value);
  }
  for (const auto& [name, held] : nested.items()) out[name] = Structure{held.dump()};
  return out;
}

nlohmann::json to_json(const Program& program) {
  json out = program.built_in() ? json{{"model", program.model}, {"dataset", program.dataset}}
                                : json{{"command", program.command}};
  if (program.plain) out["plain"] = true;
  if (!program.folder.empty()) out["folder"] = program.folder;
  if (program.preload != Program{}.preload) out["preload"] = program.preload;
  if (program.placeholders) out["placeholders"] = true;
  if (program.parameter_file != Program{}.parameter_file) out["parameter_file"] = program.parameter_file;
  if (!program.metrics.empty()) out["metrics"] = program.metrics;
  if (!program.epoch.empty()) out["epoch"] = program.epoch;
  if (!program.metrics_file.empty()) out["metrics_file"] = program.metrics_file;
  if (!program.metrics_format.empty()) out["metrics_format"] = program.metrics_format;
  return out;
}

Program program_from_json(const nlohmann::json& from) {
  try {
    return read_program(from);
  } catch (const json::exception& error) {
    damaged(error.what());
  }
}

nlohmann::json to_json(const TrainJob& job) {
  json limits = {{"stall", job.limits.stall.value}, {"retries", job.limits.retries}};
  if (job.limits.lost != Limits{}.lost) limits["lost"] = job.limits.lost;
  if (job.limits.output != Limits{}.output) limits["output"] = job.limits.output;
  if (job.limits.time) limits["time"] = job.limits.time->value;
  if (job.limits.processes != Limits{}.processes) limits["processes"] = job.limits.processes;
  json energy = {{"source", job.energy.source}};
  if (!job.energy.url.empty()) energy["url"] = job.energy.url;
  if (job.energy.idle) energy["idle"] = job.energy.idle->value;
  if (job.energy.busy) energy["busy"] = job.energy.busy->value;
  json out = {{"kind", "train"},
              {"name", job.name},
              {"program", to_json(job.program)},
              {"hyper", tandem::to_json(job.hyper)},
              {"epochs", job.epochs},
              {"system", to_json(job.system)},
              {"seed", job.seed},
              {"limits", limits},
              {"keep_checkpoints", job.keep_checkpoints},
              {"energy", energy}};
  if (!job.groups.empty()) out["groups"] = job.groups;
  if (job.nodes > 1) out["nodes"] = job.nodes;
  if (auto place = written_place(job.place); !place.empty()) out["place"] = std::move(place);
  return out;
}

TrainJob train_job_from_json(const nlohmann::json& from) {
  try {
    return read_train_job(from);
  } catch (const json::exception& error) {
    damaged(error.what());
  }
}

}  // namespace tandem::spec
