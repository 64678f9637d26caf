// From text to token arrays: words, a vocabulary made from the training part alone, fixed-length rows.
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"

namespace tandem::data {

// Runs of ASCII letters and digits, in lower case; every other byte separates.
std::vector<std::string> words_of(std::string_view text);

struct TextSample {
  std::vector<std::string> words;
  std::int64_t label = 0;
};

struct TextOptions {
  std::size_t vocabulary = 20000;  // with the two reserved entries
  std::int64_t length = 24;        // longer texts are cut at their end, shorter ones padded with 0
  std::size_t rarest = 2;          // words seen less often in training are unknown
};

// Fills kind, shape, words, train and test. Frequent words come first, equally frequent ones by alphabet;
// entry 0 is
// "<pad>", entry 1 "<unknown>".
void encode_text(const std::vector<TextSample>& train, const std::vector<TextSample>& test,
                 const TextOptions&, Dataset&);

// A number in [0,1) that depends on the name alone: for splits that stay the same as files come and go.
double place_of_name(std::string_view name);

}  // namespace tandem::data
