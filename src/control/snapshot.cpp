#include "control/snapshot.h"

#include <cstring>
#include <span>

#include "base/error.h"
#include "event/binary.h"
#include "event/snapshot.h"

namespace tandem::control {
namespace {

// Changes with every change to what is written; what is forgotten here is mostly seen by the sizes.
constexpr std::uint64_t kFormat = 1;
constexpr std::uint64_t kLayout = sizeof(View) * 1'000'003 + sizeof(JobView) * 10'007 +
                                  sizeof(TaskView) * 101 + sizeof(NodeView) * 31 + sizeof(EpochRecord);

struct Header {
  char magic[8] = {'T', 'a', 'n', 'd', 'S', 'n', 'a', 'p'};
  std::uint64_t format = kFormat, layout = kLayout, checksum = 0;
};

std::uint64_t checksum_of(std::string_view bytes) {  // FNV-1a
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  return hash;
}

void put_part(std::string& out, const std::string& part) {
  const std::uint64_t size = part.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof(size));
  out += part;
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

std::string to_bytes(const Snapshot& snapshot) {
  std::string entry;
  append_binary(entry, snapshot.last.event);
  for (const auto& decision : snapshot.last.decisions) append_binary(entry, decision);
  Header header;
  std::string out(sizeof(header), '\0');  // it is filled in last
  put_part(out, std::to_string(snapshot.last.number));
  put_part(out, entry);
  put_part(out, view_to_bytes(snapshot.view));
  for (const auto& policy : snapshot.policies) put_part(out, policy);
  header.checksum = checksum_of(std::string_view(out).substr(sizeof(header)));
  std::memcpy(out.data(), &header, sizeof(header));
  return out;
}

std::optional<Snapshot> snapshot_from(std::string_view bytes) {
  Header header;
  const Header expected;
  if (bytes.size() < sizeof(header)) return std::nullopt;
  std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof(header));
  bytes.remove_prefix(sizeof(header));
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0 || header.format != kFormat ||
      header.layout != kLayout || header.checksum != checksum_of(bytes))
    return std::nullopt;
  try {
    Snapshot out;
    out.last.number = std::stoll(std::string(take_part(bytes)));
    BinaryReader reader(as_bytes(take_part(bytes)));
    out.last.event = reader.event();
    while (!reader.done()) out.last.decisions.push_back(reader.decision());
    out.view = view_from_bytes(as_bytes(take_part(bytes)));
    while (!bytes.empty()) out.policies.emplace_back(take_part(bytes));
    return out;
  } catch (const std::exception&) {  // a bug of the writer's: the journal is there
    return std::nullopt;
  }
}

}  // namespace tandem::control
