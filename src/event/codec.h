// Events and decisions as JSON values: the journal keeps them as CBOR, `tandem show --json` prints them.
//
// Reading ignores unknown keys and leaves missing ones at their defaults, so journals of older versions can
// be read. What is not an event at all throws SystemError.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "event/decision.h"
#include "event/event.h"

namespace tandem {

nlohmann::json to_json(const Event&);
nlohmann::json to_json(const Decision&);
Event event_from_json(const nlohmann::json&);
Decision decision_from_json(const nlohmann::json&);

}  // namespace tandem
