// What people say of runs, and what a list says of them.
#include "store/store.h"

namespace tandem::store {

std::map<std::string, Labels> Store::labels() {
  std::map<std::string, Labels> all;
  auto tags = database_.prepare("SELECT id, tag FROM tag JOIN run ON run.number = tag.run ORDER BY tag");
  while (tags.step()) all[tags.text(0)].tags.push_back(tags.text(1));
  auto notes = database_.prepare("SELECT id, note FROM note JOIN run ON run.number = note.run");
  while (notes.step()) all[notes.text(0)].note = notes.text(1);
  return all;
}

void Store::label(const std::string& run, const std::vector<std::string>& add,
                  const std::vector<std::string>& remove, const std::optional<std::string>& note) {
  Transaction transaction(database_);
  auto insert =
      database_.prepare("INSERT OR IGNORE INTO tag(run, tag) SELECT number, ?2 FROM run WHERE id = ?1");
  for (const auto& tag : add) insert.bind(1, run).bind(2, tag).run();
  auto erase =
      database_.prepare("DELETE FROM tag WHERE run = (SELECT number FROM run WHERE id = ?1) AND tag = ?2");
  for (const auto& tag : remove) erase.bind(1, run).bind(2, tag).run();
  if (note) {
    database_.prepare("DELETE FROM note WHERE run = (SELECT number FROM run WHERE id = ?1)").bind(1, run).run();
    if (!note->empty())
      database_.prepare("INSERT INTO note(run, note) SELECT number, ?2 FROM run WHERE id = ?1")
          .bind(1, run)
          .bind(2, *note)
          .run();
  }
  transaction.commit();
}

std::optional<std::string> Store::summary(const RunInfo& run) {
  auto query = database_.prepare(
      "SELECT body FROM summary JOIN run ON run.number = summary.run WHERE id = ?1 AND summary.changed = ?2");
  query.bind(1, run.id).bind(2, run.changed.value);
  if (!query.step()) return std::nullopt;
  return query.text(0);
}

void Store::keep_summary(const RunInfo& run, const std::string& body) {
  if (database_.read_only()) return;
  database_
      .prepare("INSERT OR REPLACE INTO summary(run, changed, body) SELECT number, ?2, ?3 FROM run WHERE id = ?1")
      .bind(1, run.id)
      .bind(2, run.changed.value)
      .bind(3, body)
      .run();
}

}  // namespace tandem::store
