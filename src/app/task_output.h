// Reading what a task printed (runtime/common/output.h): its file, and the one before that was put aside. The
// task may have replaced them, so they are never waited for nor followed elsewhere: SystemError says what is
// there instead. One thread an object.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "platform/descriptor.h"

namespace tandem::app {

// The last bytes, at most so many; "" where nothing was printed yet. `below`: of the run's folder.
std::string output_tail(const std::filesystem::path& folder, const std::filesystem::path& below,
                        std::size_t most);

// All that is kept, from the beginning on, and then what is new.
class OutputReader {
 public:
  OutputReader(std::filesystem::path folder, std::filesystem::path below)
      : folder_(std::move(folder)), below_(std::move(below)) {}

  std::string more();  // a part of it; "": there is nothing new now

 private:
  bool open_next();
  bool replaced() const;

  std::filesystem::path folder_, below_;
  platform::Descriptor file_;
  bool begun_ = false;
  bool newest_ = false;  // the file is the one that is written to
};

}  // namespace tandem::app
