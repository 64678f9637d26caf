// Events and decisions as bytes, as the journal keeps them.
//
// By position, little-endian: a word is its place in its variant, its length, and its fields in the order of
// fields.h. Reading stops at a word's length, so fields that an older Tandem did not know are skipped and
// those it did not write keep their defaults; hence variants and fields only ever grow at the end. (Not so
// two values inside: energy with parts and GPU settings are marked ways of writing that an older Tandem takes
// for damage.) (CBOR through nlohmann was the first choice; it took 5.5 s to read a million entries.) Damaged
// bytes throw SystemError, never more.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "event/decision.h"
#include "event/event.h"

namespace tandem {

void append_binary(std::string& out, const Event&);
void append_binary(std::string& out, const Decision&);

class BinaryReader {
 public:
  explicit BinaryReader(std::span<const std::uint8_t> bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}
  bool done() const { return at_ == end_; }
  std::ptrdiff_t left() const { return end_ - at_; }  // bytes
  Event event();
  Decision decision();

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

}  // namespace tandem
