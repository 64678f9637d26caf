#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_gavel.h"

// Whatever the bytes, every reader returns jobs that can be used, or throws UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tandem;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const auto& format : sim::trace_formats()) {
    format.recognises(text);
    try {
      const auto trace = format.read(text, "fuzz");
      if (trace.jobs.empty() && trace.nodes.empty()) __builtin_trap();
      for (const auto& job : trace.jobs) {
        if (!(job.submitted >= 0) || job.tasks < 1) __builtin_trap();
        if (job.duration && !(*job.duration > 0)) __builtin_trap();
        if (!(job.gpus > 0) && !(job.cores.value_or(0) > 0)) __builtin_trap();
      }
    } catch (const UserError&) {
    }
  }
  try {
    sim::detect(text, "fuzz");
  } catch (const UserError&) {
  }
  try {
    sim::read_throughputs(text, "fuzz");
  } catch (const UserError&) {
  }
  return 0;
}
