#include "app/machine_share.h"

#include <fmt/format.h>
#include <unistd.h>

namespace tandem::app {

MachineShare share_machine(const std::string& label) {
  MachineShare out;
  out.lock = platform::MachineLock::take(platform::MachineLock::default_file(),
                                         fmt::format("{} (pid {})", label, ::getpid()), &out.beside);
  return out;
}

}  // namespace tandem::app
