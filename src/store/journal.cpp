#include "store/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "event/binary.h"
#include "event/consistency.h"
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

Entry decode(std::int64_t number, std::span<const std::uint8_t> bytes) {
  BinaryReader reader(bytes);
  Entry entry{number, reader.event(), {}};
  while (!reader.done()) entry.decisions.push_back(reader.decision());
  return entry;
}

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
      : database_(file),
        run_(run),
        stop_(stop),
        locked_(std::move(locked)),
        insert_(database_.prepare("INSERT INTO journal(run, number, body, checksum) VALUES(?, ?, ?, ?)")),
        set_state_(database_.prepare("UPDATE run SET state = ?, reason = ?, changed = ? WHERE number = ?")),
        learn_(database_.prepare(kInsertKnowledge)) {
    if (locked_) database_.wait_for_locks(kAskEvery);
  }

  void limit(int pages) { database_.execute("PRAGMA max_page_count=" + std::to_string(pages)); }

  void append(std::span<const Entry> entries) override {
    for (;;) try {
        return append_once(entries);
      } catch (const StoreLocked& e) {
        if (!locked_ || !locked_(e.what())) throw;
      }
  }

  void append_once(std::span<const Entry> entries) {
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
      learn(entry);
    }
    transaction.commit();
  }

  void replay(const std::function<void(Entry&&)>& each) override { replay_from(1, each); }

  void replay_from(std::int64_t first, const std::function<void(Entry&&)>& each) override {
    auto query = database_.prepare(
        "SELECT number, body, checksum FROM journal WHERE run = ? AND number >= ? ORDER BY number");
    query.bind(1, run_).bind(2, first);
    auto next = [&query, this, expected = first]() mutable -> std::optional<Entry> {
      if (stop_ && *stop_) throw SystemError("the journal was not read to its end: Tandem is stopping");
      if (!query.step()) return std::nullopt;
      return read(query, expected++);
    };
    std::int64_t number = first - 1;  // of the entry that is looked at
    try {
      for (int i = 0; i < kFew; ++i) {
        auto entry = next();
        if (!entry) return;
        ++number;
        each(std::move(*entry));
      }
      ReadAhead<Entry> ahead(std::move(next));
      for (auto entries = ahead.take(); !entries.empty(); entries = ahead.take())
        for (auto& entry : entries) {
          ++number;
          each(std::move(entry));
        }
    } catch (const Contradiction& e) {
      damaged(number, std::string("contradicts those before it: ") + e.what());
    }
  }

 private:
  // On a thread of its own where the journal is long, while nobody else uses the connection.
  Entry read(const Statement& row, std::int64_t expected) {
    const std::int64_t number = row.integer(0);
    if (number != expected) damaged(expected, "is missing");
    const auto body = row.blob(1);
    if (!row.is_null(2) && row.integer(2) != checksum_of(run_, number, body))
      damaged(number, "is damaged: its checksum is wrong");
    try {
      return decode(number, body);
    } catch (const SystemError& e) {
      damaged(number, std::string("cannot be read: ") + e.what());
    }
  }

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

  void learn(const Entry& entry) {
    for (const auto& decision : entry.decisions)
      if (const auto* learn = std::get_if<Learn>(&decision.body))
        learn_.bind(1, id())
            .bind(2, decision.id)
            .bind(3, learn->workload.machine)
            .bind(4, entry.event.at.value)
            .bind(5, to_json(learn->workload).dump())
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

  Database database_;
  std::int64_t run_;
  const std::atomic<bool>* stop_;
  WhileLocked locked_;
  Statement insert_, set_state_, learn_;
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
