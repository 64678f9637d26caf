// Keeps what the loop knows in a file now and then, so that a server that lived long starts soon. The loop's
// thread only takes a copy, which is cheap; a thread beside it writes. Nothing depends on it: see
// control/snapshot.h.
#pragma once

#include <atomic>
#include <filesystem>
#include <future>
#include <optional>
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
  // Quick: starts writing when it is time. Tries again soon while a policy cannot be saved; while much is
  // being archived only if none was kept before.
  void keep_when_due(control::Loop&, bool archives = false);
  void keep_now(control::Loop&);  // waits until it is written

  // For other threads: after how many events the newest of this session was taken; and whether one is due
  // that some policy prevents (Policy::save), so that the next start reads more of the journal.
  std::optional<std::int64_t> events() const;
  bool prevented() const { return prevented_; }

 private:
  void write(const control::Snapshot&);
  std::optional<control::Snapshot> taken(control::Loop&);

  const std::filesystem::path file_;
  Log& log_;
  std::int64_t kept_ = -kEvery, tried_ = -kEvery;  // after how many events
  std::int64_t gone_ = 0;                          // jobs that had been archived then
  std::atomic<std::int64_t> written_ = -1;         // after how many events
  std::atomic<bool> prevented_ = false;
  bool said_ = false;  // that it is prevented
  std::future<void> writing_;
};

}  // namespace tandem::server
