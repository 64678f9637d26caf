#include "base/error.h"
#include "data/cifar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tandem;
  data::Part part;
  try {
    data::parse_cifar({bytes, size}, "fuzz", part);
  } catch (const UserError&) {
  }
  if (static_cast<std::size_t>(part.count) != part.labels.size()) __builtin_trap();
  if (part.values.size() != part.labels.size() * 3072) __builtin_trap();
  return 0;
}
