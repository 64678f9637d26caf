#include "base/resources.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tandem {

std::string text(const Resources& r) {
  std::string out = fmt::format("{} core{}", r.cores, r.cores == 1 ? "" : "s");
  if (r.memory > 0) out += ", " + text_bytes(r.memory);
  if (r.speed < 1) out += fmt::format(", {:.0f} % speed", r.speed * 100);
  return out;
}

nlohmann::json to_json(const Resources& r) {
  return {{"cores", r.cores}, {"memory", r.memory}, {"speed", r.speed}};
}

Resources resources_from_json(const nlohmann::json& json) {
  return {json.value("cores", 1), json.value("memory", Bytes{0}), json.value("speed", 1.0)};
}

}  // namespace tandem
