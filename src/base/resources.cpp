#include "base/resources.h"

#include <fmt/format.h>

#include <array>
#include <climits>
#include <cmath>
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

double not_negative(const nlohmann::json& json, const char* key) {
  const nlohmann::json number = json.value(key, nlohmann::json(0.0));
  if (!number.is_number() || !(number.get<double>() >= 0 && std::isfinite(number.get<double>())))
    throw SystemError(fmt::format("{} must be a number of at least 0", key));
  return number.get<double>();
}

void read_gpu_settings(const nlohmann::json& json, Resources& out) {
  const nlohmann::json memory = json.value("gpu_memory", nlohmann::json(0));
  if (!whole_within(memory, 0, INT64_MAX)) throw SystemError("gpu_memory must be a whole number of bytes");
  out.gpu_memory = memory.get<Bytes>();
  out.gpu_power.value = not_negative(json, "gpu_power");
  out.gpu_clock = not_negative(json, "gpu_clock");
  const nlohmann::json word = json.value("precision", nlohmann::json(name(Precision::own)));
  const auto precision = word.is_string() ? precision_from(word.get<std::string>()) : std::nullopt;
  if (!precision) throw SystemError("precision must be own, fp32, tf32, bf16 or fp16");
  out.precision = *precision;
}

constexpr std::array<const char*, 5> kPrecisions{"own", "fp32", "tf32", "bf16", "fp16"};

}  // namespace

const char* name(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)];
}

std::optional<Precision> precision_from(std::string_view word) {
  for (std::size_t i = 0; i < kPrecisions.size(); ++i)
    if (word == kPrecisions[i]) return static_cast<Precision>(i);
  return std::nullopt;
}

std::string text(const Resources& r) {
  std::string out = fmt::format("{} core{}", r.cores, r.cores == 1 ? "" : "s");
  if (r.memory > 0) out += ", " + text_bytes(r.memory);
  if (r.gpus > 0) out += fmt::format(", {} GPU{}", r.gpus, r.gpus == 1 ? "" : "s");
  if (r.gpu_memory > 0) out += fmt::format(" with {}", text_bytes(r.gpu_memory));
  if (r.gpu_power.value > 0) out += " at " + text(r.gpu_power);
  if (r.gpu_clock > 0) out += " at " + text_frequency(r.gpu_clock);
  if (r.speed < 1) out += fmt::format(", {:.0f} % speed", r.speed * 100);
  if (r.precision != Precision::own) out += std::string(", ") + name(r.precision);
  return out;
}

nlohmann::json to_json(const Resources& r) {
  nlohmann::json out{{"cores", r.cores}, {"memory", r.memory}, {"speed", r.speed}};
  if (r.gpus > 0) out["gpus"] = r.gpus;
  if (r.gpu_memory > 0) out["gpu_memory"] = r.gpu_memory;
  if (r.gpu_power.value > 0) out["gpu_power"] = r.gpu_power.value;
  if (r.gpu_clock > 0) out["gpu_clock"] = r.gpu_clock;
  if (r.precision != Precision::own) out["precision"] = name(r.precision);
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
  Resources out{cores.get<int>(), memory.get<Bytes>(), speed.get<double>(), gpus.get<int>()};
  read_gpu_settings(json, out);
  return out;
}

}  // namespace tandem
