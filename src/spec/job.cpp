#include "spec/job.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tandem::spec {
namespace {

using nlohmann::json;

[[noreturn]] void damaged(const std::string& what) {
  throw SystemError("a job in the journal is damaged: " + what);
}

// Readers leave `to` as it is when the key is absent, so that journals of older versions can be read.
template <class Whole>
void read_whole(const json& from, const char* key, Whole& to, std::int64_t least,
                std::int64_t most = std::numeric_limits<Whole>::max()) {
  if (!from.contains(key)) return;
  const json& held = from[key];
  const bool fits = held.is_number_integer() &&
                    (!held.is_number_unsigned() || held.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!fits || held.get<std::int64_t>() < least || held.get<std::int64_t>() > most)
    damaged(std::string(key) + " is " + held.dump(-1, ' ', true, json::error_handler_t::replace));
  to = static_cast<Whole>(held.get<std::int64_t>());
}

double finite(const json& held, const char* key) {
  if (!held.is_number() || !std::isfinite(held.get<double>()) || held.get<double>() < 0)
    damaged(std::string(key) + " is not a finite number of at least 0");
  return held.get<double>();
}

template <class Unit>
void read_optional(const json& from, const char* key, std::optional<Quantity<Unit>>& to) {
  if (from.contains(key)) to = Quantity<Unit>{finite(from[key], key)};
}

void read_word(const json& from, const char* key, std::string& to) {
  if (from.contains(key)) from[key].get_to(to);
}

// A part that must be an object; an empty one when it is absent.
json part(const json& from, const char* key) {
  if (!from.contains(key)) return json::object();
  if (!from[key].is_object()) damaged(std::string(key) + " is not an object");
  return from[key];
}

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
  if (limits.contains("stall")) job.limits.stall.value = finite(limits["stall"], "stall");
  read_optional(limits, "time", job.limits.time);
  read_whole(limits, "retries", job.limits.retries, 0);
  read_whole(from, "keep_checkpoints", job.keep_checkpoints, 0);
  const json energy = part(from, "energy");
  read_word(energy, "source", job.energy.source);
  read_word(energy, "url", job.energy.url);
  read_optional(energy, "idle", job.energy.idle);
  read_optional(energy, "busy", job.energy.busy);
  return job;
}

}  // namespace

json to_json(const TrainJob& job) {
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

TrainJob train_job_from_json(const json& from) {
  try {
    return read_job(from);
  } catch (const json::exception& error) {
    damaged(error.what());
  }
}

}  // namespace tandem::spec
