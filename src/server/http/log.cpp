#include "server/http/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <ctime>

#include "base/text.h"

namespace tandem::server {
namespace {

constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warning", "error"};
constexpr std::string_view kRedacted = "[redacted]";
constexpr std::size_t kLongestText = 2000;
constexpr std::size_t kShortestSecret = 8;

std::int64_t system_milliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string time_text(std::int64_t milliseconds) {
  const std::time_t seconds = milliseconds / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, milliseconds % 1000);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool names_a_secret(const std::string& key) {
  static constexpr std::array<std::string_view, 8> kWords{
      "token", "authorization", "password", "passwd", "secret", "cookie", "api_key", "credential"};
  const std::string small = lower(key);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](auto word) { return small.find(word) != std::string::npos; });
}

// Takes secrets out of anything that is logged.
class Redactor {
 public:
  explicit Redactor(const std::vector<std::string>& secrets) : secrets_(secrets) {}

  std::string text(std::string out) const {
    for (const auto& secret : secrets_) hide(secret, out);
    constexpr std::string_view kBearer = "bearer ";
    for (auto at = lower(out).find(kBearer); at != std::string::npos; at = lower(out).find(kBearer, at)) {
      at += kBearer.size();
      const auto end = std::min(out.find_first_of(" \t\r\n,;\"'", at), out.size());
      if (end > at) out.replace(at, end - at, kRedacted);
    }
    return printable(out, kLongestText);
  }

  Fields value(const Fields& given) const {
    if (given.is_string()) return text(given.get<std::string>());
    if (given.is_array()) {
      Fields out = Fields::array();
      for (const auto& item : given) out.push_back(value(item));
      return out;
    }
    if (!given.is_object()) return given;
    Fields out = Fields::object();
    for (const auto& [key, item] : given.items())
      out[text(key)] = names_a_secret(key) ? Fields(kRedacted) : value(item);
    return out;
  }

 private:
  // Messages are cut at some length, and a cut may leave only the beginning of a secret.
  static void hide(const std::string& secret, std::string& out) {
    const auto beginning = secret.substr(0, kShortestSecret);
    for (auto at = out.find(beginning); at != std::string::npos; at = out.find(beginning, at)) {
      const auto end = std::mismatch(secret.begin(), secret.end(), out.begin() + at, out.end()).second;
      out.replace(out.begin() + at, end, kRedacted);
      at += kRedacted.size();
    }
  }

  const std::vector<std::string>& secrets_;
};

}  // namespace

std::optional<Level> parse_level(std::string_view name) {
  const auto found = std::find(kLevels.begin(), kLevels.end(), name);
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<Level>(found - kLevels.begin());
}

Log::Log(Sink sink, Options options) : sink_(std::move(sink)), options_(std::move(options)) {
  assert(sink_);
}

Log::~Log() {
  if (left_out_ > 0) say_left_out(options_.clock ? options_.clock() : system_milliseconds());
}

Log::Sink Log::to_descriptor(int descriptor) {
  return [descriptor](std::string_view line) {
    while (!line.empty()) {
      const auto written = ::write(descriptor, line.data(), line.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;  // a full disk must not stop the server, and there is nobody to tell
      line.remove_prefix(static_cast<std::size_t>(written));
    }
  };
}

void Log::hide(const std::string& secret) {
  assert(secret.size() >= kShortestSecret);
  const std::lock_guard lock(mutex_);
  secrets_.push_back(secret);
}

void Log::write(Level level, std::string_view event, const Fields& fields) {
  if (level < options_.from) return;
  const std::lock_guard lock(mutex_);
  const auto now = options_.clock ? options_.clock() : system_milliseconds();
  if (room_for(level, now)) emit(level, event, fields, now);
}

bool Log::room_for(Level level, std::int64_t now) {
  if (now / 1000 != second_) {
    second_ = now / 1000;
    written_ = 0;
    if (left_out_ > 0) say_left_out(now);
  }
  if (level != Level::error && written_ >= options_.lines_a_second) {
    ++left_out_;
    return false;
  }
  ++written_;
  return true;
}

void Log::say_left_out(std::int64_t now) {
  emit(Level::warning, "lines left out", {{"lines", left_out_}}, now);
  left_out_ = 0;
}

void Log::emit(Level level, std::string_view event, const Fields& fields, std::int64_t now) {
  const Redactor redactor(secrets_);
  Fields line{{"time", time_text(now)},
              {"level", kLevels[static_cast<std::size_t>(level)]},
              {"event", redactor.text(std::string(event))}};
  const Fields shown = redactor.value(fields);
  for (const auto& [key, value] : shown.items())
    if (!line.contains(key)) line[key] = value;
  sink_(line.dump(-1, ' ', false, Fields::error_handler_t::replace) + "\n");
}

}  // namespace tandem::server
