#include "spec/domains.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

// The one entry of the map that says which domain it is; reports when there is none, or too much.
const Entry* form_of(const Field& field, const Node& map, const std::string& path, Issues& issues) {
  std::vector<std::string> known = domain_forms();
  if (field.domains == Domains::all) known.emplace_back("when");
  const Entry* form = nullptr;
  bool good = true;
  for (const auto& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      issues.add(entry.at, join_path(path, entry.key),
                 "is not part of a domain; known are " + join(known) + did_you_mean(entry.key, known));
      good = false;
    } else if (entry.key != "when" && form != nullptr) {
      issues.add(entry.at, path,
                 fmt::format("is either {{{}: ...}} or {{{}: ...}}, not both", form->key, entry.key));
      good = false;
    } else if (entry.key != "when") {
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
    item.type = kind == Kind::whole ? Type::whole : Type::real;
  return item;
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
    const auto found = read_value(item, list.items[i], here, issues);
    if (!found) continue;
    if (seen.insert(canonical(to_value(*found))).second)
      out.push_back(to_value(*found));
    else
      issues.add(list.items[i].at, here, quote(list.items[i].text) + " is given twice");
  }
  if (out.size() != list.items.size()) return std::nullopt;
  return out;
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
  if (*kind != Kind::choice) return read_ends(field, *kind, form->value, here, issues);
  auto choices = read_choices(field, form->value, here, issues);
  if (!choices) return std::nullopt;
  return Domain{.kind = Kind::choice, .choices = std::move(*choices)};
}

std::vector<Found> read_few(const Field& field, const Node& map, const std::string& path, Issues& issues) {
  const auto domain = read_domain(field, map, path, issues);
  std::vector<Found> out;
  if (!domain) return out;
  for (const auto& value : domain->choices)
    out.push_back(std::visit([](const auto& held) { return Found(held); }, value));
  if (domain->kind == Kind::whole)
    for (auto at = static_cast<std::int64_t>(domain->low); at <= static_cast<std::int64_t>(domain->high);
         ++at)
      out.emplace_back(at);
  return out;
}

}  // namespace tandem::spec
