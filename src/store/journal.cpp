#include "store/journal.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "event/codec.h"
#include "store/sqlite.h"

namespace tandem::store {
namespace {

using control::Entry;
using nlohmann::json;

// An entry is one CBOR array: [event, decision...].
std::vector<std::uint8_t> encode(const Entry& entry) {
  auto body = json::array();
  body.push_back(to_json(entry.event));
  for (const auto& decision : entry.decisions) body.push_back(to_json(decision));
  return json::to_cbor(body);
}

Entry decode(std::int64_t number, std::span<const std::uint8_t> bytes) {
  try {
    const json body = json::from_cbor(bytes.begin(), bytes.end());
    Entry entry{number, event_from_json(body.at(0)), {}};
    entry.decisions.reserve(body.size() - 1);
    for (std::size_t i = 1; i < body.size(); ++i) entry.decisions.push_back(decision_from_json(body[i]));
    return entry;
  } catch (const json::exception& e) {
    throw SystemError("entry " + std::to_string(number) + " of the journal is damaged: " + e.what());
  }
}

class SqliteJournal final : public control::Journal {
 public:
  SqliteJournal(const std::filesystem::path& file, std::int64_t run)
      : database_(file),
        run_(run),
        insert_(database_.prepare("INSERT INTO journal(run, number, body) VALUES(?, ?, ?)")),
        set_state_(database_.prepare("UPDATE run SET state = ?, reason = ?, changed = ? WHERE number = ?")) {}

  void limit(int pages) { database_.execute("PRAGMA max_page_count=" + std::to_string(pages)); }

  void append(std::span<const Entry> entries) override {
    Transaction transaction(database_);
    for (const auto& entry : entries) {
      const auto body = encode(entry);
      insert_.bind(1, run_).bind(2, entry.number).bind_blob(3, body).run();
      cache_state(entry);
    }
    transaction.commit();
  }

  void replay(const std::function<void(Entry&&)>& each) override {
    auto query = database_.prepare("SELECT number, body FROM journal WHERE run = ? ORDER BY number");
    query.bind(1, run_);
    std::int64_t expected = 1;
    while (query.step()) {
      const std::int64_t number = query.integer(0);
      if (number != expected++)
        throw SystemError("the journal has a gap before entry " + std::to_string(number) +
                          ": the store is damaged");
      each(decode(number, query.blob(1)));
    }
  }

 private:
  void cache_state(const Entry& entry) {
    if (std::holds_alternative<JobResumed>(entry.event.body)) write_state("running", "", entry.event.at);
    for (const auto& decision : entry.decisions)
      if (const auto* finish = std::get_if<FinishJob>(&decision.body))
        write_state(name(finish->state), finish->reason, entry.event.at);
  }

  void write_state(std::string_view state, std::string_view reason, Seconds at) {
    set_state_.bind(1, state).bind(2, reason).bind(3, at.value).bind(4, run_).run();
  }

  Database database_;
  std::int64_t run_;
  Statement insert_, set_state_;
};

}  // namespace

std::unique_ptr<control::Journal> make_journal(const std::filesystem::path& file, std::int64_t run) {
  return std::make_unique<SqliteJournal>(file, run);
}

std::unique_ptr<control::Journal> make_limited_journal(const std::filesystem::path& file, std::int64_t run,
                                                       int pages) {
  auto journal = std::make_unique<SqliteJournal>(file, run);
  journal->limit(pages);
  return journal;
}

}  // namespace tandem::store
