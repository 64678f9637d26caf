#include "server/snapshot_keeper.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "platform/plain_file.h"

namespace tandem::server {

constexpr std::int64_t kTryAgainAfter = 200;  // events

SnapshotKeeper::~SnapshotKeeper() {
  if (writing_.valid()) writing_.wait();
}

std::string SnapshotKeeper::newest() const {
  try {
    return platform::read_plain(file_, SIZE_MAX).value_or("");
  } catch (const SystemError& error) {  // a program of the same user put something else there, say
    log_.warning("the snapshot cannot be read", {{"why", error.what()}});
    return "";
  }
}

void SnapshotKeeper::write(const control::Snapshot& snapshot) {
  try {
    auto beside = file_;
    beside += ".new";
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    std::filesystem::permissions(beside,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    control::write(snapshot, [&](std::string_view bytes) {
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    });
    out.close();
    if (!out) throw SystemError("writing " + beside.string());
    std::filesystem::rename(beside, file_);  // one that a power cut leaves in parts is seen to be damaged
    written_ = snapshot.last.number;
    log_.debug("snapshot kept", {{"entry", snapshot.last.number}});
  } catch (const std::exception& error) {  // the next start takes longer
    log_.warning("no snapshot was kept", {{"why", error.what()}});
  }
}

std::optional<std::int64_t> SnapshotKeeper::events() const {
  const std::int64_t events = written_;
  return events < 0 ? std::nullopt : std::optional(events);
}

std::optional<control::Snapshot> SnapshotKeeper::taken(control::Loop& loop) {
  auto snapshot = loop.snapshot();
  prevented_ = !snapshot;
  if (!snapshot && !std::exchange(said_, true))
    log_.warning("no snapshot can be kept for now",
                 {{"why",
                   "a job's controller cannot be saved while it is at work (a kind without Policy::save)"},
                  {"so", "the next start reads the journal from the last snapshot on"}});
  return snapshot;
}

void SnapshotKeeper::keep_when_due(control::Loop& loop, bool archives) {
  if (archives && kept_ >= 0) return;
  const auto events = loop.view().events;
  const auto gone = static_cast<std::int64_t>(loop.view().jobs.size() - loop.view().jobs.present());
  const bool due = events - kept_ >= kEvery || gone - gone_ >= kArchived;
  if (!due || events - tried_ < kTryAgainAfter) return;
  if (writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  tried_ = events;
  auto snapshot = taken(loop);
  if (!snapshot) return;
  kept_ = events;
  gone_ = gone;
  writing_ = std::async(std::launch::async, [this, held = std::move(snapshot)]() mutable {
    write(*held);
    held.reset();
    ::malloc_trim(0);  // what was archived since the last one leaves large gaps
  });
}

void SnapshotKeeper::keep_now(control::Loop& loop) {
  if (writing_.valid()) writing_.wait();
  if (loop.view().events == kept_) return;
  if (const auto snapshot = taken(loop)) write(*snapshot);
}

}  // namespace tandem::server
