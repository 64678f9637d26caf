#include "base/error.h"
#include "data/timings.h"

// A table that is accepted is whole and reads back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tandem;
  if (size == 0) return 0;
  const auto& kernel = data::kernels()[bytes[0] % data::kernels().size()];
  // The header is given, so that the fuzzer spends its time on rows.
  const std::string rows(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const std::string csv = data::timings_csv(kernel, {}) + rows;
  try {
    const auto parsed = data::parse_timings_csv(kernel, csv, 2, "fuzz");
    if (parsed.size() != 2) __builtin_trap();
    const std::string again = data::timings_csv(kernel, parsed);
    if (data::timings_csv(kernel, data::parse_timings_csv(kernel, again, 2, "fuzz")) != again)
      __builtin_trap();
  } catch (const UserError&) {
  }
  return 0;
}
