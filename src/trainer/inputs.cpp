#include "trainer/inputs.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "data/files.h"
#include "data/idx.h"
#include "data/text.h"

namespace tandem::trainer {
namespace {

void check_image(const std::string& where, const ModelCard& card, std::int64_t height, std::int64_t width) {
  if (card.shape == std::vector<std::int64_t>{1, height, width}) return;
  throw UserError(fmt::format("{}: the image is 1x{}x{} (channels, height, width), the model wants {}", where,
                              height, width, fmt::join(card.shape, "x")));
}

// The header of a PGM file: words between white space, comments to the end of a line.
class PgmWords {
 public:
  PgmWords(std::string_view bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  std::int64_t number(const char* what, std::int64_t most) {
    skip();
    std::int64_t value = -1;
    const auto parsed = std::from_chars(bytes_.data() + at_, bytes_.data() + bytes_.size(), value);
    if (parsed.ec != std::errc() || value < 0 || value > most)
      throw UserError(fmt::format("{}: {} at byte {} is not a number from 0 to {}", where_, what, at_, most));
    at_ = static_cast<std::size_t>(parsed.ptr - bytes_.data());
    return value;
  }

  std::string_view rest() const {
    return bytes_.substr(std::min(at_ + 1, bytes_.size()));
  }  // after one white space

 private:
  void skip() {
    while (at_ < bytes_.size()) {
      if (bytes_[at_] == '#')
        at_ = std::min(bytes_.find('\n', at_), bytes_.size());
      else if (std::isspace(static_cast<unsigned char>(bytes_[at_])))
        ++at_;
      else
        return;
    }
  }

  std::string_view bytes_;
  std::string where_;
  std::size_t at_ = 2;  // after the magic
};

data::Part idx_samples(const data::Buffer& bytes, const std::string& where, const ModelCard& card) {
  data::IdxImages images = data::parse_idx_images(bytes, where);
  check_image(where, card, images.height, images.width);
  data::Part part;
  part.count = images.count;
  part.values = std::move(images.values);
  return part;
}

std::optional<float> finite_number(std::string_view field) {
  while (!field.empty() && std::isspace(static_cast<unsigned char>(field.front()))) field.remove_prefix(1);
  while (!field.empty() && std::isspace(static_cast<unsigned char>(field.back()))) field.remove_suffix(1);
  float value = 0;
  const auto parsed = std::from_chars(field.data(), field.data() + field.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != field.data() + field.size() || !std::isfinite(value))
    return {};
  return value;
}

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = line.find(separator);
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

}  // namespace

data::Part parse_pgm(std::string_view bytes, const std::string& where, const ModelCard& card) {
  const bool plain = bytes.starts_with("P2");
  PgmWords words(bytes, where);
  const std::int64_t width = words.number("the width", 1 << 16), height = words.number("the height", 1 << 16),
                     most = words.number("the largest value", 65535);
  if (most == 0) throw UserError(where + ": the largest value is 0");
  check_image(where, card, height, width);
  data::Part part;
  part.count = 1;
  if (plain) {
    for (std::int64_t i = 0; i < height * width; ++i)
      part.values.push_back(static_cast<float>(words.number("a pixel", most)) / static_cast<float>(most));
    return part;
  }
  const std::size_t pixel = most > 255 ? 2 : 1;
  const std::string_view pixels = words.rest();
  if (pixels.size() < pixel * static_cast<std::size_t>(height * width))
    throw UserError(fmt::format("{}: {} bytes of pixels where {}x{} need {}", where, pixels.size(), height,
                                width, pixel * static_cast<std::size_t>(height * width)));
  const auto byte = [&](std::size_t i) { return static_cast<int>(static_cast<unsigned char>(pixels[i])); };
  for (std::size_t i = 0; i < static_cast<std::size_t>(height * width); ++i) {
    const int value = pixel == 1 ? byte(i) : 256 * byte(2 * i) + byte(2 * i + 1);
    part.values.push_back(static_cast<float>(value) / static_cast<float>(most));
  }
  return part;
}

data::Part parse_csv(std::string_view text, const std::string& where, const ModelCard& card) {
  const auto columns = static_cast<std::size_t>(card.shape.at(0));
  data::Part part;
  std::size_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    const auto fields = split(line, ',');
    std::vector<float> row;
    for (const std::string_view field : fields)
      if (const auto value = finite_number(field)) row.push_back(*value);
    if (row.empty() && number == 1) continue;  // names of the columns
    if (row.size() != fields.size())
      throw UserError(fmt::format("{}:{}: '{}' is not all numbers", where, number, printable(line, 80)));
    if (row.size() != columns)
      throw UserError(
          fmt::format("{}:{}: {} numbers where the model wants {}", where, number, row.size(), columns));
    part.values.insert(part.values.end(), row.begin(), row.end());
    ++part.count;
  }
  if (part.count == 0) throw UserError(where + ": there is no line of numbers in it");
  return part;
}

data::Part parse_text(std::string_view text, const ModelCard& card) {
  std::unordered_map<std::string_view, std::int64_t> known;
  for (std::size_t i = 2; i < card.words.size(); ++i)
    known.emplace(card.words[i], static_cast<std::int64_t>(i));
  data::Part part;
  part.count = 1;
  for (const std::string& word : data::words_of(text)) {
    const auto found = known.find(word);
    part.tokens.push_back(found == known.end() ? 1 : found->second);
  }
  part.tokens.resize(static_cast<std::size_t>(card.shape.at(0)), 0);
  return part;
}

data::Part read_samples(const std::filesystem::path& path, const ModelCard& card) {
  const data::Buffer bytes = data::read_decoded(path);
  const std::string_view text = data::as_text(bytes);
  const std::string where = path.string();
  switch (card.kind) {
    case data::Kind::image:
      if (text.starts_with("P2") || text.starts_with("P5")) return parse_pgm(text, where, card);
      return idx_samples(bytes, where, card);
    case data::Kind::table:
      return parse_csv(text, where, card);
    case data::Kind::text:
      break;
  }
  return parse_text(text, card);
}

}  // namespace tandem::trainer
