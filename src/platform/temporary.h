// A private folder that goes with its owner, also when a test fails or a command throws.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/error.h"

namespace tandem::platform {

class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& purpose = "tandem") {
    std::string pattern = (std::filesystem::temp_directory_path() / (purpose + "-XXXXXX")).string();
    if (!::mkdtemp(pattern.data())) throw_errno("making a folder like " + pattern);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tandem::platform
