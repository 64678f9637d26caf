// Word count, a bag of tasks: a text is cut into as many pieces as there are tasks, at the ends of words.
//
// A word is a run of letters, digits and bytes of other alphabets. Letters are made small when the text is
// put together, so that counting only looks. Pure, but for collecting the machine's documents.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tandem::bags {

using WordCounts = std::unordered_map<std::string_view, std::uint64_t>;  // views into the text

// Piece `task` of `tasks`: together they are the whole text, and no word is in two of them.
std::string_view piece(std::string_view text, int task, int tasks);
void count_words(std::string_view text, WordCounts&);

// Text that is this long and the same for the same seed: words of a power-law vocabulary, one topic after the
// other, for machines without documents.
std::string generated_text(std::size_t bytes, std::uint64_t seed);

struct Documents {
  std::string text{};      // small letters
  std::size_t files = 0;   // it is made of
  bool generated = false;  // there were too few documents: none of it is theirs
};
// The text files below the folder, gzipped ones included, in the order of their names, up to so many bytes.
// What cannot be read or is no text is passed over.
Documents collect_documents(const std::filesystem::path& folder, std::size_t bytes, std::uint64_t seed);

}  // namespace tandem::bags
