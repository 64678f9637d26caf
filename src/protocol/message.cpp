#include "protocol/message.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace tandem::protocol {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // "type" comes first on the wire, for people who read along

constexpr int kDeepest = 16;
constexpr std::size_t kMostAbilities = 64, kMostRead = 500;

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw ProtocolError(fmt::format(format, std::forward<Arguments>(arguments)...));
}

std::string in_quotes(std::string_view raw) {
  return "'" + printable(raw, 80) + "'";
}

// ---- reading JSON ----

// JSON has no word for these numbers, but Python's json module writes them bare; quoted, they can be named
// later.
std::string quote_bare_numbers(std::string_view line) {
  std::string out;
  bool in_string = false;
  for (std::size_t at = 0; at < line.size();) {
    if (!in_string) {
      bool found = false;
      for (std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
        if (line.substr(at, word.size()) != word) continue;
        out.append("\"").append(word).append("\"");
        at += word.size();
        found = true;
        break;
      }
      if (found) continue;
    }
    if (in_string && line[at] == '\\' && at + 1 < line.size())
      out += line[at++];
    else if (line[at] == '"')
      in_string = !in_string;
    out += line[at++];
  }
  return out;
}

// Throws Json::exception for what is not JSON, ProtocolError for what JSON allows and we do not.
Json parse_strictly(std::string_view line) {
  std::vector<std::set<std::string>> keys;
  return Json::parse(line, [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kDeepest) refuse("the line is nested deeper than {} levels", kDeepest);
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      refuse("the key {} appears twice in one object", in_quotes(parsed.get_ref<const std::string&>()));
    return true;
  });
}

// nlohmann's text starts with "[json.exception.parse_error.101] ", which helps nobody.
std::string without_prefix(const std::string& what) {
  const auto end = what.find("] ");
  return end == std::string::npos ? what : what.substr(end + 2);
}

Json object_of(std::string_view line) {
  if (line.size() > kLongestLine)
    refuse("a line of {} bytes is too long; the most is {}", line.size(), kLongestLine);
  if (line.empty()) refuse("an empty line; every line is one JSON object");
  Json json;
  try {
    json = parse_strictly(line);
  } catch (const Json::exception& first) {
    try {
      json = parse_strictly(quote_bare_numbers(line));
    } catch (const Json::exception&) {
      refuse("not JSON: {} (the line: {})", printable(without_prefix(first.what()), 200), in_quotes(line));
    }
  }
  if (!json.is_object())
    refuse("a line is one JSON object, but this is {}: {}", json.type_name(), in_quotes(line));
  return json;
}

// ---- reading fields ----

// One JSON object on its way to becoming a message; `where` names it in messages.
void check_name(const std::string& name, const char* what);

struct Fields {
  const Json& json;
  std::string where;

  // nullptr when left out; null counts as left out.
  const Json* find(const char* key) const {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? nullptr : &*found;
  }

  const Json& at(const char* key) const {
    const Json* found = find(key);
    if (found == nullptr) refuse("{} has no '{}'", where, key);
    return *found;
  }

  std::int64_t whole(const char* key, std::int64_t low,
                     std::int64_t high = std::numeric_limits<std::int64_t>::max()) const {
    const Json& value = at(key);
    const bool too_big =
        value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!value.is_number_integer() || too_big)
      refuse("'{}' of {} must be a whole number, not {}", key, where, printable(value.dump(), 80));
    const auto number = value.get<std::int64_t>();
    if (number < low) refuse("'{}' of {} is {}, but must be at least {}", key, where, number, low);
    if (number > high) refuse("'{}' of {} is {}, but must be at most {}", key, where, number, high);
    return number;
  }

  std::optional<std::int64_t> optional_whole(const char* key, std::int64_t low) const {
    return find(key) == nullptr ? std::nullopt : std::optional(whole(key, low));
  }

  double share(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number() || !(value.get<double>() >= 0) || !(value.get<double>() < 1))
      refuse("'{}' of {} must be from 0 to below 1, not {}", key, where, printable(value.dump(), 80));
    return value.get<double>();
  }

  bool flag(const char* key) const {
    const Json& value = at(key);
    if (!value.is_boolean())
      refuse("'{}' of {} must be true or false, not {}", key, where, printable(value.dump(), 80));
    return value.get<bool>();
  }

  std::string word(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string())
      refuse("'{}' of {} must be text, not {}", key, where, printable(value.dump(), 80));
    return value.get<std::string>();
  }

  std::vector<std::string> words(const char* key, std::size_t most) const {
    const Json& list = at(key);
    if (!list.is_array()) refuse("'{}' of {} must be a list of words", key, where);
    if (list.size() > most)
      refuse("'{}' of {} lists {} things; the most is {}", key, where, list.size(), most);
    std::vector<std::string> out;
    for (const auto& item : list) {
      if (!item.is_string()) refuse("'{}' of {} must be a list of words", key, where);
      out.push_back(item.get<std::string>());
      check_name(out.back(), "thing it lists");
    }
    return out;
  }

  Fields object(const char* key) const {
    const Json& value = at(key);
    if (!value.is_object())
      refuse("'{}' of {} must be an object, not {}", key, where, printable(value.dump(), 80));
    return {value, fmt::format("'{}' of {}", key, where)};
  }
};

void check_name(const std::string& name, const char* what) {
  if (name.empty()) refuse("a {} has an empty name", what);
  if (name.size() > kLongestName)
    refuse("the name of {} {} is {} bytes long; the most is {}", what, in_quotes(name), name.size(),
           kLongestName);
  for (const unsigned char c : name)
    if (c < 0x20 || c == 0x7f)
      refuse("the name of {} {} has a control character in it", what, in_quotes(name));
}

void check_version(std::int64_t version, const char* who) {
  if (version != kVersion)
    refuse(
        "{} speaks version {} of the protocol, this side speaks version {}; bring both to the same Tandem "
        "release",
        who, version, kVersion);
}

// Words that are not JSON, but that many libraries write.
std::optional<double> not_finite_from(const Json& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (value == "NaN" || value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return kInfinity;
  if (value == "-Infinity") return -kInfinity;
  return std::nullopt;
}

Metrics metrics_of(const Fields& fields) {
  if (fields.json.size() > kMostMetrics)
    refuse("{} metrics in one epoch are too many; the most is {}", fields.json.size(), kMostMetrics);
  Metrics metrics;
  for (const auto& [name, value] : fields.json.items()) {
    check_name(name, "metric");
    if (const auto word = not_finite_from(value)) {
      metrics.emplace(name, *word);
      continue;
    }
    if (!value.is_number())
      refuse("metric {} must be a number, not {}", in_quotes(name), printable(value.dump(), 80));
    metrics.emplace(name, value.get<double>());
  }
  return metrics;
}

Resources resources_of(const Fields& fields) {
  Resources resources;
  resources.cores = static_cast<int>(fields.whole("cores", 1, std::numeric_limits<int>::max()));
  resources.memory = fields.whole("memory", 0);
  const Json& speed = fields.at("speed");
  if (!speed.is_number()) refuse("'speed' of {} must be a number", fields.where);
  resources.speed = speed.get<double>();
  if (!(resources.speed > 0 && resources.speed <= 1))
    refuse("'speed' of {} is {}, but must be above 0 and at most 1", fields.where, resources.speed);
  try {
    Json given = fields.json;
    for (auto item = given.begin(); item != given.end();)
      item = item->is_null() ? given.erase(item) : std::next(item);
    return resources_from_json(given);
  } catch (const SystemError& error) {
    refuse("{}: {}", fields.where, error.what());
  }
}

Values hyper_of(const Fields& fields) {
  Values values;
  for (const auto& [name, held] : fields.json.items()) {
    check_name(name, "hyperparameter");
    if (held.is_number_integer()) {
      values.emplace(name, fields.whole(name.c_str(), std::numeric_limits<std::int64_t>::min()));
      continue;
    }
    auto value = value_from_json(held);
    if (!value) refuse("hyperparameter {} must be a number, a word or a flag", in_quotes(name));
    values.emplace(name, *value);
  }
  return values;
}

// ---- messages ----

Hello hello_of(const Fields& fields) {
  check_version(fields.whole("version", 0), "the program");
  Hello hello;
  if (fields.find("can") != nullptr) hello.can = fields.words("can", kMostAbilities);
  hello.durable_epoch = fields.optional_whole("durable_epoch", 0);
  return hello;
}

Epoch epoch_of(const Fields& fields) {
  Epoch epoch{fields.optional_whole("epoch", 1), metrics_of(fields.object("metrics"))};
  if (const Json* since = fields.find("since_ready")) {
    if (!since->is_number() || !(since->get<double>() >= 0))
      refuse("'since_ready' of {} must be seconds, not {}", fields.where, printable(since->dump(), 80));
    epoch.since_ready = Seconds{since->get<double>()};
  }
  if (fields.find("hyper_read") != nullptr) epoch.hyper_read = fields.words("hyper_read", kMostRead);
  if (fields.find("loaded") != nullptr) epoch.loaded = fields.object("loaded").json.dump();
  return epoch;
}

Progress progress_of(const Fields& fields) {
  const Json& share = fields.at("share");
  if (!share.is_number() || !(share.get<double>() > 0 && share.get<double>() <= 1))
    refuse("'share' of {} must be above 0 and at most 1, not {}", fields.where, printable(share.dump(), 80));
  return {share.get<double>()};
}

Begin begin_of(const Fields& fields) {
  check_version(fields.whole("version", 0), "Tandem");
  Begin begin;
  begin.task = fields.word("task");
  begin.attempt = fields.whole("attempt", 1);
  begin.epochs = fields.whole("epochs", 1);
  begin.reported = fields.whole("reported", 0);
  begin.seed = fields.whole("seed", std::numeric_limits<std::int64_t>::min());
  begin.folder = fields.word("folder");
  begin.keep_checkpoints = fields.whole("keep_checkpoints", 0);
  begin.hyper = hyper_of(fields.object("hyper"));
  begin.system = resources_of(fields.object("system"));
  if (fields.find("drop") != nullptr) begin.drop = fields.share("drop");
  if (fields.find("cloned") != nullptr) begin.cloned = fields.flag("cloned");
  return begin;
}

Answer answer_of(const Fields& fields) {
  Answer answer{fields.flag("stop"), fields.flag("checkpoint"), std::nullopt};
  if (fields.find("system") != nullptr) answer.system = resources_of(fields.object("system"));
  answer.epoch = fields.optional_whole("epoch", 0);
  return answer;
}

OrderedJson json_of(const Hello& hello) {
  OrderedJson json{{"type", "hello"}, {"version", hello.version}, {"can", hello.can}};
  if (hello.durable_epoch) json["durable_epoch"] = *hello.durable_epoch;
  return json;
}

OrderedJson json_of(const Epoch& epoch) {
  OrderedJson json{{"type", "epoch"}};
  if (epoch.number) json["epoch"] = *epoch.number;
  if (epoch.since_ready) json["since_ready"] = epoch.since_ready->value;
  if (!epoch.hyper_read.empty()) json["hyper_read"] = epoch.hyper_read;
  if (!epoch.loaded.empty()) json["loaded"] = OrderedJson::parse(epoch.loaded);
  OrderedJson& metrics = json["metrics"] = OrderedJson::object();
  for (const auto& [name, value] : epoch.metrics) {
    if (std::isfinite(value))
      metrics[name] = value;
    else
      metrics[name] = std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  }
  return json;
}

OrderedJson json_of(const Checkpointed& checkpointed) {
  return {{"type", "checkpointed"}, {"epoch", checkpointed.epoch}};
}

OrderedJson json_of(const Ready&) {
  return {{"type", "ready"}};
}

OrderedJson json_of(const Progress& progress) {
  return {{"type", "progress"}, {"share", progress.share}};
}

OrderedJson json_of(const Resources& resources) {
  OrderedJson out{{"cores", resources.cores}, {"memory", resources.memory}, {"speed", resources.speed}};
  const nlohmann::json all = to_json(resources);
  for (const auto& [key, value] : all.items())
    if (!out.contains(key)) out[key] = value;
  return out;
}

OrderedJson json_of(const Begin& begin) {
  for (const auto& [name, value] : begin.hyper)
    if (!std::isfinite(as_number(value).value_or(0)))
      refuse("hyperparameter {} is not finite", in_quotes(name));
  OrderedJson json{{"type", "begin"},
                   {"version", begin.version},
                   {"task", begin.task},
                   {"attempt", begin.attempt},
                   {"epochs", begin.epochs},
                   {"reported", begin.reported},
                   {"seed", begin.seed},
                   {"folder", begin.folder},
                   {"keep_checkpoints", begin.keep_checkpoints},
                   {"hyper", OrderedJson(to_json(begin.hyper))},
                   {"system", json_of(begin.system)}};
  if (begin.cloned) json["cloned"] = true;
  if (begin.drop > 0) json["drop"] = begin.drop;
  return json;
}

OrderedJson json_of(const Answer& answer) {
  OrderedJson json{{"type", "answer"}, {"stop", answer.stop}, {"checkpoint", answer.checkpoint}};
  if (answer.system) json["system"] = json_of(*answer.system);
  if (answer.epoch) json["epoch"] = *answer.epoch;
  return json;
}

OrderedJson json_of(const Refusal& refusal) {
  return {{"type", "error"}, {"reason", refusal.reason}};
}

template <class Message>
std::string line_of(const Message& message) {
  try {
    return std::visit([](const auto& body) { return json_of(body).dump() + "\n"; }, message);
  } catch (const Json::exception& error) {
    refuse("a message cannot be written as JSON: {}", printable(without_prefix(error.what()), 200));
  }
}

[[noreturn]] void refuse_type(const std::string& type, const char* who,
                              const std::vector<std::string>& known) {
  refuse("unknown type {}{}; {} sends one of: {}", in_quotes(type), did_you_mean(type, known), who,
         join(known));
}

}  // namespace

FromProgram parse_from_program(std::string_view line) {
  const Json json = object_of(line);
  const std::string type = Fields{json, "the line"}.word("type");
  if (type == "hello") return hello_of({json, "hello"});
  if (type == "epoch") return epoch_of({json, "the epoch report"});
  if (type == "checkpointed") return Checkpointed{Fields{json, "checkpointed"}.whole("epoch", 1)};
  if (type == "ready") return Ready{};
  if (type == "progress") return progress_of({json, "progress"});
  refuse_type(type, "a program", {"hello", "ready", "progress", "epoch", "checkpointed"});
}

FromTandem parse_from_tandem(std::string_view line) {
  const Json json = object_of(line);
  const std::string type = Fields{json, "the line"}.word("type");
  if (type == "begin") return begin_of({json, "begin"});
  if (type == "answer") return answer_of({json, "the answer"});
  if (type == "error") return Refusal{Fields{json, "the error"}.word("reason")};
  refuse_type(type, "Tandem", {"begin", "answer", "error"});
}

std::string line(const FromProgram& message) {
  return line_of(message);
}
std::string line(const FromTandem& message) {
  return line_of(message);
}

void LineReader::feed(std::string_view bytes) {
  pending_.erase(0, start_);
  scanned_ -= start_;
  start_ = 0;
  pending_ += bytes;
}

std::optional<std::string> LineReader::next() {
  const auto end = pending_.find('\n', scanned_);
  const auto length = (end == std::string::npos ? pending_.size() : end) - start_;
  if (length > kLongestLine) refuse("a line is longer than {} bytes", kLongestLine);
  if (end == std::string::npos) {
    scanned_ = pending_.size();
    return std::nullopt;
  }
  std::string line = pending_.substr(start_, length);
  start_ = scanned_ = end + 1;
  return line;
}

}  // namespace tandem::protocol
