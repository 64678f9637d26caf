// Names of the things events speak of. Small whole numbers, dense from 0 within one journal, so that the View
// can keep them in vectors and ties can be broken by id.
#pragma once

#include <cstdint>

namespace tandem {

using JobId = std::int32_t;
using TaskId = std::int32_t;
using NodeId = std::int32_t;
using DecisionId = std::int64_t;  // unique within a journal, rising
using Attempt = std::int32_t;     // 1 for a task's first start

}  // namespace tandem
