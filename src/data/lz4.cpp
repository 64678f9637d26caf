#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "data/files.h"

namespace tandem::data {
namespace {

constexpr std::uint32_t kFrameMagic = 0x184D2204;
constexpr std::uint32_t kStoredBit = 0x80000000;

// Reads forward through the input; every step checks that the bytes are there.
class Cursor {
 public:
  Cursor(ByteSpan bytes, const std::string& where, std::size_t base = 0)
      : bytes_(bytes), where_(where), base_(base) {}

  std::size_t left() const { return bytes_.size() - at_; }
  std::size_t place() const { return base_ + at_; }

  ByteSpan take(std::size_t count) {
    if (count > left()) fail("the LZ4 data ends early");
    const ByteSpan taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  std::uint8_t byte() { return take(1)[0]; }

  std::uint32_t little32() {
    const ByteSpan four = take(4);
    return four[0] | four[1] << 8 | four[2] << 16 | static_cast<std::uint32_t>(four[3]) << 24;
  }

  // A length of 15 in the token goes on in further bytes until one is not 255.
  std::size_t length(std::size_t in_token) {
    std::size_t total = in_token;
    if (in_token == 15) {
      std::uint8_t more = 255;
      while (more == 255) total += more = byte();
    }
    return total;
  }

  [[noreturn]] void fail(const char* reason) const {
    throw UserError(
        fmt::format("{}: {} at byte {}; run `apt-get update` or fetch it again", where_, reason, place()));
  }

 private:
  ByteSpan bytes_;
  const std::string& where_;
  std::size_t base_;
  std::size_t at_ = 0;
};

void require_room(const Cursor& input, std::size_t have, std::size_t more, std::size_t most) {
  if (more > most - std::min(have, most)) input.fail("unpacks to more than can be a dataset");
}

void unpack_block(Cursor input, Buffer& output, std::size_t most) {
  while (true) {
    const std::uint8_t token = input.byte();
    const ByteSpan literals = input.take(input.length(token >> 4));
    require_room(input, output.size(), literals.size(), most);
    output.insert(output.end(), literals.begin(), literals.end());
    if (input.left() == 0) return;  // the last sequence has no match

    const std::size_t low = input.byte();
    const std::size_t offset = low | static_cast<std::size_t>(input.byte()) << 8;
    if (offset == 0 || offset > output.size()) input.fail("LZ4 match points before the start");
    const std::size_t count = input.length(token & 15) + 4;
    require_room(input, output.size(), count, most);
    std::size_t from = output.size() - offset;
    output.resize(output.size() + count);
    std::uint8_t* to = output.data() + output.size() - count;
    for (std::size_t i = 0; i < count; ++i) *to++ = output[from++];  // may overlap: byte by byte
  }
}

}  // namespace

bool is_lz4(ByteSpan bytes) {
  return bytes.size() >= 4 && bytes[0] == 0x04 && bytes[1] == 0x22 && bytes[2] == 0x4d && bytes[3] == 0x18;
}

Buffer unlz4(ByteSpan bytes, const std::string& where, std::size_t most) {
  Cursor input(bytes, where);
  Buffer output;
  while (input.left() > 0) {  // frames may follow one another
    if (input.little32() != kFrameMagic) input.fail("not an LZ4 frame");
    const std::uint8_t flags = input.byte();
    if (flags >> 6 != 1) input.fail("unknown version of the LZ4 format");
    const bool block_checksums = flags & 0x10;
    const bool content_size = flags & 0x08;
    const bool content_checksum = flags & 0x04;
    const bool dictionary = flags & 0x01;
    if (dictionary) input.fail("LZ4 with a dictionary cannot be read");
    input.take(1 + (content_size ? 8 : 0) + 1);  // block size, content size, header checksum
    while (const std::uint32_t head = input.little32()) {
      const std::size_t start = input.place();
      const ByteSpan block = input.take(head & ~kStoredBit);
      if (head & kStoredBit) {
        require_room(input, output.size(), block.size(), most);
        output.insert(output.end(), block.begin(), block.end());
      } else {
        unpack_block(Cursor(block, where, start), output, most);
      }
      if (block_checksums) input.take(4);
    }
    if (content_checksum) input.take(4);
  }
  return output;
}

}  // namespace tandem::data
