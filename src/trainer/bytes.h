// Arrays of numbers as bytes and back, each with its length in front. Same machine type on both sides.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.h"

namespace tandem::trainer {

template <class Number>
void put(std::string& bytes, std::span<Number> numbers) {
  const std::uint64_t length = numbers.size_bytes();
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes.append(reinterpret_cast<const char*>(numbers.data()), length);
}

// Takes an array of exactly that length off the front.
template <class Number>
void take(std::string_view& bytes, std::span<Number> into) {
  static_assert(std::is_trivially_copyable_v<Number>);
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) throw SystemError("the learner's state is cut short");
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes.remove_prefix(sizeof length);
  if (length != into.size_bytes() || length > bytes.size())
    throw SystemError("the learner's state is of another learner: an array has another length");
  if (length > 0) std::memcpy(into.data(), bytes.data(), length);  // an empty array has no address
  bytes.remove_prefix(length);
}

}  // namespace tandem::trainer
