// One atomic file an epoch, from which training goes on as if it had never stopped.
//
// The file opens with a header that carries lengths and a checksum of everything after it; it is written
// beside its place, fsynced and renamed, so a reader finds a whole old file or a whole new one. Should a file
// still be torn or rotten, it is skipped with a warning and the one before is used: that is why several are
// kept. The learner's state is opaque bytes in here. One thread; one writer a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"

namespace tandem::trainer {

struct Checkpoint {
  std::string
      fingerprint;  // of the model, data, hyperparameters and seed: what may not change between attempts
  std::vector<Metrics> history;  // of every epoch so far, the first first; its size is the epoch
  std::string state;             // weights, optimizer, random generators (Learner::state)

  std::int64_t epoch() const { return static_cast<std::int64_t>(history.size()); }
  bool operator==(const Checkpoint&) const = default;
};

std::string encode(const Checkpoint&);
// Throws SystemError that says what is wrong with the bytes.
Checkpoint decode(std::string_view bytes);

// Durable when it returns; then removes all but the newest `keep`. A failure throws SystemError and leaves
// the older checkpoints as they were.
void save_checkpoint(const std::filesystem::path& folder, const Checkpoint&, std::int64_t keep);

// The newest that is whole, or nullopt. Each one that was skipped is told to `warn`.
std::optional<Checkpoint> newest_checkpoint(const std::filesystem::path& folder,
                                            const std::function<void(const std::string&)>& warn);

}  // namespace tandem::trainer
