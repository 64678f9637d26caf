#include "store/store.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <random>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/descriptor.h"
#include "store/journal.h"

namespace tandem::store {
namespace fs = std::filesystem;
namespace {

// Numbered, never edited once released: a store of any earlier version is brought up to date step by step.
constexpr std::array kMigrations{
    R"(CREATE TABLE run(
         number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, name TEXT NOT NULL,
         spec TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '',
         created REAL NOT NULL, changed REAL NOT NULL);
       CREATE TABLE journal(
         run INTEGER NOT NULL REFERENCES run(number) ON DELETE CASCADE, number INTEGER NOT NULL, body BLOB NOT NULL,
         PRIMARY KEY(run, number)) WITHOUT ROWID;)",
    // What jobs learned outlives them: no reference to the run.
    R"(CREATE TABLE knowledge(
         number INTEGER PRIMARY KEY, run TEXT NOT NULL, decision INTEGER NOT NULL, machine TEXT NOT NULL,
         learned REAL NOT NULL, body TEXT NOT NULL, UNIQUE(run, decision));
       CREATE INDEX knowledge_of_machine ON knowledge(machine, number);)",
    // For advice: ended runs as rows (a cache of their journals, as of the run's `changed`), what was
    // predicted of a run before it ran, and models that were fitted.
    R"(CREATE TABLE folded(
         run INTEGER PRIMARY KEY REFERENCES run(number) ON DELETE CASCADE, changed REAL NOT NULL);
       CREATE TABLE past(
         number INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(number) ON DELETE CASCADE,
         program TEXT NOT NULL, body TEXT NOT NULL);
       CREATE INDEX past_of_program ON past(program, number);
       CREATE INDEX past_of_run ON past(run);
       CREATE TABLE prediction(
         run INTEGER NOT NULL REFERENCES run(number) ON DELETE CASCADE, job INTEGER NOT NULL,
         body TEXT NOT NULL, PRIMARY KEY(run, job));
       CREATE TABLE fitted(name TEXT PRIMARY KEY, body TEXT NOT NULL);)",
    // Of servers: jobs that were archived, as they were then.
    R"(CREATE TABLE archived(
         run INTEGER NOT NULL REFERENCES run(number) ON DELETE CASCADE, job INTEGER NOT NULL, name TEXT NOT NULL,
         state TEXT NOT NULL, row TEXT NOT NULL, whole TEXT NOT NULL, PRIMARY KEY(run, job));
       CREATE INDEX archived_by_name ON archived(run, name, job);)",
    // Of the entry, its run and its number (journal.cpp); none: it was written before there were any.
    "ALTER TABLE journal ADD COLUMN checksum INTEGER",
    // Whose what was learnt and archived is (-1: the store's user's), and the jobs of servers that others own. Past
    // runs are folded anew for it.
    R"(CREATE TABLE job_owner(
         run INTEGER NOT NULL REFERENCES run(number) ON DELETE CASCADE, job INTEGER NOT NULL, owner INTEGER NOT NULL,
         PRIMARY KEY(run, job)) WITHOUT ROWID;
       ALTER TABLE knowledge ADD COLUMN owner INTEGER NOT NULL DEFAULT -1;
       ALTER TABLE past ADD COLUMN owner INTEGER NOT NULL DEFAULT -1;
       DELETE FROM past; DELETE FROM folded;
       ALTER TABLE archived ADD COLUMN owner INTEGER NOT NULL DEFAULT -1;
       UPDATE archived SET owner = coalesce(json_extract(row, '$.owner.user'), -1) WHERE json_valid(row);
       CREATE INDEX archived_by_owner ON archived(run, owner, name, job);)",
    // What people say of runs (labels.cpp), and what a list says of them: a cache as of the run's `changed`.
    R"(CREATE TABLE tag(
         run INTEGER NOT NULL REFERENCES run(number) ON DELETE CASCADE, tag TEXT NOT NULL, PRIMARY KEY(run, tag));
       CREATE TABLE note(run INTEGER PRIMARY KEY REFERENCES run(number) ON DELETE CASCADE, note TEXT NOT NULL);
       CREATE TABLE summary(
         run INTEGER PRIMARY KEY REFERENCES run(number) ON DELETE CASCADE, changed REAL NOT NULL,
         body TEXT NOT NULL);)",
};

[[noreturn]] void cannot_be_made(const fs::path& folder, int error) {
  throw SystemError(folder.string() + ": cannot be created (" +
                    std::error_code(error, std::generic_category()).message() +
                    "); choose another folder with --store");
}

// Runs may hold private data, so what is made is for its owner alone; what was there keeps its mode.
void make_private_folder(const fs::path& folder) {
  struct stat info {};
  if (::mkdir(folder.c_str(), 0700) == 0) return;
  const int error = errno;
  if (error != EEXIST || ::stat(folder.c_str(), &info) != 0) cannot_be_made(folder, error);
  if (!S_ISDIR(info.st_mode)) cannot_be_made(folder, ENOTDIR);
}

// Whoever may write the folder may replace the database, and with it the commands that a resume starts.
void refuse_if_anybody_may_write(const fs::path& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) throw_errno("looking at " + folder.string());
  if ((info.st_mode & S_IWOTH) != 0)
    throw UserError(fmt::format(
        "anybody may write the store's folder {} (mode {:04o}), so anybody could change your runs; "
        "run: chmod o-w {}, or choose another folder with --store",
        folder.string(), info.st_mode & 07777u, folder.string()));
}

// "a/b/" and "a/b/." are a/b: what is made is the last part that has a name.
fs::path without_end(fs::path path) {
  while (path.has_relative_path() && (path.filename().empty() || path.filename() == "."))
    path = path.parent_path();
  return path;
}

fs::path prepared(const fs::path& written) {
  const fs::path folder = without_end(fs::absolute(written));
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (error) cannot_be_made(folder, error.value());
  for (const auto& each : {folder, folder / "runs"}) {
    make_private_folder(each);
    refuse_if_anybody_may_write(each);
  }
  // SQLite would let everybody read a new database where the folder does. One that is there stays as it is.
  const platform::Descriptor database(
      ::open((folder / "tandem.db").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return folder;
}

// As make_id makes them: nothing else is ever a folder's name, whatever a damaged store says.
bool is_plain_id(const std::string& id) {
  return !id.empty() && id.find_first_not_of("0123456789abcdef-") == std::string::npos;
}

// Sortable by time, readable, and unlikely to meet another: 20261115-043000-7f3a.
std::string make_id(Seconds now) {
  std::random_device device;
  const auto when = static_cast<std::time_t>(now.value);
  return fmt::format("{:%Y%m%d-%H%M%S}-{:04x}", fmt::gmtime(when), device() & 0xffff);
}

// An exclusive lock that belongs to the open file, not to the process or thread.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

RunInfo read_run(const Statement& row) {
  return {row.text(0), row.text(1), row.text(2),          row.text(3),
          row.text(4), row.text(5), Seconds{row.real(6)}, Seconds{row.real(7)}};
}

constexpr const char* kRunColumns = "SELECT id, kind, name, spec, state, reason, created, changed FROM run ";

}  // namespace

std::optional<RunLock> RunLock::take(const fs::path& run_folder) {
  const fs::path file = run_folder / "lock";
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) throw_errno("opening " + file.string());
  struct flock whole = whole_file();
  if (::fcntl(descriptor, F_OFD_SETLK, &whole) != 0) {
    ::close(descriptor);
    return std::nullopt;
  }
  const std::string owner = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor, 0) != 0 || ::write(descriptor, owner.data(), owner.size()) < 0) {
    const int error = errno;
    ::close(descriptor);
    throw SystemError("writing " + file.string(), error);
  }
  return RunLock(descriptor);
}

std::optional<int> RunLock::owner(const fs::path& run_folder) {
  const int descriptor = ::open((run_folder / "lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return std::nullopt;
  std::optional<int> pid;
  // Asks without taking: a look must never be in the way of a resume.
  struct flock whole = whole_file();
  if (::fcntl(descriptor, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK) {
    std::array<char, 32> text{};
    if (::read(descriptor, text.data(), text.size() - 1) > 0) pid = std::atoi(text.data());
  }
  ::close(descriptor);
  return pid;
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Store::Store(const fs::path& folder, const std::atomic<bool>* stop)
    : folder_(prepared(folder)), stop_(stop), database_(folder_ / "tandem.db") {
  migrate();
}

void Store::migrate() {
  auto version_of = [&] {
    auto query = database_.prepare("PRAGMA user_version");
    query.step();
    return query.integer(0);
  };
  const auto newest = static_cast<std::int64_t>(kMigrations.size());
  if (version_of() == newest) return;
  if (database_.read_only() && version_of() < newest)
    throw UserError(fmt::format(
        "{}: an earlier Tandem wrote this store, and it cannot be brought up to date where it may not be "
        "written; copy the folder to where you may write and use the copy with --store",
        (folder_ / "tandem.db").string()));
  Transaction transaction(database_);
  const auto version = version_of();  // again, now that nobody else can change it
  if (version > newest)
    throw UserError(
        fmt::format("{}: this store was written by a newer Tandem (version {}, this one knows {}); "
                    "update Tandem, or use another folder with --store",
                    (folder_ / "tandem.db").string(), version, newest));
  for (auto step = version; step < newest; ++step)
    database_.execute(kMigrations[static_cast<std::size_t>(step)]);
  database_.execute(fmt::format("PRAGMA user_version={}", newest));
  transaction.commit();
}

std::optional<std::string> Store::warning() const {
  struct statfs where {};
  if (::statfs(folder_.c_str(), &where) != 0) return std::nullopt;
  constexpr std::array<long, 4> kNetwork{NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, 0xff534d42 /* CIFS */,
                                         0x0bd00bd0 /* Lustre */};
  if (std::find(kNetwork.begin(), kNetwork.end(), where.f_type) == kNetwork.end()) return others_who_write();
  return folder_.string() +
         " is on a network file system, where file locks cannot be trusted: two Tandems could damage the "
         "store. Use a "
         "local folder with --store";
}

// A group's or another user's folder may be meant (a volume of a container is often another's), so it is
// said.
std::optional<std::string> Store::others_who_write() const {
  struct stat info {};
  if (::stat(folder_.c_str(), &info) != 0) return std::nullopt;
  if (info.st_uid != ::geteuid())
    return fmt::format("{} belongs to user {}, who can change your runs there", folder_.string(),
                       info.st_uid);
  // By custom, a user's private group has the user's number.
  if ((info.st_mode & S_IWGRP) != 0 && info.st_gid != info.st_uid)
    return fmt::format("group {} may write {} (mode {:04o}) and change your runs there; run: chmod g-w {}",
                       info.st_gid, folder_.string(), info.st_mode & 07777u, folder_.string());
  return std::nullopt;
}

RunInfo Store::create_run(const std::string& kind, const std::string& name, const std::string& spec,
                          Seconds now) {
  const std::string id = make_id(now);
  make_private_folder(run_folder(id));
  database_
      .prepare(
          "INSERT INTO run(id, kind, name, spec, state, created, changed) VALUES(?, ?, ?, ?, 'running', ?, "
          "?)")
      .bind(1, id)
      .bind(2, kind)
      .bind(3, name)
      .bind(4, spec)
      .bind(5, now.value)
      .bind(6, now.value)
      .run();
  return find(id);
}

std::vector<RunInfo> Store::runs() {
  std::vector<RunInfo> all;
  auto query = database_.prepare(std::string(kRunColumns) + "ORDER BY number DESC");
  while (query.step()) all.push_back(read_run(query));
  return all;
}

std::vector<RunInfo> Store::running() {
  std::vector<RunInfo> all;
  auto query = database_.prepare(std::string(kRunColumns) +
                                 "WHERE state = 'running' OR kind = 'serve' ORDER BY number DESC");
  while (query.step()) all.push_back(read_run(query));
  return all;
}

RunInfo Store::find(const std::string& written) {
  const auto all = runs();
  if (all.empty())
    throw UserError("there are no runs in " + folder_.string() + "; `tandem train SPEC` makes one");
  if (written == "last") return all.front();
  std::vector<RunInfo> matches;
  for (const auto& run : all) {
    if (run.id == written) return run;
    if (run.id.starts_with(written)) matches.push_back(run);
  }
  if (matches.size() == 1) return matches.front();
  if (matches.size() > 1)
    throw UserError(fmt::format("'{}' could be {} runs ({}, {}, ...); write more of the id", written,
                                matches.size(), matches[0].id, matches[1].id));
  for (const auto& run : all)
    if (run.name == written) return run;
  std::vector<std::string> known{"last"};
  for (const auto& run : all) known.insert(known.end(), {run.id, run.name});
  throw UserError("there is no run '" + written + "' in " + folder_.string() + did_you_mean(written, known) +
                  "; `tandem runs` lists them");
}

std::unique_ptr<control::Journal> Store::journal(const std::string& run,
                                                 std::function<bool(const std::string&)> while_locked) {
  auto query = database_.prepare("SELECT number FROM run WHERE id = ?");
  query.bind(1, run);
  if (!query.step()) throw UserError("there is no run '" + run + "'");
  return make_journal(folder_ / "tandem.db", query.integer(0), stop_, std::move(while_locked));
}

std::int64_t Store::without_checksum(const std::string& run) {
  auto query = database_.prepare(
      "SELECT count(*) FROM journal WHERE run = (SELECT number FROM run WHERE id = ?) AND checksum IS NULL");
  query.bind(1, run).step();
  return query.integer(0);
}

std::string owned_by(const Owners& whose) {
  return whose.empty() ? "" : fmt::format(" AND owner IN ({})", fmt::join(whose, ", "));
}

std::vector<KnownWorkload> Store::knowledge(const std::string& machine, const Owners& whose, std::int64_t most) {
  auto query = database_.prepare(
      "SELECT body FROM (SELECT number, body FROM knowledge WHERE (?1 = '' OR machine = ?1)" + owned_by(whose) +
      " ORDER BY number DESC LIMIT ?2) ORDER BY number");
  query.bind(1, machine).bind(2, most);
  std::vector<KnownWorkload> all;
  while (query.step()) {
    const auto body = parse_json(query.text(0));
    if (body.is_discarded()) throw SystemError("a record of known work is damaged in the store");
    all.push_back(known_workload_from_json(body));
  }
  return all;
}

void Store::remember(const std::string& source, const std::vector<KnownWorkload>& workloads, Seconds now) {
  Transaction transaction(database_);
  auto insert = database_.prepare(kInsertKnowledge);
  std::int64_t number = 0;
  for (const auto& workload : workloads)
    insert.bind(1, source)
        .bind(2, ++number)
        .bind(3, workload.machine)
        .bind(4, now.value)
        .bind(5, to_json(workload).dump())
        .bind(6, kNobody)
        .run();
  transaction.commit();
}

std::int64_t Store::forget() {
  Transaction transaction(database_);
  auto count = database_.prepare("SELECT count(*) FROM knowledge");
  count.step();
  const auto forgotten = count.integer(0);
  count.reset();
  database_.execute("DELETE FROM knowledge");
  transaction.commit();
  return forgotten;
}

void Store::remove(const std::string& run) {
  if (!is_plain_id(run)) throw UserError("'" + run + "' is no id of a run; nothing was removed");
  // Files first: a run that is still listed can be removed again, files without a run would be forgotten.
  std::error_code error;
  fs::remove_all(run_folder(run), error);
  if (error) throw SystemError("removing " + run_folder(run).string() + ": " + error.message());
  Transaction transaction(database_);
  database_.prepare("DELETE FROM run WHERE id = ?").bind(1, run).run();
  transaction.commit();
}

}  // namespace tandem::store
