#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace tandem {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Of one letter inserted, left out or changed at a time; capitals count as their small letters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (lower(a[i - 1]) != lower(b[j - 1]))});
      diagonal = above;
    }
  }
  return row[b.size()];
}

struct Utf8 {
  std::size_t length = 0;  // in bytes; 0: this is no character
  std::uint32_t point = 0;
};

std::size_t length_by_lead(unsigned char lead) {
  return lead >= 0xf0 && lead < 0xf5   ? 4
         : lead >= 0xe0 && lead < 0xf0 ? 3
         : lead >= 0xc2 && lead < 0xe0 ? 2
                                       : 0;
}

// The character beyond ASCII that starts at `at`.
Utf8 utf8_at(std::string_view s, std::size_t at) {
  const auto lead = static_cast<unsigned char>(s[at]);
  const std::size_t length = length_by_lead(lead);
  if (length == 0 || at + length > s.size()) return {};
  std::uint32_t point = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(s[at + i]);
    if ((next & 0xc0) != 0x80) return {};
    point = point << 6 | (next & 0x3f);
  }
  const std::uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  return point >= least && point <= 0x10ffff && !surrogate ? Utf8{length, point} : Utf8{};
}

// What a terminal obeys instead of showing it, or what makes it show other text in another order.
bool is_obeyed(std::uint32_t point) {
  if (point == '\n' || point == '\t') return false;
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c || point == 0x200e ||
         point == 0x200f || (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

std::string escaped(std::uint32_t point) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[point >> shift & 0xf];
  return out;
}

}  // namespace

std::optional<std::string> nearest(std::string_view written, const std::vector<std::string>& known) {
  if (written.size() > 64) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, written.size() / 2);
  for (const auto& candidate : known) {
    const bool beginning = written.size() >= 3 && candidate.starts_with(written);  // "batch" for "batch_size"
    const std::size_t distance = beginning ? 1 : edit_distance(written, candidate);
    if (distance >= candidate.size()) continue;  // nothing in common
    if (distance < best_distance || (distance == best_distance && !best))
      best = candidate, best_distance = distance;
  }
  return best;
}

std::string did_you_mean(std::string_view written, const std::vector<std::string>& known) {
  auto candidate = nearest(written, known);
  return candidate ? " (did you mean '" + *candidate + "'?)" : "";
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> out(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!out.back().empty() && characters(out.back()) + 1 + characters(word) > width) out.emplace_back();
    if (!out.back().empty()) out.back() += ' ';
    out.back() += word;
  }
  return out;
}

std::string printable(std::string_view raw, std::size_t most) {
  std::string out;
  for (std::size_t at = 0; at < raw.size();) {
    if (out.size() >= most) return out + "...";
    const auto c = static_cast<unsigned char>(raw[at]);
    const Utf8 next = c < 0x80 ? Utf8{1, c} : utf8_at(raw, at);
    if (next.length == 0)
      out += '?';
    else if (is_obeyed(next.point))
      out += escaped(next.point);
    else
      out += raw.substr(at, next.length);
    at += std::max<std::size_t>(next.length, 1);
  }
  return out;
}

std::string printable_line(std::string_view raw, std::size_t most) {
  std::string out;
  for (const char c : printable(raw, most))
    c == '\n' || c == '\t' ? out += escaped(static_cast<unsigned char>(c)) : out += c;
  return out;
}

std::size_t unfinished_bytes(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto c = static_cast<unsigned char>(text[text.size() - back]);
    if ((c & 0xc0) == 0x80) continue;
    return length_by_lead(c) > back ? back : 0;
  }
  return 0;
}

}  // namespace tandem
