#include "adapter/metrics.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <vector>

#include "adapter/tensorboard.h"
#include "base/json.h"

namespace tandem::adapter {
namespace {

using nlohmann::json;

std::optional<double> number_in(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '+' || text.front() == '"'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '"' || text.back() == '.'))
    text.remove_suffix(1);
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

// Whole lines of what comes in pieces.
class Lines : public MetricsReader {
 public:
  explicit Lines(std::size_t longest) : longest_(longest) {}

  void feed(std::string_view bytes) override {
    for (const char c : bytes) {
      if (c == '\n' || c == '\r')
        flush();
      else if (line_.size() < longest_)
        line_ += c;
    }
  }
  void end() override { flush(); }
  void begin_again() override { line_.clear(); }

 protected:
  virtual void line(const std::string&) = 0;

 private:
  void flush() {
    if (!line_.empty()) line(line_);
    line_.clear();
  }

  std::size_t longest_;
  std::string line_;
};

class Patterns final : public Lines {
 public:
  explicit Patterns(const spec::Program& program) : Lines(kLongestLine) {
    for (const auto& [name, pattern] : program.metrics) patterns_.emplace_back(name, std::regex(pattern));
    if (!program.epoch.empty()) epoch_.emplace(program.epoch);
  }

  void end() override {
    Lines::end();
    if (epoch_) close();
  }

 protected:
  void line(const std::string& text) override {
    Metrics here;
    for (const auto& [name, pattern] : patterns_)
      if (const auto found = captured(text, pattern))
        if (const auto value = number_in(*found)) here[name] = *value;
    if (!epoch_) {
      for (const auto& [name, value] : here) values_[name] = value;
      if (complete(values_)) close();
      return;
    }
    const auto number = captured(text, *epoch_);
    if (number && *number != number_) {
      close();
      number_ = *number;
      reported_ = false;
    }
    for (const auto& [name, value] : here) values_[name] = value;
    if (number && complete(here)) close();  // all on one line: no need to wait for the next number
  }

 private:
  bool complete(const Metrics& metrics) const { return metrics.size() == patterns_.size(); }

  void close() {
    if (complete(values_) && !(epoch_ && reported_)) {
      epochs_.push_back(values_);
      reported_ = true;
    }
    values_.clear();
  }

  static std::optional<std::string> captured(const std::string& text, const std::regex& pattern) {
    try {
      std::smatch found;
      if (std::regex_search(text, found, pattern)) return found[1].str();
    } catch (const std::regex_error&) {  // too much work for this line: as if it did not match
    }
    return std::nullopt;
  }

  std::vector<std::pair<std::string, std::regex>> patterns_;
  std::optional<std::regex> epoch_;
  std::string number_;
  bool reported_ = false;  // the epoch of this number
  Metrics values_;
};

// What both kinds of rows share: those of program.metrics must all be there; without it every number is one.
class Rows : public Lines {
 public:
  explicit Rows(const spec::Program& program) : Lines(kLongestRecord), wanted_(program.metrics) {}

 protected:
  void row(const Metrics& columns) {
    Metrics out = wanted_.empty() ? columns : Metrics();
    for (const auto& [name, column] : wanted_)
      if (const auto found = columns.find(column); found != columns.end()) out[name] = found->second;
    if (!out.empty() && (wanted_.empty() || out.size() == wanted_.size())) epochs_.push_back(std::move(out));
  }

 private:
  std::map<std::string, std::string> wanted_;
};

class JsonLines final : public Rows {
 public:
  using Rows::Rows;

 protected:
  void line(const std::string& text) override {
    Metrics columns;
    add(parse_json(text), "", columns);
    row(columns);
  }

 private:
  static void add(const json& held, const std::string& prefix, Metrics& columns) {
    if (!held.is_object()) return;
    for (const auto& [name, value] : held.items()) {
      if (value.is_number()) columns[prefix + name] = value.get<double>();
      add(value, prefix + name + ".", columns);
    }
  }
};

// The first line names the columns; quotes as in RFC 4180, without line breaks inside.
class Csv final : public Rows {
 public:
  using Rows::Rows;
  void begin_again() override {
    Rows::begin_again();
    names_.clear();
  }

 protected:
  void line(const std::string& text) override {
    const auto cells = split(text);
    if (names_.empty()) {
      names_ = cells;
      return;
    }
    Metrics columns;
    for (std::size_t i = 0; i < std::min(cells.size(), names_.size()); ++i)
      if (const auto value = number_in(cells[i])) columns[names_[i]] = *value;
    row(columns);
  }

 private:
  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> out(1);
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"')
        out.back() += text[++i];
      else if (text[i] == '"')
        quoted = !quoted;
      else if (text[i] == ',' && !quoted)
        out.emplace_back();
      else
        out.back() += text[i];
    }
    return out;
  }

  std::vector<std::string> names_;
};

}  // namespace

std::optional<Metrics> MetricsReader::take() {
  if (epochs_.empty()) return std::nullopt;
  Metrics out = std::move(epochs_.front());
  epochs_.pop_front();
  return out;
}

std::unique_ptr<MetricsReader> metrics_reader(const spec::Program& program, const std::string& format) {
  if (format == "jsonl") return std::make_unique<JsonLines>(program);
  if (format == "csv") return std::make_unique<Csv>(program);
  if (format == "tensorboard") return std::make_unique<TensorBoard>(program.metrics);
  return std::make_unique<Patterns>(program);
}

std::string format_of(const spec::Program& program) {
  const auto& path = program.metrics_file;
  if (path.empty() || !program.metrics_format.empty()) return path.empty() ? "" : program.metrics_format;
  if (path.ends_with(".csv")) return "csv";
  return path.ends_with(".jsonl") || path.ends_with(".json") ? "jsonl" : "tensorboard";
}

}  // namespace tandem::adapter
