// This machine for something short that never waits (a probe, `tandem infer`): its lock where it is free,
// else who has it, to be told with what was measured. Runs wait for it instead (cli/session.cpp).
#pragma once

#include <optional>
#include <string>

#include "platform/machine_lock.h"

namespace tandem::app {

struct MachineShare {
  std::optional<platform::MachineLock> lock;  // let go with this
  std::string beside;                         // "run 2026… (pid 7)"; "": nobody of Tandem's
};
// `label`: what others are told who wait for it, such as "tandem infer".
MachineShare share_machine(const std::string& label);

}  // namespace tandem::app
