// A thin owner of SQLite: a connection, prepared statements, and errors that say what to do.
//
// Not thread-safe: one connection, one thread. Nothing outside store/ sees SQLite.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tandem::store {

class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* connection, std::string_view sql);
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) noexcept;
  ~Statement();

  Statement& bind(int at, std::int64_t);
  Statement& bind(int at, double);
  Statement& bind(int at, std::string_view);
  Statement& bind_blob(int at, std::span<const std::uint8_t>);  // must outlive the next step

  bool step();  // true: a row is there
  void run();   // for statements without rows; resets
  void reset();

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::span<const std::uint8_t> blob(int column) const;  // until the next step

 private:
  void check(int code) const;
  sqlite3_stmt* statement_ = nullptr;
};

// Another process keeps the store locked; nothing was written.
class StoreLocked : public SystemError {
 public:
  explicit StoreLocked(const std::string& what) : SystemError(what) {}
};

class Database {
 public:
  // Creates the file when it is absent. WAL, fully synchronous: what was committed survives a power cut. One
  // that may not be written (its permissions, a read-only mount) can be read.
  explicit Database(const std::filesystem::path& file);
  Database(Database&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  bool read_only() const;
  void wait_for_locks(int milliseconds);  // before StoreLocked is thrown; 15 s unless told
  ~Database();

  void execute(const std::string& sql);
  Statement prepare(std::string_view sql) { return Statement(connection_, sql); }

 private:
  void open(const std::string& name, int flags);
  void make_readable(const std::filesystem::path& file);
  void become_wal();

  sqlite3* connection_ = nullptr;
};

// A write transaction; rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database&);
  Transaction(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace tandem::store
