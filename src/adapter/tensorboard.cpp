#include "adapter/tensorboard.h"

#include <cstdint>
#include <cstring>
#include <optional>

namespace tandem::adapter {
namespace {

// One field after the other of a protocol buffer; ends at what it cannot read.
class Protobuf {
 public:
  explicit Protobuf(std::string_view bytes) : rest_(bytes) {}

  int field = 0;
  std::uint64_t number = 0;  // a varint, or the bits of a fixed number
  std::string_view bytes;    // of a field with a length

  bool next() {
    const auto key = varint();
    if (!key || *key >> 3 == 0 || *key >> 3 > 1000) return false;
    field = static_cast<int>(*key >> 3);
    switch (*key & 7) {
      case 0:
        return set(varint());
      case 1:
        return set(fixed(8));
      case 5:
        return set(fixed(4));
      case 2: {
        const auto size = varint();
        if (!size || *size > rest_.size()) return false;
        bytes = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
        return true;
      }
      default:
        return false;
    }
  }

 private:
  bool set(std::optional<std::uint64_t> found) {
    number = found.value_or(0);
    bytes = {};
    return found.has_value();
  }
  std::optional<std::uint64_t> varint() {
    std::uint64_t out = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return out;
    }
    return std::nullopt;
  }
  std::optional<std::uint64_t> fixed(std::size_t size) {
    if (rest_.size() < size) return std::nullopt;
    std::uint64_t out = 0;
    std::memcpy(&out, rest_.data(), size);
    rest_.remove_prefix(size);
    return out;
  }

  std::string_view rest_;
};

double real(std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  float out = 0;
  std::memcpy(&out, &low, sizeof(out));
  return static_cast<double>(out);
}

// A TensorProto with one number: float_val (5), or tensor_content (4) of a float or double (dtype 1, 2).
std::optional<double> number_in_tensor(std::string_view tensor) {
  std::optional<double> out;
  std::uint64_t type = 0;
  for (Protobuf in(tensor); in.next();) {
    if (in.field == 1) type = in.number;
    if (in.field == 5 && in.bytes.empty()) out = real(in.number);
    if (in.field == 5 && in.bytes.size() == 4) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, in.bytes.data(), 4);
      out = real(bits);
    }
    if (in.field == 4 && in.bytes.size() == 4 && type == 1) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, in.bytes.data(), 4);
      out = real(bits);
    }
    if (in.field == 4 && in.bytes.size() == 8 && type == 2) {
      double value = 0;
      std::memcpy(&value, in.bytes.data(), 8);
      out = value;
    }
  }
  return out;
}

struct Scalar {
  std::string tag;
  std::optional<double> value;
};

Scalar scalar_in(std::string_view value) {
  Scalar out;
  for (Protobuf in(value); in.next();) {
    if (in.field == 1) out.tag = in.bytes;
    if (in.field == 2 && in.bytes.empty()) out.value = real(in.number);
    if (in.field == 8) out.value = number_in_tensor(in.bytes);
  }
  return out;
}

}  // namespace

// A record: length (8 bytes), its checksum (4), the event, its checksum (4).
void TensorBoard::feed(std::string_view bytes) {
  if (broken_) return;
  pending_ += bytes;
  std::size_t at = 0;
  while (pending_.size() - at >= 12) {
    std::uint64_t size = 0;
    std::memcpy(&size, pending_.data() + at, 8);
    broken_ = size > kLongestRecord;
    if (broken_ || pending_.size() - at < size + 16) break;
    event(std::string_view(pending_).substr(at + 12, size));
    at += size + 16;
  }
  pending_.erase(0, broken_ ? pending_.size() : at);
}

// Event: step (2), summary (5), which has values (1).
void TensorBoard::event(std::string_view bytes) {
  std::int64_t step = 0;
  std::string_view summary;
  for (Protobuf in(bytes); in.next();) {
    if (in.field == 2) step = static_cast<std::int64_t>(in.number);
    if (in.field == 5) summary = in.bytes;
  }
  for (Protobuf in(summary); in.next();) {
    if (in.field != 1) continue;
    const Scalar scalar = scalar_in(in.bytes);
    if (!scalar.value) continue;
    if (step != step_) close();
    step_ = step;
    if (tags_.empty()) values_[scalar.tag] = *scalar.value;
    for (const auto& [name, tag] : tags_)
      if (tag == scalar.tag) values_[name] = *scalar.value;
    if (!tags_.empty() && values_.size() == tags_.size()) close();
  }
}

void TensorBoard::close() {
  if (!values_.empty() && (tags_.empty() || values_.size() == tags_.size())) epochs_.push_back(values_);
  values_.clear();
}

}  // namespace tandem::adapter
