// The clock for spans and deadlines: it never jumps.
#pragma once

#include <chrono>

#include "base/units.h"

namespace tandem::runtime {

inline Seconds steady() {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

}  // namespace tandem::runtime
