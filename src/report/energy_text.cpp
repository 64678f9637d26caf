#include "report/energy_text.h"

#include <fmt/format.h>

namespace tandem::report {

using namespace app;
namespace {

bool is_model(const std::string& source) {
  return source.starts_with("model");
}

std::string part_text(const EnergyPart& part) {
  const std::string of = part.of.empty() ? "" : " " + part.of;
  if (part.source.empty()) return (part.of.empty() ? "a part" : part.of) + " unknown";
  return fmt::format("{}{} ({})", text(part.joules), of, part.source);
}

// What of it would have been drawn doing nothing, as far as the parts know.
std::string idle_text(const std::vector<EnergyPart>& parts) {
  Joules idle;
  bool any = false, all = true;
  for (const auto& part : parts) {
    any |= part.idle.has_value();
    all &= part.idle.has_value();
    if (part.idle) idle += *part.idle;
  }
  return any ? fmt::format("; of it {}{} idle", all ? "" : "at least ", text(idle)) : "";
}

}  // namespace

const char* how_known(const EnergyTotal& drawn) {
  int modelled = 0, told = 0;
  for (const auto& part : drawn.parts)
    if (!part.source.empty()) ++told, modelled += is_model(part.source);
  if (told == 0) return is_model(drawn.source) ? "estimated" : "measured";
  return modelled == 0 ? "measured" : modelled == told ? "estimated" : "partly estimated";
}

std::string sources_text(const EnergyTotal& drawn) {
  if (drawn.parts.size() < 2) return drawn.source + idle_text(drawn.parts);
  std::string out;
  for (const auto& part : drawn.parts) out += (out.empty() ? "" : ", ") + part_text(part);
  return out + idle_text(drawn.parts);
}

std::string energy_text(const EnergyTotal& drawn) {
  if (drawn.source.empty()) return "unknown: no source (see `tandem doctor`)";
  const std::string total = (drawn.complete ? "" : "at least ") + text(drawn.joules);
  if (drawn.parts.size() > 1) return total + ": " + sources_text(drawn);
  return fmt::format("{}, {}: {}", total, how_known(drawn), sources_text(drawn));
}

}  // namespace tandem::report
