// Events and decisions as JSON values: the journal keeps them as CBOR, `tandem show --json` prints them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "event/decision.h"
#include "event/event.h"

namespace tandem {

nlohmann::json to_json(const Event&);
nlohmann::json to_json(const Decision&);
// For people's scripts: null where nobody could tell.
nlohmann::json parts_json(const std::vector<EnergyPart>&);

}  // namespace tandem
