#include "trainer/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "data/files.h"

namespace tandem::trainer {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'T', 'A', 'N', 'D', 'E', 'M', 'C', 'K'};
constexpr std::uint32_t kCheckpointFormat = 1;
constexpr std::string_view kPrefix = "checkpoint-", kSuffix = ".tck";

struct Header {
  char magic[8];
  std::uint32_t format;
  std::uint32_t description_length;
  std::uint64_t state_length;
  std::uint64_t checksum;
};

fs::path path_of(const fs::path& folder, std::int64_t epoch) {
  return folder / fmt::format("{}{:08}{}", kPrefix, epoch, kSuffix);
}

// By epoch; files of other names are not ours and are left alone.
std::map<std::int64_t, fs::path> all_in(const fs::path& folder) {
  std::map<std::int64_t, fs::path> found;
  for (const fs::path& path : data::sorted_entries(folder)) {
    const std::string name = path.filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    std::int64_t epoch = 0;
    const char* end = name.data() + name.size() - kSuffix.size();
    const auto parsed = std::from_chars(name.data() + kPrefix.size(), end, epoch);
    if (parsed.ec == std::errc() && parsed.ptr == end) found[epoch] = path;
  }
  return found;
}

void remove_file(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) throw SystemError("removing " + path.string(), error.value());
}

// What a killed attempt was writing; this process is the only writer, so whatever is left is stale.
void remove_half_written(const fs::path& folder) {
  for (const fs::path& path : data::sorted_entries(folder)) {
    const std::string name = path.filename().string();
    const auto end_of_name = name.size() < 7 ? std::string::npos : name.size() - 7;  // ".XXXXXX" of mkostemp
    if (end_of_name == std::string::npos || name[end_of_name] != '.') continue;
    const std::string wanted = name.substr(0, end_of_name);
    const bool checkpoint = wanted.starts_with(kPrefix) && wanted.ends_with(kSuffix);
    if (checkpoint || wanted == "model.pt" || wanted == "model.json") remove_file(path);
  }
}

}  // namespace

std::string encode(const Checkpoint& checkpoint) {
  const nlohmann::json description{{"fingerprint", checkpoint.fingerprint}, {"history", checkpoint.history}};
  const std::string text = description.dump();
  std::string bytes(sizeof(Header), '\0');
  bytes.reserve(sizeof(Header) + text.size() + checkpoint.state.size());
  bytes += text;
  bytes += checkpoint.state;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format = kCheckpointFormat;
  header.description_length = static_cast<std::uint32_t>(text.size());
  header.state_length = checkpoint.state.size();
  header.checksum = hash_name(std::string_view(bytes).substr(sizeof(Header)));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Checkpoint decode(std::string_view bytes) {
  Header header{};
  if (bytes.size() < sizeof header) throw SystemError("it is cut short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    throw SystemError("it does not open as a checkpoint");
  if (header.format != kCheckpointFormat)
    throw SystemError(fmt::format("it is of the unknown format {}", header.format));
  bytes.remove_prefix(sizeof header);
  if (header.description_length > bytes.size() ||
      header.state_length != bytes.size() - header.description_length)
    throw SystemError("it is cut short");
  if (hash_name(bytes) != header.checksum) throw SystemError("its checksum is wrong");
  try {
    const auto description = parse_json(bytes.substr(0, header.description_length));
    return {description.at("fingerprint").get<std::string>(),
            description.at("history").get<std::vector<Metrics>>(),
            std::string(bytes.substr(header.description_length))};
  } catch (const nlohmann::json::exception& error) {
    throw SystemError(std::string("its description is not understood: ") + error.what());
  }
}

void save_checkpoint(const fs::path& folder, const Checkpoint& checkpoint, std::int64_t keep) {
  data::write_atomically(path_of(folder, checkpoint.epoch()), encode(checkpoint));
  auto found = all_in(folder);
  const auto newest = found.find(checkpoint.epoch());
  // Counted down from the one just written: one beyond it is the torn remains of another attempt.
  auto older = std::distance(found.begin(), newest) + 1 - std::max<std::int64_t>(1, keep);
  for (auto it = found.begin(); it != found.end() && older > 0; ++it, --older) remove_file(it->second);
  remove_half_written(folder);
}

std::optional<Checkpoint> newest_checkpoint(const fs::path& folder,
                                            const std::function<void(const std::string&)>& warn) {
  const auto found = all_in(folder);
  for (auto it = found.rbegin(); it != found.rend(); ++it) {
    try {
      const data::Buffer bytes = data::read_file(it->second);
      Checkpoint checkpoint = decode(data::as_text(bytes));
      if (checkpoint.epoch() != it->first)
        throw SystemError(fmt::format("it is of epoch {}, which its name denies", checkpoint.epoch()));
      return checkpoint;
    } catch (const std::exception& error) {
      warn(fmt::format("checkpoint {} is skipped: {}", it->second.string(), error.what()));
    }
  }
  return std::nullopt;
}

}  // namespace tandem::trainer
