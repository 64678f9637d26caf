// Power cuts at any moment of a store's life, by files as they may then be on the disk (crash_disk.h).
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>

#include "base/error.h"
#include "platform/temporary.h"
#include "store/crash_vfs.h"
#include "store/store.h"

namespace tandem::store {
namespace {

using control::Entry;

constexpr int kLives = 10, kCrashesOfALife = 50;

// What a run's writer had been told when, and what it had asked for.
struct Written {
  std::vector<Entry> entries;
  struct Batch {
    std::int64_t asked, acknowledged;  // calls of the disk by then
    std::size_t size;                  // of the journal, with it
  };
  std::vector<Batch> batches;
};

struct Life {
  CrashDisk disk;
  std::map<std::string, Written> runs;
  std::map<std::string, std::int64_t> created;
};

Entry some_entry(std::int64_t number, Random& random) {
  Entry entry{number, {Seconds{5.0}, Woke{static_cast<std::int64_t>(random.below(9))}}, {}};
  const std::string text(random.below(20) == 0 ? random.below(30'000) : random.below(300), 'x');
  if (random.below(3) == 0) entry.decisions.push_back({number, FinishJob{0, JobState::stopped, text}});
  if (random.below(10) == 0) entry.decisions.push_back({number, Learn{0, {text, 32, {}, {}, {}, {}}}});
  return entry;
}

void append_some(Life& life, const std::string& run, control::Journal& journal, Random& random) {
  auto& written = life.runs[run];
  std::vector<Entry> batch;
  for (auto left = 1 + random.below(8); left > 0; --left)
    batch.push_back(some_entry(static_cast<std::int64_t>(written.entries.size() + batch.size()) + 1, random));
  const auto asked = life.disk.calls();
  journal.append(batch);
  written.entries.insert(written.entries.end(), batch.begin(), batch.end());
  written.batches.push_back({asked, life.disk.calls(), written.entries.size()});
}

// A store that is opened and closed, with runs and journals; checkpoints of SQLite's come at any time.
void live(Life& life, Random& random) {
  const platform::TemporaryFolder folder("tandem-crash-life");
  const CrashVfs vfs(life.disk);
  for (int opened = 0; opened < 3; ++opened) {
    Store store(folder.path());
    const auto run = store.create_run("train", "a", "{}", Seconds{1.0 * opened}).id;
    life.created[run] = life.disk.calls();
    const auto first = store.journal(run), second = store.journal(life.created.begin()->first);
    for (int i = 0; i < 25; ++i) {
      const bool own = random.below(4) > 0;
      append_some(life, own ? run : life.created.begin()->first, own ? *first : *second, random);
      for (const char* how : {"TRUNCATE", "PASSIVE"})
        if (random.below(12) == 0)
          Database(folder.path() / "tandem.db").execute(std::string("PRAGMA wal_checkpoint(") + how + ")");
    }
  }
}

void lay_out(const CrashDisk::Files& files, const std::filesystem::path& folder) {
  for (const auto& [name, bytes] : files)
    if (!name.ends_with("-shm")) std::ofstream(folder / name, std::ios::binary) << bytes;
}

std::vector<Entry> read_whole(Store& store, const std::string& run) {
  std::vector<Entry> entries;
  store.journal(run)->replay([&](Entry&& entry) { entries.push_back(std::move(entry)); });
  return entries;
}

// What is in the journal is all that was acknowledged, and at most what was asked for, in whole batches.
void check_run(Store& store, const std::string& run, const Written& written, std::int64_t crashed) {
  std::size_t least = 0, most = 0;
  for (const auto& batch : written.batches) {
    if (batch.acknowledged <= crashed) least = batch.size;
    if (batch.asked < crashed) most = batch.size;
  }
  const auto found = read_whole(store, run);
  ASSERT_GE(found.size(), least) << "acknowledged entries of run " << run << " are missing";
  ASSERT_LE(found.size(), most);
  const auto& batches = written.batches;
  const bool whole = std::any_of(batches.begin(), batches.end(),
                                 [&](const auto& batch) { return batch.size == found.size(); });
  ASSERT_TRUE(found.empty() || whole) << "part of a batch is there";
  ASSERT_TRUE(std::equal(found.begin(), found.end(), written.entries.begin()));
}

void check_after_crash(const Life& life, std::int64_t crashed, Random& random) {
  const platform::TemporaryFolder folder("tandem-crash");
  lay_out(life.disk.after_crash(crashed, random), folder.path());
  CrashDisk unused;
  const CrashVfs without_syncs(unused);
  Store store(folder.path());
  auto check = Database(folder.path() / "tandem.db").prepare("PRAGMA integrity_check");
  ASSERT_TRUE(check.step());
  ASSERT_EQ(check.text(0), "ok");
  std::map<std::string, bool> there;
  for (const auto& run : store.runs()) there[run.id] = true;
  for (const auto& [run, created] : life.created) {
    ASSERT_TRUE(created > crashed || there[run]) << "run " << run << " is gone";
    const auto written = life.runs.find(run);
    if (!there[run] || written == life.runs.end()) continue;
    ASSERT_NO_FATAL_FAILURE(check_run(store, run, written->second, crashed));
  }
  const auto more = store.create_run("train", "after", "{}", Seconds{9}).id;
  store.journal(more)->append(std::vector<Entry>{some_entry(1, random)});
}

TEST(Crash, NothingAcknowledgedIsLostAndEveryJournalOpens) {
  for (std::uint64_t seed = 0; seed < kLives; ++seed) {
    Random random(seed, hash_name("crash"));
    Life life;
    live(life, random);
    for (int i = 0; i < kCrashesOfALife; ++i) {
      const auto calls = static_cast<std::uint64_t>(life.disk.calls());
      const auto crashed = static_cast<std::int64_t>(random.below(calls + 1));
      SCOPED_TRACE("life " + std::to_string(seed) + ", crash before call " + std::to_string(crashed));
      try {
        ASSERT_NO_FATAL_FAILURE(check_after_crash(life, crashed, random));
      } catch (const std::exception& e) {
        FAIL() << e.what();
      }
    }
  }
}

}  // namespace
}  // namespace tandem::store
