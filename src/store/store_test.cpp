#include "store/store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "platform/temporary.h"
#include "store/journal.h"
#include "store/sqlite.h"

namespace tandem::store {
namespace {

using control::Entry;

class StoreTest : public testing::Test {
 protected:
  Store open() { return Store(folder_.path() / "store"); }
  std::filesystem::path file() const { return folder_.path() / "store/tandem.db"; }
  platform::TemporaryFolder folder_;
};

std::vector<Entry> some_entries() {
  return {{1, {Seconds{5}, NodeJoined{0, "here", {2, kGiB, 1.0}}}, {}},
          {2, {Seconds{6}, JobSubmitted{0, {}}}, {{1, Request{0, 0, {}}}, {2, Start{0, 1, 0, {}}}}},
          {3,
           {Seconds{7}, TaskFailed{0, 1, Failure::killed, "x", "y", {}}},
           {{3, FinishJob{0, JobState::failed, "why"}}}}};
}

std::vector<Entry> all_of(control::Journal& journal) {
  std::vector<Entry> entries;
  journal.replay([&](Entry&& entry) { entries.push_back(std::move(entry)); });
  return entries;
}

TEST_F(StoreTest, WhatWasAppendedIsThereForTheNextProcess) {
  std::string id;
  {
    auto store = open();
    id = store.create_run("train", "a", "{}", Seconds{1}).id;
    store.journal(id)->append(some_entries());
  }
  auto store = open();
  EXPECT_EQ(all_of(*store.journal(id)), some_entries());
  EXPECT_EQ(store.find(id).state, "failed");
  EXPECT_EQ(store.find(id).reason, "why");
}

TEST_F(StoreTest, ALongJournalIsReadInOrderAndAGapInItIsNoticed) {
  auto store = open();
  const auto id = store.create_run("train", "a", "{}", Seconds{1}).id;
  const auto journal = store.journal(id);
  std::vector<Entry> entries;
  for (int i = 1; i <= 5000; ++i) entries.push_back({i, {Seconds{1.0 * i}, Woke{i}}, {}});
  journal->append(entries);
  EXPECT_EQ(all_of(*journal), entries);
  std::int64_t seen = 0;
  journal->replay_from(4001, [&](Entry&& entry) { EXPECT_EQ(entry.number, 4001 + seen++); });
  EXPECT_EQ(seen, 1000);
  Database(file()).execute("DELETE FROM journal WHERE number = 3000");
  EXPECT_THROW(all_of(*journal), SystemError);
  EXPECT_THROW(journal->replay([](Entry&& entry) {
    if (entry.number == 2000) throw std::runtime_error("enough");
  }),
               std::runtime_error);
}

TEST_F(StoreTest, WhoStopsNeedNotWaitForTheEndOfAJournal) {
  std::atomic<bool> stop = false;
  open();
  Store store(folder_.path() / "store", &stop);
  const auto id = store.create_run("train", "a", "{}", Seconds{1}).id;
  const auto journal = store.journal(id);
  std::vector<Entry> entries;
  for (int i = 1; i <= 50'000; ++i) entries.push_back({i, {Seconds{1.0 * i}, Woke{i}}, {}});
  journal->append(entries);
  EXPECT_EQ(all_of(*journal).size(), entries.size());
  std::int64_t last = 0;
  EXPECT_THROW(journal->replay([&](Entry&& entry) {
    last = entry.number;
    stop = last >= 1500;
  }),
               SystemError);
  EXPECT_LT(last, 10'000);
}

TEST_F(StoreTest, ABatchIsThereWholeOrNotAtAll) {
  auto store = open();
  const auto id = store.create_run("train", "a", "{}", Seconds{1}).id;
  auto journal = store.journal(id);
  auto entries = some_entries();
  entries[2].number = 1;  // the same number twice cannot be
  EXPECT_THROW(journal->append(entries), SystemError);
  EXPECT_TRUE(all_of(*journal).empty());
  journal->append(some_entries());
  EXPECT_EQ(all_of(*journal).size(), 3u);
}

TEST_F(StoreTest, AGapInTheJournalIsNoticed) {
  auto store = open();
  const auto id = store.create_run("train", "a", "{}", Seconds{1}).id;
  auto entries = some_entries();
  entries.erase(entries.begin() + 1);
  store.journal(id)->append(entries);
  EXPECT_THROW(all_of(*store.journal(id)), SystemError);
}

TEST_F(StoreTest, RunsAreFoundByIdBeginningNameAndLast) {
  auto store = open();
  const auto first = store.create_run("train", "alpha", "{}", Seconds{1e9});
  const auto second = store.create_run("train", "beta", "{}", Seconds{1.5e9});
  EXPECT_EQ(store.find("last").id, second.id);
  EXPECT_EQ(store.find(first.id.substr(0, 8)).id, first.id);
  EXPECT_EQ(store.find("alpha").id, first.id);
  EXPECT_EQ(store.runs().size(), 2u);
  try {
    store.find("alpah");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("did you mean 'alpha'"), std::string::npos) << e.what();
  }
  EXPECT_THROW(store.find("20"), UserError) << "ambiguous or unknown";
}

TEST_F(StoreTest, ARemovedRunIsGoneWithItsFilesAndItsJournal) {
  auto store = open();
  const auto id = store.create_run("train", "a", "{}", Seconds{1}).id;
  store.journal(id)->append(some_entries());
  std::ofstream(store.run_folder(id) / "model.pt") << "x";
  store.remove(id);
  EXPECT_FALSE(std::filesystem::exists(store.run_folder(id)));
  EXPECT_THROW(store.find(id), UserError);
  EXPECT_THROW(store.journal(id), UserError);
}

TEST_F(StoreTest, OnlyOneProcessHoldsARun) {
  auto store = open();
  const auto folder = store.run_folder(store.create_run("train", "a", "{}", Seconds{1}).id);
  EXPECT_FALSE(RunLock::owner(folder));
  {
    const auto lock = RunLock::take(folder);
    ASSERT_TRUE(lock);
    EXPECT_FALSE(RunLock::take(folder));
    EXPECT_EQ(RunLock::owner(folder), ::getpid());
  }
  EXPECT_FALSE(RunLock::owner(folder));
  EXPECT_TRUE(RunLock::take(folder));
}

TEST_F(StoreTest, AFileThatIsNoStoreIsRefusedWithAdvice) {
  std::filesystem::create_directories(folder_.path() / "store");
  std::ofstream(file()) << std::string(8192, 'x');
  try {
    open();
    FAIL();
  } catch (const SystemError& e) {
    EXPECT_NE(std::string(e.what()).find("--store"), std::string::npos) << e.what();
  }
}

TEST_F(StoreTest, AStoreOfANewerTandemIsRefusedNotDamaged) {
  open();
  { Database(file()).execute("PRAGMA user_version=999"); }
  EXPECT_THROW(open(), UserError);
}

TEST_F(StoreTest, AnEmptyStoreFromBeforeTheFirstVersionIsBroughtUpToDate) {
  std::filesystem::create_directories(folder_.path() / "store");
  { Database(file()).execute("PRAGMA user_version=0"); }
  EXPECT_TRUE(open().runs().empty());
}

TEST_F(StoreTest, AFolderThatCannotBeMadeIsSaidSo) {
  std::ofstream(folder_.path() / "store") << "a file is in the way";
  EXPECT_THROW(open(), SystemError);
}

mode_t mode_of(const std::filesystem::path& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST_F(StoreTest, WhatIsMadeIsForItsOwnerAlone) {
  for (const char* name : {"store", "slash/", "dot/."}) {
    const auto folder = folder_.path() / "deep" / name;
    Store store(folder);
    EXPECT_EQ(mode_of(folder), 0700u) << name;
  }
}

// Somebody's project, or what a link leads to: its mode is theirs. What is private is private in it too.
TEST_F(StoreTest, AFolderThatIsThereKeepsItsMode) {
  const auto there = folder_.path() / "there", link = folder_.path() / "link";
  std::filesystem::create_directory(there);
  std::filesystem::create_directory_symlink(there, link);
  ::chmod(there.c_str(), 0755);
  for (const auto& folder : {there, link}) {
    Store store(folder);
    const auto id = store.create_run("train", "a", "{}", Seconds{1}).id;
    EXPECT_EQ(mode_of(there), 0755u);
    EXPECT_EQ(mode_of(there / "runs"), 0700u);
    EXPECT_EQ(mode_of(there / "runs" / id), 0700u);
    EXPECT_EQ(mode_of(there / "tandem.db"), 0600u);
    EXPECT_EQ(mode_of(there / "tandem.db-wal"), 0600u);
    EXPECT_FALSE(store.warning()) << *store.warning();
  }
}

TEST_F(StoreTest, AFolderThatAnybodyMayWriteIsRefusedAndLeftAsItIs) {
  const auto there = folder_.path() / "there";
  std::filesystem::create_directories(there / "runs");
  for (const auto& open_to_all : {there, there / "runs"}) {
    for (const mode_t mode : {0777, 01777, 0702}) {
      ::chmod(open_to_all.c_str(), mode);
      try {
        Store store(there);
        FAIL() << open_to_all << " " << mode;
      } catch (const UserError& e) {
        EXPECT_NE(std::string(e.what()).find("chmod o-w"), std::string::npos) << e.what();
      }
      EXPECT_EQ(mode_of(open_to_all), mode);
      EXPECT_FALSE(std::filesystem::exists(there / "tandem.db"));
    }
    ::chmod(open_to_all.c_str(), 0755);
  }
}

TEST_F(StoreTest, AFolderThatAGroupOrAnotherUserMayWriteIsSaid) {
  const auto there = folder_.path() / "there";
  std::filesystem::create_directory(there);
  Store store(there);
  EXPECT_FALSE(store.warning());
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown(there.c_str(), 0, 65534), 0);
  ::chmod(there.c_str(), 0770);
  EXPECT_NE(Store(there).warning().value_or("").find("chmod g-w"), std::string::npos);
  ASSERT_EQ(::chown(there.c_str(), 65534, 65534), 0);
  EXPECT_NE(Store(there).warning().value_or("").find("belongs to user 65534"), std::string::npos);
}

TEST_F(StoreTest, ARunWhosePathLeadsElsewhereIsNotRemoved) {
  auto store = open();
  store.create_run("train", "a", "{}", Seconds{1});
  std::filesystem::create_directory(folder_.path() / "precious");
  for (const char* id : {"../../precious", "..", ""}) {
    { Database(file()).execute("UPDATE run SET id = '" + std::string(id) + "'"); }
    EXPECT_THROW(store.remove(id), UserError) << id;
  }
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "precious"));
}

TEST_F(StoreTest, ADamagedEntryIsNamed) {
  auto store = open();
  const auto id = store.create_run("train", "a", "{}", Seconds{1}).id;
  store.journal(id)->append(some_entries());
  { Database(file()).execute("UPDATE journal SET body = x'ff00' WHERE number = 2"); }
  try {
    all_of(*store.journal(id));
    FAIL();
  } catch (const SystemError& e) {
    EXPECT_NE(std::string(e.what()).find("entry 2"), std::string::npos) << e.what();
  }
}

// Every bit of an entry, one after the other; and an entry that stands in another's place.
TEST_F(StoreTest, AFlippedBitIsFoundAndToldWithWhatIsLost) {
  auto store = open();
  const auto id = store.create_run("train", "a", "{}", Seconds{1}).id;
  store.journal(id)->append(some_entries());
  EXPECT_EQ(store.without_checksum(id), 0);
  Database database(file());
  auto query = database.prepare("SELECT hex(body) FROM journal WHERE number = 2");
  ASSERT_TRUE(query.step());
  const auto good = query.text(0);
  query.reset();
  const auto put = [&](const std::string& hex) {
    database.execute("UPDATE journal SET body = x'" + hex + "' WHERE number = 2");
  };
  for (std::size_t bit = 0; bit < 4 * good.size(); ++bit) {
    const std::string digits = "0123456789ABCDEF";
    auto bad = good;
    bad[bit / 4] = digits[digits.find(good[bit / 4]) ^ (1U << bit % 4)];
    put(bad);
    try {
      all_of(*store.journal(id));
      FAIL() << "bit " << bit;
    } catch (const SystemError& e) {
      const std::string told = e.what();
      for (const char* part : {"entry 2 of 3", "checksum", "the 1 after it are lost", id.c_str(), "tandem rm"})
        ASSERT_NE(told.find(part), std::string::npos) << told;
    }
  }
  put(good);
  EXPECT_EQ(all_of(*store.journal(id)), some_entries());
  database.execute(
      "UPDATE journal SET (body, checksum) = (SELECT body, checksum FROM journal WHERE number = 1) "
      "WHERE number = 2");
  EXPECT_THROW(all_of(*store.journal(id)), SystemError) << "entry 1, in the place of entry 2";
}

// As a store of version 4 has them.
TEST_F(StoreTest, EntriesFromBeforeChecksumsAreReadAndCounted) {
  std::string id;
  {
    auto store = open();
    id = store.create_run("train", "a", "{}", Seconds{1}).id;
    store.journal(id)->append(some_entries());
  }
  Database(file()).execute("ALTER TABLE journal DROP COLUMN checksum; PRAGMA user_version=4");
  auto store = open();
  EXPECT_EQ(all_of(*store.journal(id)), some_entries());
  EXPECT_EQ(store.without_checksum(id), 3);
  const std::vector<Entry> more{{4, {Seconds{9}, Woke{0}}, {}}};
  store.journal(id)->append(more);
  EXPECT_EQ(store.without_checksum(id), 3);
  EXPECT_EQ(all_of(*store.journal(id)).size(), 4U);
}

TEST_F(StoreTest, AFullDiskLosesNothingThatWasThere) {
  auto store = open();
  const auto id = store.create_run("train", "a", "{}", Seconds{1}).id;
  // SQLite's own limit on pages fails exactly as a full disk does, without needing one.
  auto entries = some_entries();
  store.journal(id)->append(std::span(entries).first(1));
  std::vector<Entry> large{entries[1]};
  spec::base_of(std::get<JobSubmitted>(large[0].event.body).spec).name = std::string(4 << 20, 'n');
  auto journal = make_limited_journal(file(), 1, 100);
  try {
    journal->append(large);
    FAIL();
  } catch (const SystemError& e) {
    EXPECT_NE(std::string(e.what()).find("disk is full"), std::string::npos) << e.what();
  }
  EXPECT_EQ(all_of(*store.journal(id)).size(), 1u);
  store.journal(id)->append(std::span(entries).subspan(1));
  EXPECT_EQ(all_of(*store.journal(id)).size(), 3u);
}

// What `child` says in a process of a user who may write nothing here.
std::string as_nobody(const std::function<std::string()>& child) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::string said = "no user nobody";
    if (::setgid(65534) == 0 && ::setuid(65534) == 0) try {
        said = child();
      } catch (const std::exception& e) {
        said = e.what();
      }
    [[maybe_unused]] const auto told = ::write(ends[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string out(4096, '\0');
  out.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ends[0], out.data(), out.size()))));
  ::close(ends[0]);
  ::waitpid(pid, nullptr, 0);
  return out;
}

TEST_F(StoreTest, WhoMayNotWriteCanReadAndIsToldWhenWriting) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const auto there = folder_.path() / "a store?";
  ::chmod(folder_.path().c_str(), 0755);
  std::string id;
  auto store = std::make_optional<Store>(there);
  id = store->create_run("train", "a", "{}", Seconds{1}).id;
  store->journal(id)->append(some_entries());
  const auto may_be_read = [&] {
    for (const auto& each : std::filesystem::recursive_directory_iterator(there))
      ::chmod(each.path().c_str(), each.is_directory() ? 0555 : 0444);
    ::chmod(there.c_str(), 0555);
  };
  const auto read = [&] {
    Store mine(there);
    return mine.find("last").name + " " + std::to_string(all_of(*mine.journal(id)).size());
  };
  may_be_read();
  EXPECT_EQ(as_nobody(read), "a 3") << "while it is in use";
  store.reset();
  may_be_read();
  EXPECT_FALSE(std::filesystem::exists(there / "tandem.db-wal"));
  EXPECT_EQ(as_nobody(read), "a 3");
  const auto told = as_nobody([&] {
    Store(there).journal(id)->append(std::vector<Entry>{{4, {Seconds{9}, Woke{0}}, {}}});
    return std::string("written");
  });
  EXPECT_NE(told.find("cannot be written"), std::string::npos) << told;
}

TEST_F(StoreTest, ALockedStoreIsWaitedOutAsLongAsItIsWorthIt) {
  auto store = open();
  const auto id = store.create_run("train", "a", "{}", Seconds{1}).id;
  Database other(file());
  std::optional<Transaction> lock(other);
  int asked = 0;
  const auto patient = store.journal(id, [&](const std::string& why) {
    EXPECT_NE(why.find("keeps the store locked"), std::string::npos) << why;
    if (++asked == 2) lock.reset();
    return true;
  });
  const auto entries = some_entries();
  patient->append(std::span(entries).first(2));
  EXPECT_EQ(asked, 2);
  lock.emplace(other);
  const auto stopping = store.journal(id, [](const std::string&) { return false; });
  EXPECT_THROW(stopping->append(std::span(entries).subspan(2)), StoreLocked);
  lock.reset();
  EXPECT_EQ(all_of(*patient).size(), 2U);
  stopping->append(std::span(entries).subspan(2));
  EXPECT_EQ(all_of(*patient), entries);
}

// Two processes on one store: neither damages it nor the other's journal.
TEST_F(StoreTest, TwoProcessesWriteAtTheSameTime) {
  auto store = open();
  const std::string ids[2] = {store.create_run("train", "a", "{}", Seconds{1}).id,
                              store.create_run("train", "b", "{}", Seconds{2}).id};
  constexpr int kEntries = 100;
  pid_t children[2];
  for (int c = 0; c < 2; ++c) {
    children[c] = ::fork();
    if (children[c] == 0) {
      auto journal = open().journal(ids[c]);
      for (int i = 1; i <= kEntries; ++i) {
        const Entry entry{i, {Seconds{1.0 * i}, Woke{c}}, {}};
        journal->append(std::span(&entry, 1));
      }
      ::_exit(0);
    }
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (int c = 0; c < 2; ++c) {
    const auto entries = all_of(*store.journal(ids[c]));
    ASSERT_EQ(entries.size(), static_cast<std::size_t>(kEntries));
    for (const auto& entry : entries) EXPECT_EQ(std::get<Woke>(entry.event.body).decision, c);
  }
}

TEST_F(StoreTest, ManyProcessesMayMakeTheSameStoreAtOnce) {
  for (int round = 0; round < 10; ++round) {
    const auto folder = folder_.path() / ("round-" + std::to_string(round));
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        try {
          Store store(folder);
          ::_exit(store.runs().empty() ? 0 : 1);
        } catch (const std::exception&) {
          ::_exit(2);
        }
      }
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      EXPECT_EQ(status, 0) << "round " << round;
    }
  }
}

KnownWorkload some_work(const std::string& machine, double batch) {
  return {machine, batch, {1, 0, 1.0}, {{"task-clock", 1e9}}, {}, {{{1, 0, 1.0}, 1.5, 12.0, 3}}};
}

TEST_F(StoreTest, WhatAJobLearnedOutlivesItAndIsLearnedOnce) {
  auto store = open();
  const auto id = store.create_run("tune", "a", "{}", Seconds{1}).id;
  store.journal(id)->append(std::vector<Entry>{
      {1, {Seconds{5}, Woke{0}}, {{1, Learn{0, some_work("m", 32)}}, {2, Learn{0, some_work("n", 64)}}}}});
  store.remove(id);
  EXPECT_EQ(store.knowledge("m"), (std::vector<KnownWorkload>{some_work("m", 32)}));
  EXPECT_EQ(store.knowledge("").size(), 2u);
  EXPECT_TRUE(store.knowledge("other").empty());
  store.remember("import", {some_work("m", 1), some_work("m", 2)}, Seconds{9});
  store.remember("import", {some_work("m", 1), some_work("m", 2)}, Seconds{9});
  EXPECT_EQ(store.knowledge("m").size(), 3u);
  EXPECT_EQ(store.knowledge("m", 1), (std::vector<KnownWorkload>{some_work("m", 2)})) << "the newest";
  EXPECT_EQ(store.forget(), 4);
  EXPECT_TRUE(store.knowledge("").empty());
}

TEST_F(StoreTest, AFailedCommitLearnsNothing) {
  auto store = open();
  const auto id = store.create_run("tune", "a", "{}", Seconds{1}).id;
  std::vector<Entry> entries{{1, {Seconds{5}, Woke{0}}, {{1, Learn{0, some_work("m", 32)}}}},
                             {1, {Seconds{6}, Woke{0}}, {}}};
  EXPECT_THROW(store.journal(id)->append(entries), SystemError);
  EXPECT_TRUE(store.knowledge("").empty());
}

TEST_F(StoreTest, AStoreOfTheFirstVersionIsBroughtUpToDate) {
  std::string id;
  {
    auto store = open();
    id = store.create_run("train", "a", "{}", Seconds{1}).id;
    store.journal(id)->append(some_entries());
  }
  {
    Database database(file());
    database.execute(
        "DROP TABLE folded; DROP TABLE archived; DROP TABLE past; DROP TABLE prediction; DROP TABLE fitted");
    database.execute("DROP TABLE knowledge; ALTER TABLE journal DROP COLUMN checksum");
    database.execute("PRAGMA user_version=1");
  }
  auto store = open();
  EXPECT_EQ(all_of(*store.journal(id)), some_entries());
  EXPECT_TRUE(store.knowledge("").empty());
}

TEST_F(StoreTest, AStoreOfTheSecondVersionLearnsToKeepPastRuns) {
  std::string id;
  {
    auto store = open();
    id = store.create_run("train", "a", "{}", Seconds{1}).id;
    store.journal(id)->append(some_entries());
  }
  {
    Database database(file());
    database.execute(
        "DROP TABLE folded; DROP TABLE archived; DROP TABLE past; DROP TABLE prediction; DROP TABLE fitted");
    database.execute("ALTER TABLE journal DROP COLUMN checksum; PRAGMA user_version=2");
  }
  auto store = open();
  ASSERT_EQ(store.unfolded().size(), 1U);  // runs from before are folded too
  EXPECT_EQ(store.unfolded()[0].id, id);
}

TEST(Store, ArchivedJobsAreFoundByNumberNameStateAndPage) {
  const platform::TemporaryFolder folder("tandem-store-test");
  Store store(folder.path());
  const auto run = store.create_run("serve", "main", "{}", Seconds{1}).id;
  const auto other = store.create_run("serve", "other", "{}", Seconds{2}).id;
  std::vector<ArchivedJob> jobs;
  for (int i = 0; i < 10; ++i)
    jobs.push_back(
        {i, i % 2 ? "odd" : "even", i < 5 ? "finished" : "failed", "row" + std::to_string(i), "all"});
  store.keep_archived(run, jobs);
  store.keep_archived(run, jobs);  // the server was killed in between
  const auto numbers = [&](const ArchivedQuery& query) {
    std::vector<std::int64_t> out;
    for (const auto& job : store.archived(run, query)) out.push_back(job.job);
    return out;
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(numbers({}).size(), 10U);
  EXPECT_EQ(numbers({.limit = 2}), (Numbers{9, 8}));
  EXPECT_EQ(numbers({.before = 3, .limit = 2}), (Numbers{2, 1}));
  EXPECT_EQ(numbers({.after = 3, .limit = 2}), (Numbers{4, 5}));
  EXPECT_EQ(numbers({.state = "finished", .limit = 2}), (Numbers{4, 3}));
  EXPECT_EQ(store.archived_job(run, 4)->row, "row4");
  EXPECT_EQ(store.archived_job(run, 4)->whole, "all");
  EXPECT_FALSE(store.archived_job(run, 10));
  const auto any = [](const std::string&) { return true; };
  EXPECT_EQ(store.archived_called(run, "even", any), 8);
  EXPECT_EQ(store.archived_called(run, "even", [](const std::string& row) { return row != "row8"; }), 6);
  EXPECT_FALSE(store.archived_called(run, "even", [](const std::string&) { return false; }));
  EXPECT_FALSE(store.archived_called(run, "neither", any));
  EXPECT_TRUE(store.archived(other, {}).empty());
  store.remove(run);
  EXPECT_FALSE(store.archived_job(run, 4));
}

}  // namespace
}  // namespace tandem::store
