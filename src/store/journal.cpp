#include "store/journal.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "event/binary.h"
#include "store/disk_reserve.h"
#include "store/read_ahead.h"
#include "store/sqlite.h"

namespace tandem::store {
namespace {

using control::Entry;

constexpr int kFew = 1000;  // entries that are read without a thread

// An entry is its event, then its decisions.
void encode(const Entry& entry, std::string& bytes) {
  bytes.clear();
  append_binary(bytes, entry.event);
  for (const auto& decision : entry.decisions) append_binary(bytes, decision);
}

Entry decode(std::int64_t number, std::span<const std::uint8_t> bytes) {
  try {
    BinaryReader reader(bytes);
    Entry entry{number, reader.event(), {}};
    while (!reader.done()) entry.decisions.push_back(reader.decision());
    return entry;
  } catch (const SystemError& e) {
    throw SystemError(std::string(e.what()) + " (entry " + std::to_string(number) + ")");
  }
}

class SqliteJournal final : public control::Journal {
 public:
  SqliteJournal(const std::filesystem::path& file, std::int64_t run, const std::atomic<bool>* stop = nullptr)
      : reserve_(file.parent_path()),
        database_(file),
        run_(run),
        stop_(stop),
        insert_(database_.prepare("INSERT INTO journal(run, number, body) VALUES(?, ?, ?)")),
        set_state_(database_.prepare("UPDATE run SET state = ?, reason = ?, changed = ? WHERE number = ?")),
        learn_(database_.prepare(kInsertKnowledge)) {}

  void limit(int pages) { database_.execute("PRAGMA max_page_count=" + std::to_string(pages)); }

  bool use_reserve() override { return reserve_.use(); }

  void append(std::span<const Entry> entries) override {
    reserve_.keep();
    Transaction transaction(database_);
    std::string bytes;
    for (const auto& entry : entries) {
      encode(entry, bytes);
      insert_.bind(1, run_)
          .bind(2, entry.number)
          .bind_blob(3, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()})
          .run();
      cache_state(entry);
      learn(entry);
    }
    transaction.commit();
  }

  void replay(const std::function<void(Entry&&)>& each) override { replay_from(1, each); }

  void replay_from(std::int64_t first, const std::function<void(Entry&&)>& each) override {
    auto query =
        database_.prepare("SELECT number, body FROM journal WHERE run = ? AND number >= ? ORDER BY number");
    query.bind(1, run_).bind(2, first);
    auto next = [&query, this, expected = first]() mutable -> std::optional<Entry> {
      if (stop_ && *stop_) throw SystemError("the journal was not read to its end: Tandem is stopping");
      if (!query.step()) return std::nullopt;
      const std::int64_t number = query.integer(0);
      if (number != expected++)
        throw SystemError("the journal has a gap before entry " + std::to_string(number) +
                          ": the store is damaged");
      return decode(number, query.blob(1));
    };
    for (int i = 0; i < kFew; ++i) {
      auto entry = next();
      if (!entry) return;
      each(std::move(*entry));
    }
    ReadAhead<Entry> ahead(std::move(next));
    for (auto entries = ahead.take(); !entries.empty(); entries = ahead.take())
      for (auto& entry : entries) each(std::move(entry));
  }

 private:
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

  DiskReserve reserve_;
  Database database_;
  std::int64_t run_;
  const std::atomic<bool>* stop_;
  Statement insert_, set_state_, learn_;
};

}  // namespace

std::unique_ptr<control::Journal> make_journal(const std::filesystem::path& file, std::int64_t run,
                                               const std::atomic<bool>* stop) {
  return std::make_unique<SqliteJournal>(file, run, stop);
}

std::unique_ptr<control::Journal> make_limited_journal(const std::filesystem::path& file, std::int64_t run,
                                                       int pages) {
  auto journal = std::make_unique<SqliteJournal>(file, run);
  journal->limit(pages);
  return journal;
}

}  // namespace tandem::store
