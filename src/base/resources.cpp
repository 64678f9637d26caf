#include "base/resources.h"

#include <fmt/format.h>

#include <climits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tandem {
namespace {

bool whole_within(const nlohmann::json& json, std::int64_t least, std::int64_t most) {
  if (!json.is_number_integer()) return false;
  if (json.is_number_unsigned())
    return json.get<std::uint64_t>() <= static_cast<std::uint64_t>(most) && json.get<std::int64_t>() >= least;
  return json.get<std::int64_t>() >= least && json.get<std::int64_t>() <= most;
}

}  // namespace

std::string text(const Resources& r) {
  std::string out = fmt::format("{} core{}", r.cores, r.cores == 1 ? "" : "s");
  if (r.memory > 0) out += ", " + text_bytes(r.memory);
  if (r.gpus > 0) out += fmt::format(", {} GPU{}", r.gpus, r.gpus == 1 ? "" : "s");
  if (r.speed < 1) out += fmt::format(", {:.0f} % speed", r.speed * 100);
  return out;
}

nlohmann::json to_json(const Resources& r) {
  nlohmann::json out{{"cores", r.cores}, {"memory", r.memory}, {"speed", r.speed}};
  if (r.gpus > 0) out["gpus"] = r.gpus;
  return out;
}

Resources resources_from_json(const nlohmann::json& json) {
  const Resources none;
  if (!json.is_object()) throw SystemError("resources must be an object with cores, memory and speed");
  const nlohmann::json cores = json.value("cores", nlohmann::json(none.cores));
  const nlohmann::json memory = json.value("memory", nlohmann::json(none.memory));
  const nlohmann::json speed = json.value("speed", nlohmann::json(none.speed));
  const nlohmann::json gpus = json.value("gpus", nlohmann::json(none.gpus));
  if (!whole_within(gpus, 0, INT_MAX)) throw SystemError("gpus must be a whole number of at least 0");
  if (!whole_within(cores, 1, INT_MAX)) throw SystemError("cores must be a whole number of at least 1");
  if (!whole_within(memory, 0, INT64_MAX)) throw SystemError("memory must be a whole number of bytes");
  if (!speed.is_number() || !(speed.get<double>() > 0 && speed.get<double>() <= 1))
    throw SystemError("speed must be above 0 and at most 1");
  return {cores.get<int>(), memory.get<Bytes>(), speed.get<double>(), gpus.get<int>()};
}

}  // namespace tandem
