// Some space of the store's disk that is put aside in a file, so that the journal can still be written when
// the disk is full: then the file is given up, and made again when there is plenty of space. Processes that
// share a store share it. Where the file system cannot put space aside there is none. One thread.
#pragma once

#include <chrono>
#include <filesystem>

#include "base/units.h"

namespace tandem::store {

class DiskReserve {
 public:
  static constexpr Bytes kSize = Bytes{8} << 20;

  explicit DiskReserve(std::filesystem::path folder) : file_(std::move(folder) / "reserve") {}

  // Makes it where there is none and at least four times as much is free; looks every few seconds. Called
  // often.
  void keep();
  bool use();  // gives it up; false: there is none

 private:
  std::filesystem::path file_;
  std::chrono::steady_clock::time_point next_look_{};
};

}  // namespace tandem::store
