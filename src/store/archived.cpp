// Jobs of servers that were archived.
#include "store/store.h"

namespace tandem::store {
namespace {

constexpr const char* kOfRun = "run = (SELECT number FROM run WHERE id = ?1)";

}  // namespace

void Store::keep_archived(const std::string& run, const std::vector<ArchivedJob>& jobs) {
  Transaction transaction(database_);
  auto insert = database_.prepare(
      "INSERT OR REPLACE INTO archived(run, job, name, state, row, whole) "
      "SELECT number, ?2, ?3, ?4, ?5, ?6 FROM run WHERE id = ?1");
  for (const auto& job : jobs)
    insert.bind(1, run)
        .bind(2, job.job)
        .bind(3, job.name)
        .bind(4, job.state)
        .bind(5, job.row)
        .bind(6, job.whole)
        .run();
  transaction.commit();
}

std::vector<ArchivedJob> Store::archived(const std::string& run, const ArchivedQuery& asked) {
  auto query = database_.prepare(std::string("SELECT job, name, state, row FROM archived WHERE ") + kOfRun +
                                 " AND job > ?2 AND job < ?3 AND (?4 = '' OR state = ?4) ORDER BY job " +
                                 (asked.after ? "ASC" : "DESC") + " LIMIT ?5");
  query.bind(1, run)
      .bind(2, asked.after.value_or(-1))
      .bind(3, asked.before.value_or(INT64_MAX))
      .bind(4, asked.state)
      .bind(5, asked.limit);
  std::vector<ArchivedJob> out;
  while (query.step()) out.push_back({query.integer(0), query.text(1), query.text(2), query.text(3), {}});
  return out;
}

std::optional<ArchivedJob> Store::archived_job(const std::string& run, std::int64_t job) {
  auto query = database_.prepare(std::string("SELECT job, name, state, row, whole FROM archived WHERE ") +
                                 kOfRun + " AND job = ?2");
  query.bind(1, run).bind(2, job);
  if (!query.step()) return std::nullopt;
  return ArchivedJob{query.integer(0), query.text(1), query.text(2), query.text(3), query.text(4)};
}

std::optional<std::int64_t> Store::archived_called(const std::string& run, const std::string& name,
                                                   const std::function<bool(const std::string&)>& wanted) {
  auto query = database_.prepare(std::string("SELECT job, row FROM archived WHERE ") + kOfRun +
                                 " AND name = ?2 ORDER BY job DESC");
  query.bind(1, run).bind(2, name);
  while (query.step())
    if (wanted(query.text(1))) return query.integer(0);
  return std::nullopt;
}

}  // namespace tandem::store
