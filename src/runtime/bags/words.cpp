#include "runtime/bags/words.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "data/files.h"

namespace tandem::bags {
namespace {

namespace fs = std::filesystem;

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
}

std::size_t cut(std::string_view text, int task, int tasks) {
  std::size_t at = text.size() * static_cast<std::size_t>(task) / static_cast<std::size_t>(tasks);
  while (at > 0 && at < text.size() && in_word(text[at - 1]) && in_word(text[at])) ++at;
  return at;
}

char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && at != end; at.increment(error))
    if (std::error_code unknown; at->is_regular_file(unknown) && !at->is_symlink(unknown))
      out.push_back(at->path());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::string_view piece(std::string_view text, int task, int tasks) {
  const std::size_t from = cut(text, task, tasks), to = cut(text, task + 1, tasks);
  return text.substr(from, to - from);
}

void count_words(std::string_view text, WordCounts& counts) {
  for (std::size_t at = 0; at < text.size();) {
    while (at < text.size() && !in_word(text[at])) ++at;
    std::size_t end = at;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end > at) ++counts[text.substr(at, end - at)];
    at = end;
  }
}

std::string generated_text(std::size_t bytes, std::uint64_t seed) {
  constexpr double kVocabulary = 20000;
  constexpr std::size_t kTopic = 64 * 1024;  // bytes in which the same words are frequent
  Random random(seed, hash_name("bag text"));
  std::string text;
  text.reserve(bytes + 16);
  for (std::uint64_t shift = 0; text.size() < bytes;) {
    if (text.size() / kTopic != (text.size() + 16) / kTopic) shift = random.below(1000);
    // Ranks by the inverse of 1 / rank: the logarithm of a rank is uniform.
    const auto rank = static_cast<std::uint64_t>(std::exp(random.uniform() * std::log(kVocabulary)));
    text += 'w' + std::to_string(rank < 100 ? rank : rank + shift) + ' ';
  }
  text.resize(bytes);
  return text;
}

Documents collect_documents(const fs::path& folder, std::size_t bytes, std::uint64_t seed) {
  Documents out;
  for (const auto& file : files_below(folder)) {
    if (out.text.size() >= bytes) break;
    try {
      const auto content = data::read_decoded(file, bytes);
      if (content.empty() || std::find(content.begin(), content.end(), 0) != content.end()) continue;
      const auto text = data::as_text(content).substr(0, bytes - out.text.size());
      std::transform(text.begin(), text.end(), std::back_inserter(out.text), small);
      out.text += '\n';
      ++out.files;
    } catch (const std::runtime_error&) {
      // Not readable, or larger than all that is asked for: the next document will do.
    }
  }
  if (out.text.size() >= bytes) {
    out.text.resize(bytes);
    return out;
  }
  return {generated_text(bytes, seed), 0, true};
}

}  // namespace tandem::bags
