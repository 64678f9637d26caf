// What tuning jobs learned, as a person reads it. Pure.
#pragma once

#include <string>
#include <vector>

#include "event/knowledge.h"

namespace tandem::report {

std::string knowledge_table(const std::vector<KnownWorkload>&);

}  // namespace tandem::report
