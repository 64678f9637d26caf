// A file, or a folder of them, read as it grows; also one that is written anew. It is the program's own,
// which may put anything in its place: only plain files are read, and a turn takes at most kMostATurn of
// each. One thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "adapter/metrics.h"

namespace tandem::adapter {

inline constexpr std::size_t kMostATurn = 1 << 20;

class Followed {
 public:
  using MakeReader = std::function<std::unique_ptr<MetricsReader>()>;
  // What is there already is of an earlier attempt: it is read, and its epochs are not counted.
  Followed(std::filesystem::path, MakeReader);

  // Reads on; true: there may be more at once.
  bool turn();
  void end();
  std::optional<Metrics> take();

 private:
  struct File {
    std::unique_ptr<MetricsReader> reader;
    off_t at = 0;
    ino_t inode = 0;
  };
  bool read_on(const std::filesystem::path&);

  std::filesystem::path path_;
  MakeReader make_;
  std::map<std::filesystem::path, File> files_;
};

}  // namespace tandem::adapter
