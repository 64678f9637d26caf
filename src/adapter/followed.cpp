#include "adapter/followed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <system_error>

#include "platform/descriptor.h"

namespace tandem::adapter {

Followed::Followed(std::filesystem::path path, MakeReader make)
    : path_(std::move(path)), make_(std::move(make)) {
  while (turn()) {
  }
  while (take()) {
  }
}

bool Followed::turn() {
  std::error_code error;
  if (!std::filesystem::is_directory(path_, error)) return read_on(path_);
  bool more = false;
  for (std::filesystem::directory_iterator item(path_, error), end; !error && item != end;
       item.increment(error))
    if (item->path().filename().string().find("tfevents") != std::string::npos) more |= read_on(item->path());
  return more;
}

bool Followed::read_on(const std::filesystem::path& path) {
  const platform::Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat about {};
  if (!opened || ::fstat(opened.get(), &about) != 0 || !S_ISREG(about.st_mode)) return false;
  File& file = files_[path];
  if (!file.reader) file.reader = make_();
  if (about.st_ino != file.inode || about.st_size < file.at) {
    file.reader->begin_again();
    file.at = 0;
    file.inode = about.st_ino;
  }
  std::string bytes(kMostATurn, '\0');
  const ssize_t got = ::pread(opened.get(), bytes.data(), bytes.size(), file.at);
  if (got <= 0) return false;
  file.at += got;
  file.reader->feed(std::string_view(bytes).substr(0, static_cast<std::size_t>(got)));
  return static_cast<std::size_t>(got) == bytes.size();
}

void Followed::end() {
  for (auto& [path, file] : files_) file.reader->end();
}

std::optional<Metrics> Followed::take() {
  for (auto& [path, file] : files_)
    if (auto metrics = file.reader->take()) return metrics;
  return std::nullopt;
}

}  // namespace tandem::adapter
