#include "data/text.h"

#include <algorithm>
#include <unordered_map>

#include "base/random.h"

namespace tandem::data {
namespace {

using Numbers = std::unordered_map<std::string, std::int64_t>;

std::vector<std::string> vocabulary_of(const std::vector<TextSample>& samples, const TextOptions& options) {
  std::unordered_map<std::string, std::size_t> counts;
  for (const auto& sample : samples) {
    for (const auto& word : sample.words) ++counts[word];
  }
  std::vector<std::pair<std::string, std::size_t>> frequent;
  for (const auto& entry : counts) {
    if (entry.second >= options.rarest) frequent.emplace_back(entry);
  }
  std::sort(frequent.begin(), frequent.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> words = {"<pad>", "<unknown>"};
  for (auto& entry : frequent) {
    if (words.size() == options.vocabulary) break;
    words.push_back(std::move(entry.first));
  }
  return words;
}

Part encode_part(const std::vector<TextSample>& samples, const Numbers& numbers, std::int64_t length) {
  Part part;
  part.count = static_cast<std::int64_t>(samples.size());
  part.tokens.reserve(samples.size() * static_cast<std::size_t>(length));
  part.labels.reserve(samples.size());
  for (const auto& sample : samples) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
      if (i >= sample.words.size()) {
        part.tokens.push_back(0);
        continue;
      }
      const auto found = numbers.find(sample.words[i]);
      part.tokens.push_back(found == numbers.end() ? 1 : found->second);
    }
    part.labels.push_back(sample.label);
  }
  return part;
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

void encode_text(const std::vector<TextSample>& train, const std::vector<TextSample>& test,
                 const TextOptions& options, Dataset& dataset) {
  dataset.kind = Kind::text;
  dataset.shape = {options.length};
  dataset.words = vocabulary_of(train, options);
  Numbers numbers;
  for (std::size_t i = 2; i < dataset.words.size(); ++i) {
    numbers[dataset.words[i]] = static_cast<std::int64_t>(i);
  }
  dataset.train = encode_part(train, numbers, options.length);
  dataset.test = encode_part(test, numbers, options.length);
}

double place_of_name(std::string_view name) {
  return Random(1, hash_name(name)).uniform();
}

}  // namespace tandem::data
