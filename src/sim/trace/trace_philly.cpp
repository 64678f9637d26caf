#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "sim/trace/trace_builder.h"
#include "sim/trace/trace_csv.h"
#include "sim/trace/trace_readers.h"

namespace tandem::sim {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargestRecord = std::size_t{1} << 20;  // bytes
constexpr std::size_t kOpening = std::size_t{1} << 20;        // bytes looked at to know the format

// The objects of a JSON array, found by their braces and quotes alone: memory holds one at a time, and one
// that is broken inside costs no more than itself.
class Records {
 public:
  explicit Records(std::string_view text) : text_(text) {}

  bool next() {
    begin_ = std::string_view::npos;
    int depth = 0;
    for (bool quoted = false; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++newlines_;
      if (quoted) {
        if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n')
          ++at_;
        else if (c == '"')
          quoted = false;
      } else if (c == '"') {
        quoted = begin_ != std::string_view::npos;  // between records a quote is dirt
      } else if (c == '{') {
        if (depth++ == 0) begin();
      } else if (c == '}' && depth > 0 && --depth == 0) {
        ++at_;
        whole_ = true;
        return true;
      }
    }
    whole_ = false;
    return begin_ != std::string_view::npos;
  }

  std::string_view text() const { return text_.substr(begin_, at_ - begin_); }
  std::size_t line() const { return line_; }
  bool whole() const { return whole_; }  // else the text ended before it did

 private:
  void begin() {
    begin_ = at_;
    line_ = newlines_ + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0, begin_ = 0, newlines_ = 0, line_ = 1;
  bool whole_ = true;
};

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text_of(const Json& object, const char* key) {
  const Json* found = member(object, key);
  if (!found || !found->is_string() || is_hole(found->get_ref<const std::string&>())) return "";
  return found->get<std::string>();
}

// One entry of the log; what it cannot read becomes its trouble.
class PhillyEntry {
 public:
  explicit PhillyEntry(std::size_t line) { job_.line = line; }

  void read(const Json& record) {
    job_.name = text_of(record, "jobid");
    job_.user = text_of(record, "user");
    job_.queue = text_of(record, "vc");
    job_.status = text_of(record, "status");
    const auto submitted = when(record, "submitted_time");
    if (!submitted) complain("submitted_time is missing", "");
    job_.submitted = submitted.value_or(0);
    const Json* attempts = member(record, "attempts");
    if (!attempts || !attempts->is_array() || attempts->empty())
      return complain("no attempt, so its GPUs are not known", "");
    for (const auto& attempt : *attempts) add_attempt(attempt);
    if (!asked_) complain("no attempt with GPUs", "");
    if (counted_ > 0 && !running_) job_.duration = seconds_;
  }

  void complain(std::string reason, std::string detail) {
    if (!trouble_) trouble_ = TraceTrouble{std::move(reason), std::move(detail)};
  }

  void add_to(TraceBuilder& builder) && {
    const std::size_t line = job_.line;
    const bool known = job_.duration.has_value();
    if (!builder.add(std::move(job_), trouble_)) return;
    if (!known)
      builder.hole(line,
                   running_ ? "still running, so its duration is not known" : "no attempt has both times");
    else if (uncounted_ > 0)
      builder.hole(line, "an attempt without both times, which is not counted");
    if (moved_) builder.hole(line, "attempts with different numbers of GPUs, of which the first counts");
  }

 private:
  void add_attempt(const Json& attempt) {
    const auto start = when(attempt, "start_time"), end = when(attempt, "end_time");
    running_ = !end;  // of the last one, in the end
    if (start && end) {
      if (*end < *start) complain("an attempt ends before it starts", text_of(attempt, "end_time"));
      seconds_ += *end - *start;
      ++counted_;
    } else {
      ++uncounted_;
    }
    if (start && !job_.waited && *start >= job_.submitted) job_.waited = *start - job_.submitted;
    if (const Json* detail = member(attempt, "detail"); detail && detail->is_array()) add_gpus(*detail);
  }

  void add_gpus(const Json& detail) {
    int machines = 0, gpus = 0, first = 0;
    bool even = true;
    for (const auto& machine : detail) {
      const Json* list = member(machine, "gpus");
      const int here = list && list->is_array() ? static_cast<int>(list->size()) : 0;  // a record has a limit
      if (here == 0) continue;
      if (machines == 0) first = here;
      even = even && here == first;
      ++machines;
      gpus += here;
    }
    if (gpus == 0) return;
    if (asked_) {
      moved_ = moved_ || gpus != gpus_;
      return;
    }
    asked_ = true;
    gpus_ = gpus;
    spread_over(job_, even ? machines : gpus, gpus);
  }

  // nullopt where there is none; trouble where it is no time.
  std::optional<double> when(const Json& object, const char* key) {
    const Json* found = member(object, key);
    if (!found || (found->is_string() && is_hole(found->get_ref<const std::string&>()))) return std::nullopt;
    const auto value = found->is_string() ? parse_date(found->get_ref<const std::string&>()) : std::nullopt;
    if (!value) complain(std::string(key) + " is not a date and time", printable(text_of(object, key), 40));
    return value;
  }

  TraceJob job_;
  std::optional<TraceTrouble> trouble_;
  double seconds_ = 0;
  int counted_ = 0, uncounted_ = 0, gpus_ = 0;
  bool running_ = false, asked_ = false, moved_ = false;
};

}  // namespace

bool is_philly(std::string_view text) {
  const auto start = text.substr(0, kOpening);
  const auto first = start.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (start[first] != '[' && start[first] != '{')) return false;
  return start.find("\"attempts\"") != std::string_view::npos &&
         start.find("\"submitted_time\"") != std::string_view::npos;
}

Trace read_philly(std::string_view text, std::string_view file) {
  TraceBuilder builder("philly", file);
  Records records(text);
  while (records.next()) {
    PhillyEntry entry(records.line());
    const auto record = records.text();
    if (!records.whole())
      entry.complain("the text ends inside the job", std::to_string(record.size()) + " bytes from there on");
    else if (record.size() > kLargestRecord)
      entry.complain("the job is larger than 1 MiB", std::to_string(record.size()) + " bytes");
    else if (const auto parsed = Json::parse(record, nullptr, false); parsed.is_discarded())
      entry.complain("the job is not JSON", printable(record, 40));
    else
      entry.read(parsed);
    std::move(entry).add_to(builder);
  }
  return builder.finish();
}

}  // namespace tandem::sim
