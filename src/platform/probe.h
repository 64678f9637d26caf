// What a machine can do, one line a mechanism, as `tandem doctor` prints it. Plain values.
#pragma once

#include <string>

namespace tandem::platform {

struct Probe {
  std::string what;       // "energy", "counters", "GPUs": the question
  std::string mechanism;  // "rapl", "hardware events": one possible answer
  bool available = false;
  std::string why;  // what was found, whether it is in use, or why it cannot be
};

}  // namespace tandem::platform
