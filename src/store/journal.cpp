#include "store/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "event/binary.h"
#include "event/consistency.h"
#include "store/disk_reserve.h"
#include "store/read_ahead.h"
#include "store/sqlite.h"

namespace tandem::store {
namespace {

using control::Entry;

constexpr int kFew = 1000;       // entries that are read without a thread
constexpr int kAskEvery = 1000;  // milliseconds, whether a locked store is still waited for

// An entry is its event, then its decisions.
void encode(const Entry& entry, std::string& bytes) {
  bytes.clear();
  append_binary(bytes, entry.event);
  for (const auto& decision : entry.decisions) append_binary(bytes, decision);
}

// An entry that cannot be used, told by whoever finds it on whichever thread.
struct Damaged {
  std::int64_t number = 0;
  std::string how{};
};

struct Row {
  std::int64_t number = 0;
  std::vector<std::uint8_t> bytes{};
  std::optional<std::int64_t> checksum{};  // none: an older Tandem wrote it
};

// Each step can be undone, so that a change within one word always shows; others are missed once in 2^64.
// FNV-1a by words, with a shift that brings the high bits down.
std::int64_t checksum_of(std::int64_t run, std::int64_t number, std::span<const std::uint8_t> bytes) {
  std::uint64_t sum = 14695981039346656037U;
  const auto add = [&sum](std::uint64_t word) {
    sum = (sum ^ word) * 1099511628211U;
    sum ^= sum >> 32;
  };
  add(static_cast<std::uint64_t>(run));
  add(static_cast<std::uint64_t>(number));
  add(bytes.size());
  for (; !bytes.empty(); bytes = bytes.subspan(std::min<std::size_t>(8, bytes.size()))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), std::min<std::size_t>(8, bytes.size()));
    add(word);
  }
  return static_cast<std::int64_t>(sum);
}

Entry decode(std::int64_t run, const Row& row) {
  if (row.checksum && *row.checksum != checksum_of(run, row.number, row.bytes))
    throw Damaged{row.number, "is damaged: its checksum is wrong"};
  try {
    BinaryReader reader(row.bytes);
    Entry entry{row.number, reader.event(), {}};
    while (!reader.done()) entry.decisions.push_back(reader.decision());
    return entry;
  } catch (const SystemError& e) {
    throw Damaged{row.number, std::string("cannot be read: ") + e.what()};
  }
}

std::string damage(const std::string& run, std::int64_t number, std::int64_t last, const std::string& how) {
  return fmt::format(
      "run {0}: entry {1} of {2} in its journal {3}. What the run did before it is whole and can be seen "
      "with `tandem show {0} --journal`; entry {1} and the {4} after it are lost. Look after the disk and put "
      "tandem.db back from a backup if there is one; otherwise start the job again, and remove this run with "
      "`tandem rm {0}`",
      run, number, last, how, last - number);
}

class SqliteJournal final : public control::Journal {
 public:
  SqliteJournal(const std::filesystem::path& file, std::int64_t run, const std::atomic<bool>* stop = nullptr,
                WhileLocked locked = {})
      : reserve_(file.parent_path()),
        database_(file),
        run_(run),
        stop_(stop),
        locked_(std::move(locked)),
        insert_(database_.prepare("INSERT INTO journal(run, number, body, checksum) VALUES(?, ?, ?, ?)")),
        set_state_(database_.prepare("UPDATE run SET state = ?, reason = ?, changed = ? WHERE number = ?")),
        learn_(database_.prepare(kInsertKnowledge)),
        own_(database_.prepare("INSERT OR REPLACE INTO job_owner(run, job, owner) VALUES(?, ?, ?)")) {
    if (locked_) database_.wait_for_locks(kAskEvery);
  }

  void limit(int pages) { database_.execute("PRAGMA max_page_count=" + std::to_string(pages)); }

  bool use_reserve() override { return reserve_.use(); }

  void append(std::span<const Entry> entries) override {
    for (;;) try {
        return append_once(entries);
      } catch (const StoreLocked& e) {
        if (!locked_ || !locked_(e.what())) throw;
      }
  }

  void append_once(std::span<const Entry> entries) {
    reserve_.keep();
    Transaction transaction(database_);
    std::string bytes;
    for (const auto& entry : entries) {
      encode(entry, bytes);
      const std::span body(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      insert_.bind(1, run_)
          .bind(2, entry.number)
          .bind_blob(3, body)
          .bind(4, checksum_of(run_, entry.number, body))
          .run();
      cache_state(entry);
      keep_owner(entry);
      learn(entry);
    }
    transaction.commit();
  }

  void replay(const std::function<void(Entry&&)>& each) override { replay_from(1, each); }

  void replay_from(std::int64_t first, const std::function<void(Entry&&)>& each) override {
    auto query = database_.prepare(
        "SELECT number, body, checksum FROM journal WHERE run = ? AND number >= ? ORDER BY number");
    query.bind(1, run_).bind(2, first);
    auto next = [&query, this, expected = first]() mutable -> std::optional<Row> {
      if (stop_ && *stop_) throw SystemError("the journal was not read to its end: Tandem is stopping");
      if (!query.step()) return std::nullopt;
      const std::int64_t number = query.integer(0);
      if (number != expected) throw Damaged{expected, "is missing"};
      ++expected;
      const auto bytes = query.blob(1);
      Row row{number, {bytes.begin(), bytes.end()}};
      if (!query.is_null(2)) row.checksum = query.integer(2);
      return row;
    };
    const auto decoded = [run = run_](Row&& row) { return decode(run, row); };
    std::int64_t number = first - 1;  // of the entry that is looked at
    try {
      for (int i = 0; i < kFew; ++i) {
        auto row = next();
        if (!row) return;
        ++number;
        each(decoded(std::move(*row)));
      }
      ReadAhead<Row, Entry> ahead(std::move(next), decoded);
      for (auto entries = ahead.take(); !entries.empty(); entries = ahead.take())
        for (auto& entry : entries) {
          ++number;
          each(std::move(entry));
        }
    } catch (const Damaged& e) {
      damaged(e.number, e.how);
    } catch (const Contradiction& e) {
      damaged(number, std::string("contradicts those before it: ") + e.what());
    }
  }

 private:
  [[noreturn]] void damaged(std::int64_t number, const std::string& how) {
    auto last = database_.prepare("SELECT max(number) FROM journal WHERE run = ?");
    last.bind(1, run_).step();
    throw SystemError(damage(id(), number, std::max(number, last.integer(0)), how));
  }

  void cache_state(const Entry& entry) {
    if (std::holds_alternative<JobResumed>(entry.event.body)) write_state("running", "", entry.event.at);
    for (const auto& decision : entry.decisions)
      if (const auto* finish = std::get_if<FinishJob>(&decision.body))
        write_state(name(finish->state), finish->reason, entry.event.at);
  }

  void keep_owner(const Entry& entry) {
    if (const auto* job = std::get_if<JobSubmitted>(&entry.event.body); job && job->owner.user >= 0)
      own_.bind(1, run_).bind(2, std::int64_t{job->job}).bind(3, job->owner.user).run();
  }

  std::int64_t owner_of(JobId job) {
    auto query = database_.prepare("SELECT owner FROM job_owner WHERE run = ? AND job = ?");
    query.bind(1, run_).bind(2, std::int64_t{job});
    return query.step() ? query.integer(0) : kNobody;
  }

  void learn(const Entry& entry) {
    for (const auto& decision : entry.decisions)
      if (const auto* learn = std::get_if<Learn>(&decision.body))
        learn_.bind(1, id())
            .bind(2, decision.id)
            .bind(3, learn->workload.machine)
            .bind(4, entry.event.at.value)
            .bind(5, to_json(learn->workload).dump())
            .bind(6, owner_of(learn->job))
            .run();
  }

  std::string id() {
    auto query = database_.prepare("SELECT id FROM run WHERE number = ?");
    query.bind(1, run_);
    query.step();
    return query.text(0);
  }

  void write_state(std::string_view state, std::string_view reason, Seconds at) {
    set_state_.bind(1, state).bind(2, reason).bind(3, at.value).bind(4, run_).run();
  }

  DiskReserve reserve_;
  Database database_;
  std::int64_t run_;
  const std::atomic<bool>* stop_;
  WhileLocked locked_;
  Statement insert_, set_state_, learn_, own_;
};

}  // namespace

std::unique_ptr<control::Journal> make_journal(const std::filesystem::path& file, std::int64_t run,
                                               const std::atomic<bool>* stop, WhileLocked locked) {
  return std::make_unique<SqliteJournal>(file, run, stop, std::move(locked));
}

std::unique_ptr<control::Journal> make_limited_journal(const std::filesystem::path& file, std::int64_t run,
                                                       int pages) {
  auto journal = std::make_unique<SqliteJournal>(file, run);
  journal->limit(pages);
  return journal;
}

}  // namespace tandem::store
