// Structured logs: one JSON object a line, with time, level and event first, for people with jq and machines
// alike.
//
//   log.info("job submitted", {{"job", 7}, {"user", 1000}});
//   {"time":"2026-01-31T12:00:00.123Z","level":"info","event":"job submitted","job":7,"user":1000}
//
// Secrets do not get through: values under a key that names one (token, password, authorization ...) and
// texts given to hide() are shown as [redacted], at any depth; so is what follows "Bearer ". A storm (10 000
// bad requests) cannot fill the disk: beyond `lines_a_second` lines are counted instead, and the count is
// logged; errors are always written. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::server {

enum class Level { debug, info, warning, error };

// From "debug", "info", "warning" or "error"; nullopt: none of them.
std::optional<Level> parse_level(std::string_view);

using Fields = nlohmann::ordered_json;

class Log {
 public:
  using Sink = std::function<void(std::string_view line)>;  // with its newline; called one at a time
  using Clock = std::function<std::int64_t()>;              // milliseconds since 1970

  struct Options {
    Level from = Level::info;  // less is left out
    std::size_t lines_a_second = 200;
    Clock clock;  // none: the system's
  };

  explicit Log(Sink sink) : Log(std::move(sink), Options()) {}
  Log(Sink, Options);
  Log(const Log&) = delete;
  ~Log();  // says how many lines were left out last

  static Sink to_descriptor(int descriptor);  // one write a line; the descriptor is not owned

  // From now on neither this text nor a beginning of it (8 bytes or more) is written. A shorter text would
  // blot out ordinary words: a bug.
  void hide(const std::string& secret);

  void write(Level, std::string_view event, const Fields& = Fields::object());
  void debug(std::string_view event, const Fields& fields = Fields::object()) {
    write(Level::debug, event, fields);
  }
  void info(std::string_view event, const Fields& fields = Fields::object()) {
    write(Level::info, event, fields);
  }
  void warning(std::string_view event, const Fields& fields = Fields::object()) {
    write(Level::warning, event, fields);
  }
  void error(std::string_view event, const Fields& fields = Fields::object()) {
    write(Level::error, event, fields);
  }

 private:
  bool room_for(Level, std::int64_t now);
  void say_left_out(std::int64_t now);
  void emit(Level, std::string_view event, const Fields&, std::int64_t now);

  const Sink sink_;
  const Options options_;
  std::mutex mutex_;
  std::vector<std::string> secrets_;
  std::int64_t second_ = 0;
  std::size_t written_ = 0, left_out_ = 0;  // in this second; since it was last said
};

}  // namespace tandem::server
