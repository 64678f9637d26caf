#include "platform/kernel_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace tandem::platform {
namespace {

constexpr std::size_t kMostBytes = 8192;

}  // namespace

std::optional<std::string> read_kernel_text(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::array<char, kMostBytes> buffer;
  const auto got = ::read(fd, buffer.data(), buffer.size());
  ::close(fd);
  if (got <= 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(got));
}

std::string_view next_word(std::string_view& text) {
  const auto start = std::min(text.find_first_not_of(" \t\n"), text.size());
  const auto end = std::min(text.find_first_of(" \t\n", start), text.size());
  const auto word = text.substr(start, end - start);
  text.remove_prefix(end);
  return word;
}

std::optional<std::string_view> next_line(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const auto line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

std::optional<double> labelled_number(std::string_view text, std::string_view label) {
  for (std::size_t at = text.find(label); at != std::string_view::npos; at = text.find(label, at + 1)) {
    if (at != 0 && text[at - 1] != '\n') continue;
    auto rest = text.substr(at + label.size());
    return parse_number<double>(next_word(rest));
  }
  return std::nullopt;
}

}  // namespace tandem::platform
