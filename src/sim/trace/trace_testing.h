// What the tests of the trace readers share.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint_for_test.h"
#include "base/error.h"
#include "sim/trace/trace.h"

namespace tandem::sim::trace_testing {

inline std::size_t count_of(const std::vector<TraceCount>& counts, std::string_view what) {
  for (const auto& known : counts)
    if (known.what == what) return known.count;
  return 0;
}

// traces/NAME in TANDEM_DATA, else in shared/data beside the checkout; "" where it is not on this machine.
inline std::string real_trace(const std::string& name) {
  const char* data = std::getenv("TANDEM_DATA");
  const auto checkout = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  const auto folder = data ? std::filesystem::path(data) : checkout.parent_path() / "shared" / "data";
  std::ifstream file(folder / "traces" / name, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace tandem::sim::trace_testing

#define EXPECT_MENTIONS(text, part) \
  EXPECT_TRUE(::tandem::mentions(text, part)) << (text) << "\n lacks: " << (part)

// The content of a real trace; skips the test where there is none.
#define REAL_TRACE(variable, name)                                                      \
  const std::string variable = ::tandem::sim::trace_testing::real_trace(name);          \
  if (variable.empty()) {                                                               \
    GTEST_SKIP() << "no traces/" << (name) << " in TANDEM_DATA or beside the checkout"; \
  }
