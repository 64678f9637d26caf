// How the kernel's small text files in /proc and /sys are read: whole, in one go, word by word.
//
// One read sees one consistent state; a second could see another. Thread-safe: nothing is kept.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::platform {

// The first 8 KiB: enough for every file read here. nullopt: it is not there, not ours to see, or empty.
std::optional<std::string> read_kernel_text(const std::string& file);

// The next word of a text, taken off its front; empty at the end.
std::string_view next_word(std::string_view& text);

// The next line of a text, taken off its front; nullopt at the end.
std::optional<std::string_view> next_line(std::string_view& text);

// The whole word as a number.
template <class Number>
std::optional<Number> parse_number(std::string_view word) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// The number after a label at the start of a line.
std::optional<double> labelled_number(std::string_view text, std::string_view label);

}  // namespace tandem::platform
