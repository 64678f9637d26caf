// Keeps what the loop knows in a file now and then, so that a server that lived long starts soon. The loop's
// thread only takes a copy, which is cheap; a thread beside it writes. Nothing depends on it: see
// control/snapshot.h.
#pragma once

#include <filesystem>
#include <future>
#include <string>

#include "control/loop.h"
#include "server/http/log.h"

namespace tandem::server {

class SnapshotKeeper {
 public:
  // So many entries are folded again at the next start at most, as far as policies could be saved in between;
  // and so many jobs are read that were archived since.
  static constexpr std::int64_t kEvery = 20'000, kArchived = 2'000;

  SnapshotKeeper(const std::filesystem::path& run_folder, Log& log)
      : file_(run_folder / "snapshot"), log_(log) {}
  SnapshotKeeper(const SnapshotKeeper&) = delete;
  ~SnapshotKeeper();

  std::string newest() const;  // "": there is none
  // Quick: starts writing when it is time. Tries again soon while a policy cannot be saved; while much is being
  // archived only if none was kept before.
  void keep_when_due(control::Loop&, bool archives = false);
  void keep_now(control::Loop&);  // waits until it is written

 private:
  void write(const control::Snapshot&) const;

  const std::filesystem::path file_;
  Log& log_;
  std::int64_t kept_ = -kEvery, tried_ = -kEvery;  // after how many events
  std::int64_t gone_ = 0;                          // jobs that had been archived then
  std::future<void> writing_;
};

}  // namespace tandem::server
