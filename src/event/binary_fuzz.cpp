// Any bytes are either an event or a SystemError; what was read and written again is read the same.
#include <cstdlib>

#include "base/error.h"
#include "event/binary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  try {
    BinaryReader reader({data, size});
    const Event event = reader.event();
    std::string written;
    append_binary(written, event);
    std::string again;
    append_binary(
        again, BinaryReader({reinterpret_cast<const std::uint8_t*>(written.data()), written.size()}).event());
    if (written != again) std::abort();
    while (!reader.done()) reader.decision();
  } catch (const SystemError&) {
  }
  return 0;
}
