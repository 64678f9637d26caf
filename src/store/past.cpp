// What advice keeps in the store: rows of past runs, predictions, fitted models.
#include <map>
#include <tuple>

#include "base/error.h"
#include "store/store.h"

namespace tandem::store {
namespace {

RunInfo run_of(const Statement& row) {
  return {row.text(0), row.text(1), row.text(2),          row.text(3),
          row.text(4), row.text(5), Seconds{row.real(6)}, Seconds{row.real(7)}};
}

constexpr const char* kColumns =
    "SELECT run.id, run.kind, run.name, run.spec, run.state, run.reason, run.created, run.changed ";

}  // namespace

std::vector<RunInfo> Store::unfolded(const std::string& program) {
  // A server's journal says "running" while its jobs end one by one: each end changes it.
  auto query = database_.prepare(
      std::string(kColumns) +
      "FROM run LEFT JOIN folded ON folded.run = run.number "
      "WHERE (run.state <> 'running' OR run.kind = 'serve') AND (folded.run IS NULL OR "
      "(folded.changed <> run.changed AND (run.kind <> 'serve' OR run.changed < folded.changed OR "
      " run.changed - run.created < ?2 OR run.changed - folded.changed > ?3 * (run.changed - run.created) OR "
      " (run.changed - folded.changed > ?4 AND NOT EXISTS (SELECT 1 FROM past WHERE program = ?1))))) "
      "ORDER BY run.number");
  query.bind(1, program).bind(2, kYoung.value).bind(3, kStale).bind(4, kUnknown.value);
  std::vector<RunInfo> all;
  while (query.step()) all.push_back(run_of(query));
  return all;
}

void Store::keep_folded(const std::vector<FoldedRun>& runs) {
  Transaction transaction(database_);
  auto find = database_.prepare("SELECT number FROM run WHERE id = ?");
  auto look = database_.prepare("SELECT number, program, body, owner FROM past WHERE run = ?");
  auto forget = database_.prepare("DELETE FROM past WHERE number = ?");
  auto insert = database_.prepare("INSERT INTO past(run, program, body, owner) VALUES(?, ?, ?, ?)");
  auto mark = database_.prepare("INSERT OR REPLACE INTO folded(run, changed) VALUES(?, ?)");
  for (const auto& [run, rows] : runs) {
    find.reset();
    find.bind(1, run.id);
    if (!find.step()) continue;  // removed meanwhile
    const std::int64_t number = find.integer(0);
    std::map<std::tuple<std::string, std::string, std::int64_t>, int> wanted;  // how many more of each
    for (const auto& row : rows) ++wanted[{row.program, row.body, row.owner}];
    std::vector<std::int64_t> old;
    look.reset();
    for (look.bind(1, number); look.step();)
      if (const auto same = wanted.find({look.text(1), look.text(2), look.integer(3)});
          same == wanted.end() || same->second == 0)
        old.push_back(look.integer(0));
      else
        --same->second;
    look.reset();
    for (const auto row : old) forget.bind(1, row).run();
    for (const auto& row : rows)
      if (auto& more = wanted[{row.program, row.body, row.owner}]; more > 0) {
        --more;
        insert.bind(1, number).bind(2, row.program).bind(3, row.body).bind(4, row.owner).run();
      }
    mark.bind(1, number).bind(2, run.changed.value).run();
  }
  find.reset();
  transaction.commit();
}

std::vector<std::string> Store::past(const std::string& program, const Owners& whose) {
  auto query =
      database_.prepare("SELECT body FROM past WHERE program = ?" + owned_by(whose) + " ORDER BY number");
  query.bind(1, program);
  std::vector<std::string> all;
  while (query.step()) all.push_back(query.text(0));
  return all;
}

std::int64_t Store::past_count(const std::string& program, const Owners& whose) {
  auto query = database_.prepare("SELECT count(*) FROM past WHERE program = ?" + owned_by(whose));
  query.bind(1, program);
  query.step();
  return query.integer(0);
}

std::vector<std::string> Store::past_programs() {
  auto query = database_.prepare("SELECT DISTINCT program FROM past ORDER BY program");
  std::vector<std::string> all;
  while (query.step()) all.push_back(query.text(0));
  return all;
}

void Store::keep_prediction(const std::string& run, std::int64_t job, const std::string& body) {
  database_
      .prepare(
          "INSERT OR REPLACE INTO prediction(run, job, body) SELECT number, ?2, ?3 FROM run WHERE id = ?1")
      .bind(1, run)
      .bind(2, job)
      .bind(3, body)
      .run();
}

std::vector<Prediction> Store::predictions() {
  auto query =
      database_.prepare(std::string(kColumns) +
                        ", prediction.job, prediction.body FROM prediction "
                        "JOIN run ON run.number = prediction.run ORDER BY run.number DESC, job DESC");
  std::vector<Prediction> all;
  while (query.step()) all.push_back({run_of(query), query.integer(8), query.text(9)});
  return all;
}

std::optional<std::string> Store::fitted(const std::string& name) {
  auto query = database_.prepare("SELECT body FROM fitted WHERE name = ?");
  query.bind(1, name);
  if (!query.step()) return std::nullopt;
  return query.text(0);
}

void Store::keep_fitted(const std::string& name, const std::string& body) {
  database_.prepare("INSERT OR REPLACE INTO fitted(name, body) VALUES(?, ?)")
      .bind(1, name)
      .bind(2, body)
      .run();
}

}  // namespace tandem::store
