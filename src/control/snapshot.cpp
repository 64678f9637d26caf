#include "control/snapshot.h"

#include <cstring>
#include <span>

#include "base/error.h"
#include "event/binary.h"
#include "event/snapshot.h"

namespace tandem::control {
namespace {

// Changes with every change to what is written; what is forgotten here is mostly seen by the sizes.
constexpr std::uint64_t kFormat = 5;
constexpr std::uint64_t kLayout = sizeof(View) * 1'000'003 + sizeof(JobView) * 10'007 +
                                  sizeof(TaskView) * 101 + sizeof(NodeView) * 31 + sizeof(EpochRecord);

struct Header {
  char magic[8] = {'T', 'a', 'n', 'd', 'S', 'n', 'a', 'p'};
  std::uint64_t format = kFormat, layout = kLayout;
};

// Of all bytes between the header and itself, which comes last (FNV-1a).
struct Checksum {
  std::uint64_t value = 14695981039346656037ULL;
  void add(std::string_view bytes) {
    for (const char byte : bytes) value = (value ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  }
};

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::string part_of(const std::string& part) {
  return std::string(bytes_of(std::uint64_t{part.size()})) + part;
}

std::string_view take_part(std::string_view& bytes) {
  std::uint64_t size = 0;
  if (bytes.size() < sizeof(size)) throw SystemError("a snapshot ends early");
  std::memcpy(&size, bytes.data(), sizeof(size));
  bytes.remove_prefix(sizeof(size));
  if (bytes.size() < size) throw SystemError("a snapshot ends early");
  const auto part = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return part;
}

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

void write(const Snapshot& snapshot, const ByteSink& sink) {
  Checksum checksum;
  const ByteSink body = [&](std::string_view bytes) {
    checksum.add(bytes);
    sink(bytes);
  };
  std::string entry;
  append_binary(entry, snapshot.last.event);
  for (const auto& decision : snapshot.last.decisions) append_binary(entry, decision);
  sink(bytes_of(Header{}));
  body(part_of(std::to_string(snapshot.last.number)));
  body(part_of(entry));
  body(part_of(std::to_string(snapshot.policies.size())));
  for (const auto& policy : snapshot.policies) body(part_of(policy));
  write_view(snapshot.view, body);
  sink(bytes_of(checksum.value));
}

std::string to_bytes(const Snapshot& snapshot) {
  std::string all;
  write(snapshot, [&](std::string_view bytes) { all += bytes; });
  return all;
}

std::optional<Snapshot> snapshot_from(std::string_view bytes) {
  Header header;
  const Header expected;
  Checksum seen;
  std::uint64_t checksum = 0;
  if (bytes.size() < sizeof(header) + sizeof(checksum)) return std::nullopt;
  std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof(header));
  std::memcpy(&checksum, bytes.data() + bytes.size() - sizeof(checksum), sizeof(checksum));
  bytes.remove_prefix(sizeof(header));
  bytes.remove_suffix(sizeof(checksum));
  seen.add(bytes);
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0 || header.format != kFormat ||
      header.layout != kLayout || checksum != seen.value)
    return std::nullopt;
  try {
    Snapshot out;
    out.last.number = std::stoll(std::string(take_part(bytes)));
    BinaryReader reader(as_bytes(take_part(bytes)));
    out.last.event = reader.event();
    while (!reader.done()) out.last.decisions.push_back(reader.decision());
    for (auto n = std::stoull(std::string(take_part(bytes))); n > 0; --n)
      out.policies.emplace_back(take_part(bytes));
    out.view = view_from_bytes(as_bytes(bytes));
    return out;
  } catch (const std::exception&) {  // a bug of the writer's: the journal is there
    return std::nullopt;
  }
}

}  // namespace tandem::control
