#include "event/energy.h"

#include <algorithm>

namespace tandem {

bool Energy::complete() const {
  return std::none_of(parts.begin(), parts.end(), [](const EnergyPart& part) { return part.source.empty(); });
}

Energy sum_of(std::vector<EnergyPart> parts) {
  Energy out;
  for (const auto& part : parts) {
    out.joules += part.joules;
    if (part.source.empty()) continue;
    out.source += (out.source.empty() ? "" : " + ") + part.source;
  }
  out.parts = std::move(parts);
  return out;
}

void add_parts(std::vector<EnergyPart>& sums, const std::vector<EnergyPart>& parts) {
  for (const auto& part : parts) {
    const auto same = std::find_if(sums.begin(), sums.end(), [&](const EnergyPart& sum) {
      return sum.of == part.of && sum.source == part.source;
    });
    if (same == sums.end()) {
      sums.push_back(part);
      continue;
    }
    same->joules += part.joules;
    if (same->idle && part.idle)
      *same->idle += *part.idle;
    else
      same->idle.reset();
  }
}

void add_parts(std::vector<EnergyPart>& sums, const Energy& energy) {
  if (energy.parts.empty())
    add_parts(sums, {EnergyPart{"", energy.joules, energy.source}});
  else
    add_parts(sums, energy.parts);
}

Energy sum_of(const Energy& first, const Energy& second) {
  if (first.parts.empty() && second.parts.empty() && first.source == second.source)
    return {first.joules + second.joules, first.source};
  std::vector<EnergyPart> parts;
  add_parts(parts, first);
  add_parts(parts, second);
  return sum_of(std::move(parts));
}

}  // namespace tandem
