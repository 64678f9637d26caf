// What tuning jobs learned, as a file that another store can read (`tandem knowledge --export`, `--import`).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "event/knowledge.h"
#include "store/store.h"

namespace tandem::app {

nlohmann::json knowledge_json(const std::vector<KnownWorkload>&);

// How many records it holds. Imports of the same file again add nothing: records are known by what is in them.
// UserError: the file is not there, or not what `knowledge_json` writes.
std::size_t import_knowledge(store::Store&, const std::string& file, Seconds now);

}  // namespace tandem::app
