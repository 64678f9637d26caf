// A request's body read as JSON, strictly: nothing may be nested deeper than `nesting` (what walks it later
// recurses), and no key given twice (one of them would be dropped). Pure; thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "server/http/limits.h"

namespace tandem::server {

// Throws Refusal (400) that says where.
nlohmann::json parse_json_body(const std::string& text, std::size_t nesting = Limits{}.nesting);

}  // namespace tandem::server
