#include "store/sqlite.h"

#include <sqlite3.h>

#include <cctype>
#include <cerrno>
#include <utility>

#include "base/error.h"

namespace tandem::store {
namespace {

constexpr int kBusyMilliseconds = 15'000;

[[noreturn]] void fail(sqlite3* connection, int code) {
  const char* raw_name = connection ? sqlite3_db_filename(connection, "main") : nullptr;
  const std::string file = raw_name && *raw_name ? raw_name : "the store";
  if (connection && sqlite3_system_errno(connection) == ENOSPC) code = SQLITE_FULL;
  switch (code & 0xff) {
    case SQLITE_FULL:
      throw SystemError(file + ": the disk is full; nothing was lost. Free some space, then `tandem resume`", ENOSPC);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw StoreLocked(file + ": another process keeps the store locked; find it with `fuser -v " + file +
                        "`");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      throw SystemError(file + ": this file is damaged or not a Tandem store; keep a copy, try `sqlite3 " +
                        file + " .recover`, or use another folder with --store");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      throw SystemError(file + ": cannot be written (" +
                        (connection ? sqlite3_errmsg(connection) : "no memory") +
                        "); check its permissions, or use another folder with --store");
    default:
      throw SystemError(file + ": " + (connection ? sqlite3_errmsg(connection) : sqlite3_errstr(code)));
  }
}

}  // namespace

Statement::Statement(sqlite3* connection, std::string_view sql) {
  const int code = sqlite3_prepare_v3(connection, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  if (code != SQLITE_OK) fail(connection, code);
}

Statement::Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  return *this;
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) fail(sqlite3_db_handle(statement_), code);
}

Statement& Statement::bind(int at, std::int64_t value) {
  check(sqlite3_bind_int64(statement_, at, value));
  return *this;
}

Statement& Statement::bind(int at, double value) {
  check(sqlite3_bind_double(statement_, at, value));
  return *this;
}

Statement& Statement::bind(int at, std::string_view value) {
  check(sqlite3_bind_text64(statement_, at, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(int at, std::span<const std::uint8_t> value) {
  check(sqlite3_bind_blob64(statement_, at, value.data(), value.size(), SQLITE_STATIC));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* connection = sqlite3_db_handle(statement_);
  sqlite3_reset(statement_);
  fail(connection, code);
}

void Statement::run() {
  step();
  reset();
}

void Statement::reset() {
  sqlite3_reset(statement_);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)))
               : std::string();
}

std::span<const std::uint8_t> Statement::blob(int column) const {
  const auto* bytes = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

namespace {

// A name for SQLite that says: nobody changes this file.
std::string immutable(const std::filesystem::path& file) {
  std::string out = "file:";
  for (const char c : file.string()) {
    constexpr const char* kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '/' || c == '.' || c == '-' || c == '_')
      out += c;
    else
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out + "?immutable=1";
}

}  // namespace

Database::Database(const std::filesystem::path& file) {
  open(file.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  try {
    if (read_only()) {
      make_readable(file);
      return;
    }
    become_wal();
    execute("PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON");
  } catch (...) {
    sqlite3_close_v2(std::exchange(connection_, nullptr));
    throw;
  }
}

void Database::open(const std::string& name, int flags) {
  const int code = sqlite3_open_v2(name.c_str(), &connection_, flags, nullptr);
  if (code != SQLITE_OK) {
    sqlite3* broken = std::exchange(connection_, nullptr);
    try {
      fail(broken, code);
    } catch (...) {
      sqlite3_close_v2(broken);
      throw;
    }
  }
  sqlite3_busy_timeout(connection_, kBusyMilliseconds);
}

void Database::wait_for_locks(int milliseconds) {
  sqlite3_busy_timeout(connection_, milliseconds);
}

bool Database::read_only() const {
  return sqlite3_db_readonly(connection_, "main") == 1;
}

// SQLite wants a file of shared memory beside a database with a log (WAL), and cannot make one here. Without a
// log nobody has it open for writing, and all of it is in the file.
void Database::make_readable(const std::filesystem::path& file) {
  constexpr const char* kLook = "SELECT count(*) FROM sqlite_master";
  if (sqlite3_exec(connection_, kLook, nullptr, nullptr, nullptr) == SQLITE_OK) return;
  std::error_code absent;
  const auto log = std::filesystem::file_size(file.string() + "-wal", absent);
  if (!absent && log > 0)
    throw SystemError(file.string() +
                      ": cannot be written, and was not closed (tandem.db-wal is beside it); copy the folder "
                      "to where you may write and use the copy with --store");
  sqlite3_close_v2(std::exchange(connection_, nullptr));
  open(immutable(file), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  execute(kLook);
}

// Two processes that open a new file at once can meet here; SQLite then says busy without waiting.
void Database::become_wal() {
  constexpr int kPause = 10;
  for (int waited = 0;; waited += kPause) {
    const int code = sqlite3_exec(connection_, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return;
    if ((code & 0xff) != SQLITE_BUSY || waited >= kBusyMilliseconds) fail(connection_, code);
    sqlite3_sleep(kPause);
  }
}

Database::~Database() {
  sqlite3_close_v2(connection_);
}

void Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(connection_, code);
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const SystemError&) {
    // SQLite has rolled back by itself (a full disk does that).
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace tandem::store
