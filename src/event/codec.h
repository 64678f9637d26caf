// Events and decisions as JSON values: the journal keeps them as CBOR, `tandem show --json` prints them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "event/decision.h"
#include "event/event.h"

namespace tandem {

nlohmann::json to_json(const Event&);
nlohmann::json to_json(const Decision&);

}  // namespace tandem
