#include "base/error.h"
#include "data/idx.h"

// Whatever the bytes, the parsers return or throw UserError, and never hold more than the bytes can fill.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tandem;
  const data::ByteSpan input(bytes, size);
  try {
    const auto images = data::parse_idx_images(input, "fuzz");
    if (images.values.size() > size) __builtin_trap();
  } catch (const UserError&) {
  }
  try {
    for (const auto label : data::parse_idx_labels(input, "fuzz", 10)) {
      if (label < 0 || label > 9) __builtin_trap();
    }
  } catch (const UserError&) {
  }
  try {
    if (data::is_gzip(input)) data::gunzip(input, "fuzz", 1 << 22);
  } catch (const UserError&) {
  }
  return 0;
}
