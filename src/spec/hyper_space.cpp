// `hyper` of a tuning spec: which of its entries vary, when each exists, in which order, and what must hold.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "spec/checks.h"
#include "spec/domains.h"
#include "spec/hyper.h"
#include "spec/hyper_row.h"

namespace tandem::spec {
namespace {

const std::vector<std::string> kSystemNames{"cores", "memory", "speed"};

bool is_system(const std::string& name) {
  return std::find(kSystemNames.begin(), kSystemNames.end(), name) != kSystemNames.end();
}

// A hyperparameter of the job. With neither domain nor value it was bad, and that has been reported.
struct Hyper {
  Field row;
  std::string path;
  const Node* when_node = nullptr;
  std::optional<Domain> domain;
  std::optional<Value> value;  // fixed: written so, or the model's default
  std::optional<Condition> when;
  std::optional<std::size_t> after;  // the one its condition names, unless that is fixed
  bool gone = false;                 // its condition can never hold
};

// Where no program is known there are no groups either: what a map means cannot be told.
const ModelEntry kNoModel{};

// The domain's own value that this one is: a real number where it has real ones.
Value nearest(const Domain& domain, const Value& value) {
  if (count(domain)) return value_of(domain, index_of(domain, value));
  return as_number(value).value();
}

std::string values_text(const Domain& domain) {
  if (domain.kind != Domain::Kind::choice)
    return fmt::format("lies between {} and {}{}", domain.low, domain.high,
                       domain.step > 0 ? fmt::format(" in steps of {}", domain.step) : "");
  std::vector<std::string> shown;
  for (const auto& choice : domain.choices) {
    if (shown.size() == 10) {
      shown.emplace_back("...");
      break;
    }
    shown.push_back(quote(tandem::text(choice)));
  }
  return "is one of " + join(shown);
}

class SpaceReader {
 public:
  SpaceReader(const ModelEntry* model, TuneJob& job, Issues& issues)
      : model_(model), job_(job), issues_(issues) {}

  void read(const Node* hyper) {
    if (is_map(hyper) && hyper->entries.size() > kMostParameters)
      issues_.add(hyper->at, "hyper",
                  fmt::format("has {} hyperparameters; at most {} are allowed", hyper->entries.size(),
                              kMostParameters));
    else if (is_map(hyper))
      job_.base.groups =
          each_hyper(names_are_known() ? model_ : &kNoModel, *hyper, Domains::all, issues_,
                     [&](const std::string& name, const Entry& entry) { read_entry(name, entry); });
    if (all_.size() > kMostParameters)
      issues_.add(hyper->at, "hyper",
                  fmt::format("has {} hyperparameters in all its groups; at most {} are allowed", all_.size(),
                              kMostParameters));
    add_defaults();
    for (auto& parameter : all_) read_condition(parameter);
    check_conditions(hyper);
    resolve(in_order());
  }

  void read_start(const Node* node) {
    if (node == nullptr || node->kind != Node::Kind::list || node->items.size() > kMostStarts) return;
    for (std::size_t i = 0; i < node->items.size(); ++i)
      if (is_map(&node->items[i])) read_known_point(node->items[i], fmt::format("start[{}]", i));
  }

  void read_constraints(const Node* node) {
    if (node == nullptr) return;
    if (node->items.size() > kMostConstraints) {
      issues_.add(node->at, "constraints",
                  fmt::format("are {}; at most {} are allowed", node->items.size(), kMostConstraints));
      return;
    }
    std::size_t bytes = node->text.size();
    for (const auto& item : node->items) bytes += item.text.size();
    if (bytes > kMostConstraintBytes && node->items.size() > 1) {
      issues_.add(node->at, "constraints",
                  fmt::format("have {} bytes together; at most {} are allowed", bytes, kMostConstraintBytes));
      return;
    }
    if (node->kind == Node::Kind::scalar) read_constraint(*node, "constraints");
    for (std::size_t i = 0; i < node->items.size(); ++i)
      read_constraint(node->items[i], fmt::format("constraints[{}]", i));
  }

 private:
  // Without a good program nobody knows which hyperparameters there are.
  bool names_are_known() const { return model_ != nullptr || !job_.base.program.command.empty(); }

  void add(Hyper parameter) {
    index_.emplace(parameter.row.name, all_.size());
    all_.push_back(std::move(parameter));
  }

  void read_entry(const std::string& name, const Entry& entry) {
    if (name == "epochs") return;  // the table has read or refused it
    const std::string path = join_path("hyper", name);
    const auto row = hyper_row(model_, name, entry.at, path, Domains::all, issues_);
    if (!row) return;
    if (is_system(name))
      issues_.add(entry.at, path,
                  "is the name of a system parameter, and one name cannot mean two things in a search; "
                  "choose another");
    Hyper parameter{.row = *row, .path = path, .domain = {}, .value = {}, .when = {}, .after = {}};
    if (entry.value.kind == Node::Kind::map) {
      parameter.domain = read_domain(*row, entry.value, path, issues_);
      parameter.when_node = entry.value.find("when");
    } else if (const auto found = read_value(*row, entry.value, path, issues_)) {
      parameter.value = to_value(*found);
    }
    add(std::move(parameter));
  }

  void add_defaults() {
    if (model_ == nullptr) return;
    for (const auto& rule : model_->hyper)
      if (rule.name != "epochs" && !index_.contains(rule.name))
        add({.row = hyper_field(rule, Domains::all),
             .path = "",
             .domain = {},
             .value = fallback(rule),
             .when = {},
             .after = {}});
  }

  void read_condition(Hyper& parameter) {
    const Node* node = parameter.when_node;
    if (node == nullptr || node->kind == Node::Kind::broken) return;
    const std::string path = parameter.path + ".when";
    if (node->kind != Node::Kind::map || node->entries.size() != 1) {
      const std::string found =
          node->kind == Node::Kind::map ? fmt::format("{} keys", node->entries.size()) : kind_text(*node);
      issues_.add(node->at, path,
                  "must name one hyperparameter and its values, such as {optimizer: sgd}, not " + found);
      return;
    }
    const auto& [name, at, values] = node->entries[0];
    const auto found = named_beside(parameter.row.name, name);
    if (found != index_.end()) {
      const Hyper& on = all_[found->second];
      if (!on.value) parameter.after = found->second;
      parameter.when = read_values(on, values, join_path(path, name));
    } else if (names_are_known()) {
      issues_.add(at, join_path(path, name),
                  "names no hyperparameter of this spec" + suggestion(name, false));
    }
  }

  // Inside a group the names of its own come first, then those of the groups around it.
  std::map<std::string, std::size_t>::const_iterator named_beside(std::string from,
                                                                  const std::string& name) const {
    for (auto dot = from.rfind('.'); dot != std::string::npos; dot = from.rfind('.')) {
      from.resize(dot);
      const auto& groups = job_.base.groups;
      if (std::find(groups.begin(), groups.end(), from) == groups.end()) continue;
      if (const auto found = index_.find(from + "." + name); found != index_.end()) return found;
    }
    return index_.find(name);
  }

  void check_conditions(const Node* hyper) {
    std::size_t values = 0;
    for (const auto& parameter : all_)
      if (parameter.when) values += parameter.when->values.size();
    if (values > kMostConditionValues)
      issues_.add(hyper->at, "hyper",
                  fmt::format("has conditions (when) with {} values together; at most {} are allowed", values,
                              kMostConditionValues));
  }

  // The values a condition asks for: one, or a list.
  std::optional<Condition> read_values(const Hyper& on, const Node& node, const std::string& path) {
    Field row = on.row;
    row.domains = Domains::never;
    std::vector<Value> values;
    if (node.kind == Node::Kind::list) {
      const auto several = read_choices(row, node, path, issues_);
      if (!several) return std::nullopt;
      values = *several;
    } else {
      const auto one = read_choice(row, node, path, issues_);
      if (!one) return std::nullopt;
      values.push_back(*one);
    }
    if (const auto never = on.domain ? first_outside(*on.domain, values) : std::nullopt) {
      issues_.add(node.at, path,
                  fmt::format("is never {}: {} {}", quote(tandem::text(*never)), quote(on.row.name),
                              values_text(*on.domain)));
      return std::nullopt;
    }
    return Condition{on.row.name, std::move(values)};
  }

  // As written, but each after the one its condition names. Reports circles, and leaves them out.
  std::vector<std::size_t> in_order() {
    std::vector<std::vector<std::size_t>> waiting(all_.size());
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].after)
        waiting[*all_[i].after].push_back(i);
      else
        ready.insert(i);
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
      order.push_back(*ready.begin());
      ready.erase(ready.begin());
      for (const auto next : waiting[order.back()]) ready.insert(next);
    }
    if (order.size() < all_.size()) report_circles(order);
    return order;
  }

  void report_circles(const std::vector<std::size_t>& good) {
    std::vector<bool> seen(all_.size());
    for (const auto i : good) seen[i] = true;
    for (std::size_t from = 0; from < all_.size(); ++from) {
      std::vector<std::size_t> path;
      std::size_t at = from;
      for (; !seen[at]; at = *all_[at].after) seen[at] = true, path.push_back(at);
      const auto begin = std::find(path.begin(), path.end(), at);
      if (begin == path.end()) continue;  // it ends in a circle that was reported
      std::vector<std::string> names;
      for (auto i = begin; i != path.end(); ++i) names.push_back(quote(all_[*i].row.name));
      names.push_back(names[0]);
      issues_.add(all_[at].when_node->at, all_[at].path + ".when",
                  "conditions go in a circle: " + printable(join(names, " needs "), 400));
    }
  }

  void resolve(const std::vector<std::size_t>& order) {
    for (const auto i : order) {
      Hyper& parameter = all_[i];
      if (parameter.value) job_.base.hyper[parameter.row.name] = *parameter.value;
      if (!parameter.domain) continue;
      if (parameter.when) decide(parameter);
      if (!parameter.gone)
        job_.hyper.parameters.push_back({parameter.row.name, *parameter.domain, parameter.when});
    }
  }

  void decide(Hyper& parameter) {
    const Hyper& on = all_[index_.at(parameter.when->parameter)];
    const auto& values = parameter.when->values;
    const bool met = on.value && std::any_of(values.begin(), values.end(),
                                             [&](const Value& value) { return same(value, *on.value); });
    parameter.gone = on.gone || (on.value && !met);
    if (met) parameter.when.reset();
  }

  // The nearest name, for the first few mistakes: comparing all with all would take seconds.
  std::string suggestion(const std::string& name, bool with_system) {
    if (suggestions_-- <= 0) return "";
    std::vector<std::string> known = with_system ? kSystemNames : std::vector<std::string>();
    for (const auto& parameter : all_) known.push_back(parameter.row.name);
    return did_you_mean(name, known);
  }

  // A point in which the search shall begin; it may leave out what shall be drawn.
  void read_known_point(const Node& map, const std::string& path) {
    Values point;
    const std::size_t before = issues_.size();
    read_known_values(map, "", path, point);
    if (issues_.size() > before) return;
    Values so_far = job_.base.hyper;
    for (const auto& parameter : job_.hyper.parameters) {
      const auto given = point.find(parameter.name);
      if (given == point.end()) continue;
      const auto* when = parameter.when ? &*parameter.when : nullptr;
      if (when != nullptr && so_far.contains(when->parameter) && !exists(parameter, so_far)) {
        issues_.add(map.at, join_path(path, parameter.name),
                    fmt::format("does not exist where {} is {}", when->parameter,
                                quote(tandem::text(so_far.at(when->parameter)))));
        return;
      }
      so_far.insert(*given);
    }
    for (const auto& constraint : job_.hyper.constraints)
      if (!constraint.holds(so_far))
        return issues_.add(map.at, path, fmt::format("does not meet the constraint '{}'", constraint.text()));
    job_.search.start.push_back(std::move(point));
  }

  void read_known_values(const Node& map, const std::string& prefix, const std::string& path, Values& point) {
    for (const auto& entry : map.entries) {
      const std::string name = prefix + entry.key, here = join_path(path, entry.key);
      const auto found = index_.find(name);
      if (found != index_.end()) {
        read_known_value(all_[found->second], entry.value, here, point);
      } else if (std::find(job_.base.groups.begin(), job_.base.groups.end(), name) !=
                 job_.base.groups.end()) {
        if (is_map(&entry.value))
          read_known_values(entry.value, name + ".", here, point);
        else
          issues_.add(entry.value.at, here, "is a group: must be a map, not " + kind_text(entry.value));
      } else if (names_are_known()) {
        issues_.add(entry.at, here, "names no hyperparameter of this spec" + suggestion(name, false));
      }
    }
  }

  void read_known_value(const Hyper& parameter, const Node& node, const std::string& path, Values& point) {
    Field row = parameter.row;
    row.domains = Domains::never;
    const auto value = read_choice(row, node, path, issues_);
    if (!value) return;
    const std::string shown = quote(tandem::text(*value));
    if (parameter.value && !same(*parameter.value, *value))
      issues_.add(node.at, path,
                  fmt::format("is {}, and {} is fixed to {}", shown, quote(parameter.row.name),
                              quote(tandem::text(*parameter.value))));
    else if (parameter.domain && !contains(*parameter.domain, *value))
      issues_.add(node.at, path,
                  fmt::format("is never {}: {} {}", shown, quote(parameter.row.name),
                              values_text(*parameter.domain)));
    else if (parameter.domain)
      point[parameter.row.name] = nearest(*parameter.domain, *value);
  }

  // What varies beside hyperparameters, as far as the table has read it: jobs, nodes and epochs.
  bool in_space(const std::string& name) const {
    const auto& known = job_.hyper.parameters;
    return std::any_of(known.begin(), known.end(), [&](const Parameter& p) { return p.name == name; });
  }

  void read_constraint(const Node& node, const std::string& path) {
    if (node.kind != Node::Kind::scalar || !meaning(node).value ||
        !std::holds_alternative<std::string>(*meaning(node).value))
      return;  // the table has refused it
    auto parsed = Expression::parse(node.text);
    if (const auto* problem = std::get_if<std::string>(&parsed)) {
      issues_.add(node.at, path, *problem);
      return;
    }
    auto& expression = std::get<Expression>(parsed);
    std::vector<std::string> unknown;
    for (const auto& name : expression.names())
      if (!index_.contains(name) && !is_system(name) && !in_space(name)) unknown.push_back(name);
    if (!unknown.empty() && names_are_known())
      issues_.add(
          node.at, path,
          printable(join(unknown), 200) +
              (unknown.size() == 1 ? " is neither a hyperparameter" : " are neither hyperparameters") +
              " nor cores, memory or speed" + suggestion(unknown[0], true) + "; words are written in quotes");
    job_.hyper.constraints.push_back(std::move(expression));
  }

  const ModelEntry* model_;
  TuneJob& job_;
  Issues& issues_;
  std::vector<Hyper> all_;
  std::map<std::string, std::size_t> index_;
  int suggestions_ = 50;
};

}  // namespace

void read_hyper_space(const Node* hyper, const Node* constraints, const Node* start,
                      const Catalogue& catalogue, TuneJob& job, Issues& issues) {
  SpaceReader reader(find(catalogue.models, job.base.program.model), job, issues);
  reader.read(hyper);
  reader.read_constraints(constraints);
  reader.read_start(start);
}

}  // namespace tandem::spec
