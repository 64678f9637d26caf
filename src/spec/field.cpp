#include "spec/field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <regex>

#include "base/text.h"
#include "spec/domains.h"

namespace tandem::spec {
namespace {

std::vector<std::string> names_of(const std::vector<Field>& fields) {
  std::vector<std::string> out;
  for (const auto& field : fields)
    if (field.instead.empty()) out.push_back(field.name);
  return out;
}

std::string amount(Type type, double value) {
  switch (type) {
    case Type::bytes:
      return text_bytes(static_cast<Bytes>(value));
    case Type::seconds:
      return value == 0 ? "0s" : text(Seconds{value});
    case Type::watts:
      return text(Watts{value});
    case Type::joules:
      return text(Joules{value});
    case Type::fraction:
      return fmt::format("{:g}%", value * 100);
    case Type::bandwidth:
      return text_bandwidth(value);
    case Type::frequency:
      return text_frequency(value);
    default:
      return fmt::format("{}", value);
  }
}

// How many items: "2 items", "1 to 10 entries".
std::string count_text(const Field& field) {
  const char* what = field.type == Type::list ? "items" : "entries";
  if (field.least == field.most) return fmt::format("{} {}", *field.least, what);
  return fmt::format("{} to {} {}", *field.least, *field.most, what);
}

// Says what was expected, and for a bare number where a quantity belongs how to write it.
void expected(const Field& field, const Node& node, const std::string& path, Issues& issues) {
  std::string message = "must be " + type_text(field) + ", not " + kind_text(node);
  const bool scalar = node.kind == Node::Kind::scalar;
  const auto found = scalar ? meaning(node).value : std::nullopt;
  const bool number = found && as_number(*found);
  if (const auto how = notation(field.type); how && number)
    message = fmt::format("{} needs a unit: write it like {}", quote(node.text), how->example);
  if (field.type == Type::word && !field.choices && number)
    message += "; a word that looks like a number needs quotes";
  if (field.type == Type::words && scalar) message += ": write [python3, train.py]";
  if (field.domains > Domains::in_tuning && node.kind == Node::Kind::list)
    message += "; for one of these write {choice: [...]}";
  issues.add(node.at, path, message);
}

std::optional<Found> read_field_word(const Field& field, const Node& node, const std::string& path,
                                     Issues& issues) {
  const auto found = meaning(node).value;
  if (!found || !std::holds_alternative<std::string>(*found)) {
    expected(field, node, path, issues);
    return std::nullopt;
  }
  const auto& word = node.text;
  const auto& choices = field.choices;
  std::string problem;
  if (choices && std::find(choices->begin(), choices->end(), word) == choices->end())
    problem = quote(word) + " is not one of: " + join(*choices) + did_you_mean(word, *choices);
  else if (word.size() > field.longest)
    problem = fmt::format("has {} bytes; at most {} are allowed", word.size(), field.longest);
  else if (!field.pattern.empty() && !std::regex_match(word, std::regex(field.pattern)))
    problem = quote(word) + " must be " + field.shape;
  if (problem.empty()) return word;
  issues.add(node.at, path, problem);
  return std::nullopt;
}

// The words of a command are taken as written: 3 and 0.10 are words there, too.
std::optional<Found> read_words(const Field& field, const Node& node, const std::string& path,
                                Issues& issues) {
  if (node.kind != Node::Kind::list) {
    expected(field, node, path, issues);
    return std::nullopt;
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const Node& item = node.items[i];
    const std::string here = fmt::format("{}[{}]", path, i);
    if (item.kind == Node::Kind::broken) continue;
    if (item.kind != Node::Kind::scalar)
      issues.add(item.at, here, "must be a word, not " + kind_text(item));
    else if (item.text.find('\0') != std::string::npos)
      issues.add(item.at, here, "a word of a command cannot hold a zero byte");
    else
      words.push_back(item.text);
  }
  if (node.items.empty() || (!words.empty() && words[0].empty())) {
    issues.add(node.at, path, "must name a program first, such as [python3, train.py]");
    return std::nullopt;
  }
  if (words.size() != node.items.size()) return std::nullopt;
  return words;
}

// One word, or a list of them.
std::optional<Found> read_names(const Field& field, const Node& node, const std::string& path,
                                Issues& issues) {
  Field item = field;
  item.type = Type::word;
  std::vector<std::string> words;
  bool good = true;
  const auto read = [&](const Node& written, const std::string& here) {
    const auto found = read_value(item, written, here, issues);
    good = good && found;
    if (found) words.push_back(std::get<std::string>(*found));
  };
  if (node.kind != Node::Kind::list) read(node, path);
  for (std::size_t i = 0; i < node.items.size(); ++i) read(node.items[i], fmt::format("{}[{}]", path, i));
  return good ? std::optional<Found>(words) : std::nullopt;
}

// A number, or a quantity with its unit, as the type wants it; nullopt when it is something else.
std::optional<Found> read_number(Type type, const Node& node, const Value& value) {
  const auto* word = std::get_if<std::string>(&value);
  const auto number = as_number(value);
  switch (type) {
    case Type::whole:
      if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
      break;
    case Type::real:
      if (number) return *number;
      break;
    case Type::bytes:
      if (const auto bytes = word ? parse_bytes(*word) : std::nullopt) return *bytes;
      break;
    case Type::seconds:
      if (const auto seconds = word ? parse_seconds(*word) : std::nullopt) return seconds->value;
      break;
    case Type::watts:
      if (const auto watts = word ? parse_watts(*word) : std::nullopt) return watts->value;
      break;
    case Type::joules:
      if (const auto joules = word ? parse_joules(*word) : std::nullopt) return joules->value;
      break;
    case Type::fraction:
      if (number) return *number;
      if (const auto fraction = parse_fraction(node.text)) return *fraction;
      break;
    case Type::bandwidth:
      if (const auto bandwidth = word ? parse_bandwidth(*word) : std::nullopt) return *bandwidth;
      break;
    case Type::frequency:
      if (const auto frequency = word ? parse_frequency(*word) : std::nullopt) return *frequency;
      break;
    default:
      break;
  }
  return std::nullopt;
}

// Scalars mean no other values.
Found found_as(const Value& scalar) {
  if (const auto* flag = std::get_if<bool>(&scalar)) return *flag;
  if (const auto* whole = std::get_if<std::int64_t>(&scalar)) return *whole;
  if (const auto* real = std::get_if<double>(&scalar)) return *real;
  return std::get<std::string>(scalar);
}

double as_double(const Found& found) {
  const auto* whole = std::get_if<std::int64_t>(&found);
  return whole ? static_cast<double>(*whole) : std::get<double>(found);
}

// True, and reported, when `node` is a domain such as {log: [a, b]}, which only a tuning spec may hold.
bool refuse_domain(const Node& node, const std::string& path, Issues& issues) {
  if (node.kind != Node::Kind::map || node.entries.empty()) return false;
  const auto& forms = domain_forms();
  const auto& key = node.entries[0].key;
  if (std::find(forms.begin(), forms.end(), key) == forms.end()) return false;
  issues.add(
      node.at, path,
      "holds a domain ({" + key +
          ": ...}), which is for `tandem tune`, `characterize` and `advise`; `tandem train` needs one value");
  return true;
}

// What the rows inside store into.
Target part_for(const Field& field, const Target& target, const std::string& name = "",
                std::size_t index = 0) {
  return field.enter ? field.enter(target, name, index) : target;
}

void read_field(const Field&, const Node&, const std::string& path, const Target&, Issues&);

// True when there is a list or a map with as many items as there may be.
bool has_items(const Field& field, const Node& node, const std::string& path, Issues& issues) {
  const auto wanted = field.type == Type::list ? Node::Kind::list : Node::Kind::map;
  const std::size_t count = wanted == Node::Kind::list ? node.items.size() : node.entries.size();
  if (node.kind == Node::Kind::broken) return false;
  if (node.kind == wanted && in_range(field, static_cast<double>(count))) return true;
  if (node.kind == wanted)
    issues.add(node.at, path, fmt::format("must have {}, not {}", count_text(field), count));
  else
    expected(field, node, path, issues);
  return false;
}

void read_list(const Field& field, const Node& list, const std::string& path, const Target& target,
               Issues& issues) {
  if (!has_items(field, list, path, issues)) return;
  for (std::size_t i = 0; i < list.items.size(); ++i)
    read_field(field.fields[0], list.items[i], fmt::format("{}[{}]", path, i), part_for(field, target, "", i),
               issues);
}

void read_named(const Field& field, const Node& map, const std::string& path, const Target& target,
                Issues& issues) {
  if (!has_items(field, map, path, issues)) return;
  const std::regex pattern(field.pattern);
  for (std::size_t i = 0; i < map.entries.size(); ++i) {
    const Entry& entry = map.entries[i];
    const std::string here = join_path(path, entry.key);
    if (entry.key.size() > field.longest || !std::regex_match(entry.key, pattern))
      issues.add(entry.at, here, fmt::format("a name has 1 to {} {}", field.longest, field.shape));
    read_field(field.fields[0], entry.value, here, part_for(field, target, entry.key, i), issues);
  }
}

void read_field(const Field& field, const Node& node, const std::string& path, const Target& target,
                Issues& issues) {
  const bool word = field.type == Type::table_or_word && node.kind == Node::Kind::scalar;
  if (is_table(field) && !word) {
    read_table(field.fields, field.type == Type::open_table, node, path, part_for(field, target), issues);
  } else if (field.type == Type::list) {
    read_list(field, node, path, target, issues);
  } else if (field.type == Type::named) {
    read_named(field, node, path, target, issues);
  } else if (field.domains == Domains::few && node.kind == Node::Kind::map) {
    for (const auto& found : read_few(field, node, path, issues)) field.store(target, found);
  } else if (const auto found = read_value(field, node, path, issues); found && field.store) {
    field.store(target, *found);
  }
}

}  // namespace

bool is_table(const Field& field) {
  return field.type == Type::table || field.type == Type::open_table || field.type == Type::table_or_word;
}

bool is_many(const Field& field) {
  return field.type == Type::list || field.type == Type::named;
}

std::string kind_text(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
    default:
      return quote(node.text);
  }
}

Value to_value(const Found& found) {
  if (const auto* flag = std::get_if<bool>(&found)) return *flag;
  if (const auto* whole = std::get_if<std::int64_t>(&found)) return *whole;
  if (const auto* real = std::get_if<double>(&found)) return *real;
  return std::get<std::string>(found);
}

Field hyper_field(const HyperRule& rule, Domains domains) {
  Field field{.name = rule.name,
              .description = rule.description,
              .fallback = tandem::text(rule.fallback),
              .domains = domains};
  switch (rule.kind) {
    case HyperRule::Kind::whole:
      field.type = Type::whole;
      break;
    case HyperRule::Kind::real:
      field.type = Type::real;
      break;
    case HyperRule::Kind::flag:
      field.type = Type::flag;
      return field;
    case HyperRule::Kind::word:
      field.choices = rule.words;
      return field;
  }
  field.least = rule.low;
  field.most = rule.high;
  return field;
}

Field& field_at(std::vector<Field>& fields, std::string_view path) {
  const auto dot = path.find('.');
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.name == path.substr(0, dot); });
  assert(found != fields.end());
  return dot == std::string_view::npos ? *found : field_at(found->fields, path.substr(dot + 1));
}

std::optional<Notation> notation(Type type) {
  switch (type) {
    case Type::bytes:
      return Notation{"2GiB", "B|KiB|MiB|GiB|TiB|kB|MB|GB|TB"};
    case Type::seconds:
      return Notation{"90s, 10min or 2h", "us|ms|s|sec|m|min|h|d"};
    case Type::watts:
      return Notation{"95W", "mW|W|kW"};
    case Type::joules:
      return Notation{"20kJ or 1.5Wh", "J|kJ|MJ|Wh|kWh"};
    case Type::bandwidth:
      return Notation{"12GB/s or 10Gb/s", "(B|KiB|MiB|GiB|TiB|kB|MB|GB|TB|b|kb|Mb|Gb|Tb)/s"};
    case Type::frequency:
      return Notation{"824MHz or 1.2GHz", "Hz|kHz|MHz|GHz"};
    default:
      return std::nullopt;
  }
}

std::string type_text(const Field& field) {
  if (field.choices) return "one of " + join(*field.choices);
  switch (field.type) {
    case Type::word:
      return field.shape.empty() ? "a word" : field.shape;
    case Type::words:
      return "a list of words";
    case Type::names:
      return "a word or a list of words";
    case Type::flag:
      return "true or false";
    case Type::whole:
      return "a whole number";
    case Type::real:
      return "a number";
    case Type::any:
      return "one value: true or false, a number or a word";
    case Type::bytes:
      return "a size such as 2GiB";
    case Type::seconds:
      return "a time such as 90s, 10min or 2h";
    case Type::watts:
      return "a power such as 95W";
    case Type::joules:
      return "an energy such as 20kJ or 1.5Wh";
    case Type::fraction:
      return "a share such as 80% or 0.8";
    case Type::bandwidth:
      return "a bandwidth such as 12GB/s or 10Gb/s";
    case Type::frequency:
      return "a frequency such as 824MHz or 1.2GHz";
    case Type::table:
    case Type::open_table:
      return "a map of keys and values";
    case Type::table_or_word:
      return "a word, or a map of keys and values";
    case Type::list:
      return "a list, each item " + type_text(field.fields.at(0));
    case Type::named:
      return "a map of names, each with " + type_text(field.fields.at(0));
  }
  return "";
}

bool in_range(const Field& field, double value) {
  return !(field.least && value < *field.least) && !(field.above && value <= *field.above) &&
         !(field.most && value > *field.most);
}

std::string range_text(const Field& field) {
  if (is_many(field)) return count_text(field);
  std::string out;
  if (field.least) out = "at least " + amount(field.type, *field.least);
  if (field.above) out = "above " + amount(field.type, *field.above);
  if (field.most) out += (out.empty() ? "at most " : " and at most ") + amount(field.type, *field.most);
  return out;
}

std::optional<Found> read_value(const Field& field, const Node& node, const std::string& path,
                                Issues& issues) {
  if (node.kind == Node::Kind::broken) return std::nullopt;
  if (field.domains == Domains::in_tuning && refuse_domain(node, path, issues)) return std::nullopt;
  if (field.type == Type::words) return read_words(field, node, path, issues);
  if (field.type == Type::names) return read_names(field, node, path, issues);
  if (node.kind != Node::Kind::scalar) {
    expected(field, node, path, issues);
    return std::nullopt;
  }
  const Meaning means = meaning(node);
  if (!means.value) {
    issues.add(node.at, path, means.problem + ": " + quote(node.text));
    return std::nullopt;
  }
  if (field.type == Type::any) return found_as(*means.value);
  if (field.type == Type::word || field.type == Type::table_or_word)
    return read_field_word(field, node, path, issues);
  if (const auto* flag = std::get_if<bool>(&*means.value); flag && field.type == Type::flag) return *flag;
  const auto found = read_number(field.type, node, *means.value);
  if (!found) {
    expected(field, node, path, issues);
  } else if (!in_range(field, as_double(*found))) {
    const char* hint = field.type == Type::fraction ? "; write 80% or 0.8" : "";
    issues.add(node.at, path, "must be " + range_text(field) + ", not " + quote(node.text) + hint);
    return std::nullopt;
  }
  return found;
}

void read_table(const std::vector<Field>& fields, bool open, const Node& map, const std::string& path,
                const Target& target, Issues& issues) {
  if (map.kind == Node::Kind::broken) return;
  const auto known = names_of(fields);
  if (map.kind != Node::Kind::map) {
    const std::string listed = known.empty() ? "" : " (" + join(known) + ")";
    issues.add(map.at, path, "must be a map of keys and values" + listed + ", not " + kind_text(map));
    return;
  }
  for (const auto& [key, at, value] : map.entries) {
    const std::string here = join_path(path, key);
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&k = key](const Field& f) { return f.name == k; });
    if (field == fields.end()) {
      if (!open) issues.add(at, here, "unknown key; known are " + join(known) + did_you_mean(key, known));
    } else if (!field->instead.empty()) {
      issues.add(at, here, field->instead);
    } else {
      read_field(*field, value, here, target, issues);
    }
  }
  for (const auto& field : fields)
    if (field.required && map.find(field.name) == nullptr)
      issues.add(map.at, join_path(path, field.name), "is required: " + field.description);
}

}  // namespace tandem::spec
