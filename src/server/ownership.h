// Whose job it is, and who may see and end it: its owner, and operators. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include "event/event.h"
#include "server/http/http_message.h"
#include "store/store.h"

namespace tandem::server {

// `server`: the user the server runs as, whose jobs those are that name nobody.
bool is_own(const Identity&, const Owner&, unsigned server);
// Those of whom are one's own, as the store has them.
store::Owners own(std::int64_t user, unsigned server);
bool may_manage(const Identity&, const Owner&, unsigned server);
// Throws Refusal (403) where they may not.
void check_manages(const Identity&, const Owner&, unsigned server, std::int64_t job);
// Of a row as app::job_json has it.
Owner owner_in(const nlohmann::json& row);

}  // namespace tandem::server
