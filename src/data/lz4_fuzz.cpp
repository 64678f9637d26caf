#include "base/error.h"
#include "data/debian.h"
#include "data/files.h"

// An apt list is decoded and read without ever leaving the input, whatever it holds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tandem;
  constexpr std::size_t kMost = 1 << 20;
  const data::ByteSpan input(bytes, size);
  try {
    const data::Buffer list = data::unlz4(input, "fuzz", kMost);
    if (list.size() > kMost) __builtin_trap();
  } catch (const UserError&) {
  }
  for (const auto& package : data::parse_packages(data::as_text(input))) {
    if (package.name.empty() || package.section.empty()) __builtin_trap();
  }
  return 0;
}
