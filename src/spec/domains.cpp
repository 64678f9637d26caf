#include "spec/domains.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"

namespace tandem::spec {
namespace {

using Kind = Domain::Kind;

std::string how_to_write(const std::string& form) {
  return form == "choice" ? "{choice: [...]}" : "{" + form + ": [a, b]}";
}

// "{int: [a, b]}, {log: [a, b]} or {choice: [...]}": what the field takes.
std::string forms_text(const Field& field) {
  std::vector<std::string> fitting;
  for (const char* form : {"int", "range", "log", "choice"})
    if (domain_kind(field, form)) fitting.push_back(how_to_write(form));
  if (fitting.size() == 1) return fitting[0];
  const std::string last = fitting.back();
  fitting.pop_back();
  return join(fitting) + " or " + last;
}

// {log: [16, 512], int: true}: here int is no domain of its own.
bool is_whole_flag(const Node& map, const Entry& entry) {
  return entry.key == "int" && entry.value.kind == Node::Kind::scalar && map.find("log") != nullptr;
}

// The one entry of the map that says which domain it is; reports when there is none, or too much.
const Entry* form_of(const Field& field, const Node& map, const std::string& path, Issues& issues) {
  const std::vector<std::string>& forms = domain_forms();
  std::vector<std::string> known = forms;
  known.emplace_back("step");
  if (field.domains == Domains::all) known.emplace_back("when");
  const Entry* form = nullptr;
  bool good = true;
  for (const auto& entry : map.entries) {
    const bool is_form =
        std::find(forms.begin(), forms.end(), entry.key) != forms.end() && !is_whole_flag(map, entry);
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      issues.add(entry.at, join_path(path, entry.key),
                 "is not part of a domain; known are " + join(known) + did_you_mean(entry.key, known));
      good = false;
    } else if (is_form && form != nullptr) {
      issues.add(entry.at, path,
                 fmt::format("is either {{{}: ...}} or {{{}: ...}}, not both", form->key, entry.key));
      good = false;
    } else if (is_form) {
      form = &entry;
    }
  }
  if (good && form == nullptr)
    issues.add(map.at, path, "must be " + type_text(field) + ", or a domain: " + forms_text(field));
  return good ? form : nullptr;
}

// One value inside a domain; the ends of a command's own parameter are numbers of the domain's kind.
Field item_field(const Field& field, Kind kind) {
  Field item = field;
  item.domains = Domains::never;
  if (field.type == Type::any && kind != Kind::choice)
    item.type = kind == Kind::whole || kind == Kind::log_whole ? Type::whole : Type::real;
  return item;
}

// Its JSON; reports numbers that are none. Keys come sorted, as in every Structure.
std::optional<nlohmann::json> json_of(const Node& node, const std::string& path, Issues& issues) {
  using nlohmann::json;
  json out;
  bool good = node.kind != Node::Kind::broken;
  if (node.kind == Node::Kind::scalar) {
    const Meaning means = meaning(node);
    if (means.value) return tandem::to_json(*means.value);
    issues.add(node.at, path, means.problem + ": " + quote(node.text));
    return std::nullopt;
  }
  if (node.kind == Node::Kind::list) out = json::array();
  if (node.kind == Node::Kind::map) out = json::object();
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    auto item = json_of(node.items[i], fmt::format("{}[{}]", path, i), issues);
    good = good && item;
    if (item) out.push_back(*std::move(item));
  }
  for (const auto& entry : node.entries) {
    auto item = json_of(entry.value, join_path(path, entry.key), issues);
    good = good && item;
    if (item) out[entry.key] = *std::move(item);
  }
  return good ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<Value> read_structure(const Node& node, const std::string& path, Issues& issues) {
  const auto& forms = domain_forms();
  for (const auto& entry : node.entries)
    if (node.entries.size() == 1 && std::find(forms.begin(), forms.end(), entry.key) != forms.end()) {
      issues.add(node.at, path, "must be one value, and is a domain ({" + entry.key + ": ...})");
      return std::nullopt;
    }
  const auto found = json_of(node, path, issues);
  if (!found) return std::nullopt;
  auto value = value_from_json(*found);
  if (!value) issues.add(node.at, path, fmt::format("has more than {} bytes as JSON", kLargestStructure));
  return value;
}

// What may stand beside range and int. A step that misses the upper end would leave one of the two unsaid.
void read_step(const Field& field, const Node& map, const std::string& path, Domain& domain, Issues& issues) {
  const Node* node = map.find("step");
  if (node == nullptr) return;
  const std::string here = join_path(path, "step");
  if (domain.kind != Kind::real && domain.kind != Kind::whole) {
    issues.add(node->at, here, "goes with {range: [a, b]} or {int: [a, b]}");
    return;
  }
  Field item = item_field(field, domain.kind);
  item.least = item.most = std::nullopt;
  item.above = 0;
  const auto found = read_value(item, *node, here, issues);
  if (!found) return;
  domain.step = *as_number(to_value(*found));
  if (step_fits(domain)) return;
  const double steps = std::floor((domain.high - domain.low) / domain.step);
  issues.add(
      node->at, here,
      steps > kMostSteps || steps < 1
          ? fmt::format("must be at most {} from end to end, and at least a billionth of it, not {}",
                        domain.high - domain.low, quote(node->text))
          : fmt::format("does not lead from {} to {}: its last value before that is {:.12g}; write that "
                        "as the end, or another step",
                        domain.low, domain.high, domain.low + steps * domain.step));
}

// {log: [16, 512], int: true} of a command's own parameter.
std::optional<Kind> kind_written(const Field& field, const Node& map, const std::string& path, Kind kind,
                                 Issues& issues) {
  for (const auto& entry : map.entries) {
    if (!is_whole_flag(map, entry)) continue;
    const std::string here = join_path(path, "int");
    if (field.type == Type::real) {
      issues.add(entry.at, here, "does not fit a number: leave it out");
      return std::nullopt;
    }
    const auto flag = read_value({.name = "int", .type = Type::flag}, entry.value, here, issues);
    if (!flag) return std::nullopt;
    if (std::get<bool>(*flag)) return Kind::log_whole;
  }
  return kind;
}

// Whole numbers that no double holds go to the next one outside, so that they are never taken for legal ends.
double number_of(const Found& found) {
  const double nearest = *as_number(to_value(found));
  const auto* whole = std::get_if<std::int64_t>(&found);
  if (whole == nullptr || std::abs(nearest) != kLargestWhole || *whole == static_cast<std::int64_t>(nearest))
    return nearest;
  return 2 * nearest;
}

// What is wrong with two ends that are numbers of the right kind; empty: nothing.
std::string ends_problem(const Domain& domain, const Node& low, const Node& high) {
  const bool whole = domain.kind == Kind::whole || domain.kind == Kind::log_whole;
  const bool log = domain.kind == Kind::log_real || domain.kind == Kind::log_whole;
  if (!(domain.low < domain.high))
    return fmt::format("the first number must be below the second, but {} is not below {}", quote(low.text),
                       quote(high.text));
  if (log && domain.low <= 0) return "a logarithmic domain begins above 0, not at " + quote(low.text);
  if (whole && !whole_ends(domain))
    return "is too wide: whole numbers must lie within 2^53 of 0 and of each other";
  if (!std::isfinite(domain.high - domain.low)) return "is too wide";
  return "";
}

std::optional<Domain> read_ends(const Field& field, Kind kind, const Node& list, const std::string& path,
                                Issues& issues) {
  if (list.kind == Node::Kind::broken) return std::nullopt;
  if (list.kind != Node::Kind::list || list.items.size() != 2) {
    const std::string found =
        list.kind == Node::Kind::list ? fmt::format("{} items", list.items.size()) : kind_text(list);
    issues.add(list.at, path, "must be two numbers, [lowest, highest], not " + found);
    return std::nullopt;
  }
  const Field end = item_field(field, kind);
  const auto low = read_value(end, list.items[0], path + "[0]", issues);
  const auto high = read_value(end, list.items[1], path + "[1]", issues);
  if (!low || !high) return std::nullopt;
  const Domain domain{.kind = kind, .choices = {}, .low = number_of(*low), .high = number_of(*high)};
  const std::string problem = ends_problem(domain, list.items[0], list.items[1]);
  if (problem.empty()) return domain;
  issues.add(list.at, path, problem);
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& domain_forms() {
  static const std::vector<std::string> forms{"choice", "range", "log", "int"};
  return forms;
}

std::optional<Kind> domain_kind(const Field& field, const std::string& form) {
  const bool any = field.type == Type::any, whole = field.type == Type::whole,
             real = field.type == Type::real;
  if (form == "choice") return Kind::choice;
  if (form == "int" && (any || whole)) return Kind::whole;
  if (field.domains == Domains::few) return std::nullopt;
  if (form == "log" && whole) return Kind::log_whole;
  if (form == "log" && (any || real)) return Kind::log_real;
  if (form == "range" && (any || real)) return Kind::real;
  return std::nullopt;
}

std::optional<std::vector<Value>> read_choices(const Field& field, const Node& list, const std::string& path,
                                               Issues& issues) {
  if (list.kind == Node::Kind::broken) return std::nullopt;
  if (list.kind != Node::Kind::list || list.items.empty() || list.items.size() > kMostChoices) {
    const std::string found =
        list.kind == Node::Kind::list ? fmt::format("{} items", list.items.size()) : kind_text(list);
    issues.add(list.at, path, fmt::format("must be a list of 1 to {} values, not {}", kMostChoices, found));
    return std::nullopt;
  }
  const Field item = item_field(field, Kind::choice);
  std::vector<Value> out;
  std::set<Value> seen;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const std::string here = fmt::format("{}[{}]", path, i);
    const auto found = read_choice(item, list.items[i], here, issues);
    if (!found) continue;
    if (seen.insert(canonical(*found)).second)
      out.push_back(*found);
    else
      issues.add(list.items[i].at, here,
                 quote(list.items[i].kind == Node::Kind::scalar ? list.items[i].text : tandem::text(*found)) +
                     " is given twice");
  }
  if (out.size() != list.items.size()) return std::nullopt;
  return out;
}

std::optional<Value> read_choice(const Field& field, const Node& node, const std::string& path,
                                 Issues& issues) {
  const bool nothing = node.kind == Node::Kind::null && node.text.empty();  // a value that was forgotten
  if (field.type == Type::any && node.kind != Node::Kind::scalar && node.kind != Node::Kind::broken &&
      !nothing)
    return read_structure(node, path, issues);
  const auto found = read_value(field, node, path, issues);
  return found ? std::optional(to_value(*found)) : std::nullopt;
}

std::optional<Domain> read_domain(const Field& field, const Node& map, const std::string& path,
                                  Issues& issues) {
  const Entry* form = form_of(field, map, path, issues);
  if (form == nullptr) return std::nullopt;
  const std::string here = join_path(path, form->key);
  const auto kind = domain_kind(field, form->key);
  if (!kind) {
    issues.add(form->at, here, fmt::format("does not fit {}: write {}", type_text(field), forms_text(field)));
    return std::nullopt;
  }
  const auto written = kind_written(field, map, path, *kind, issues);
  std::optional<Domain> out;
  if (written && *written != Kind::choice) {
    out = read_ends(field, *written, form->value, here, issues);
  } else if (written) {
    if (auto choices = read_choices(field, form->value, here, issues))
      out = Domain{.kind = Kind::choice, .choices = std::move(*choices)};
  }
  if (out) read_step(field, map, path, *out, issues);
  return out;
}

std::vector<Found> read_few(const Field& field, const Node& map, const std::string& path, Issues& issues) {
  const auto domain = read_domain(field, map, path, issues);
  std::vector<Found> out;
  if (!domain) return out;
  const auto add = [&](const Value& value) {
    if (const auto* flag = std::get_if<bool>(&value)) out.emplace_back(*flag);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) out.emplace_back(*whole);
    if (const auto* real = std::get_if<double>(&value)) out.emplace_back(*real);
    if (const auto* word = std::get_if<std::string>(&value)) out.emplace_back(*word);
  };
  for (std::int64_t i = 0; i < count(*domain).value_or(0); ++i) add(value_of(*domain, i));
  return out;
}

}  // namespace tandem::spec
