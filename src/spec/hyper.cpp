#include "spec/hyper.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"
#include "spec/checks.h"
#include "spec/domains.h"
#include "spec/hyper_row.h"

namespace tandem::spec {
namespace {

void check_name(const std::string& key, const Place& at, const std::string& path, Issues& issues) {
  const bool plain = std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.');
  });
  if (!plain || key.empty() || key.size() > 64)
    issues.add(at, path, "a name has 1 to 64 letters, digits and . _ -");
}

class EachHyper {
 public:
  EachHyper(const ModelEntry* model, Domains domains, Issues& issues,
            const std::function<void(const std::string&, const Entry&)>& found)
      : model_(model), domains_(domains), issues_(issues), found_(found) {}
  std::vector<std::string> groups;

  void visit(const Node& map, const std::string& prefix) {
    for (const auto& entry : map.entries) {
      const std::string name = prefix + entry.key;
      if (!is_group(model_, entry.value, domains_)) {
        if (seen_.insert(name).second)
          found_(name, entry);
        else
          issues_.add(entry.at, join_path("hyper", name), "is given twice, once as part of a group");
        continue;
      }
      groups.push_back(name);
      visit(entry.value, name + ".");
    }
  }

 private:
  const ModelEntry* model_;
  Domains domains_;
  Issues& issues_;
  const std::function<void(const std::string&, const Entry&)>& found_;
  std::set<std::string> seen_;
};

}  // namespace

bool is_group(const ModelEntry* model, const Node& node, Domains domains) {
  if (model != nullptr || node.kind != Node::Kind::map || node.entries.empty()) return false;
  const auto any = [&](auto is) { return std::any_of(node.entries.begin(), node.entries.end(), is); };
  const auto& forms = domain_forms();
  if (any([&](const Entry& entry) {
        return entry.key == "when" || std::find(forms.begin(), forms.end(), entry.key) != forms.end();
      }))
    return false;
  const auto of = [](Node::Kind kind) {
    return [kind](const Entry& entry) { return entry.value.kind == kind; };
  };
  return domains != Domains::all || any(of(Node::Kind::map)) || !any(of(Node::Kind::list));
}

std::vector<std::string> each_hyper(const ModelEntry* model, const Node& hyper, Domains domains,
                                    Issues& issues,
                                    const std::function<void(const std::string&, const Entry&)>& found) {
  EachHyper each(model, domains, issues, found);
  each.visit(hyper, "");
  return each.groups;
}

std::optional<Field> hyper_row(const ModelEntry* model, const std::string& name, const Place& at,
                               const std::string& path, Domains domains, Issues& issues) {
  if (model == nullptr) {  // what a command takes is its own business
    check_name(name, at, path, issues);
    return Field{.name = name, .type = Type::any, .domains = domains};
  }
  const auto* rule = find(model->hyper, name);
  if (rule != nullptr) return hyper_field(*rule, domains);
  std::vector<std::string> known;
  if (domains == Domains::in_tuning) known.emplace_back("epochs");
  for (const auto& other : model->hyper)
    if (other.name != "epochs") known.push_back(other.name);
  issues.add(at, path,
             fmt::format("model '{}' has no such hyperparameter; it has {}{}", model->name, join(known),
                         did_you_mean(name, known)));
  return std::nullopt;
}

Value fallback(const HyperRule& rule) {
  const auto* whole = std::get_if<std::int64_t>(&rule.fallback);
  if (rule.kind == HyperRule::Kind::real && whole != nullptr) return static_cast<double>(*whole);
  return rule.fallback;
}

void read_hyper(const Node* hyper, const Catalogue& catalogue, TrainJob& job, Issues& issues) {
  const auto* model = find(catalogue.models, job.program.model);
  if (model != nullptr)
    for (const auto& rule : model->hyper)
      if (rule.name != "epochs") job.hyper[rule.name] = fallback(rule);
  if (!is_map(hyper)) return;
  job.groups =
      each_hyper(model, *hyper, Domains::in_tuning, issues, [&](const std::string& name, const Entry& entry) {
        if (name == "epochs") return;
        const std::string path = join_path("hyper", name);
        const auto row = hyper_row(model, name, entry.at, path, Domains::in_tuning, issues);
        if (!row) return;
        if (entry.value.kind == Node::Kind::map) {  // a domain, which is refused
          read_value(*row, entry.value, path, issues);
        } else if (const auto found = read_choice(*row, entry.value, path, issues)) {
          job.hyper[name] = *found;
        }
      });
}

}  // namespace tandem::spec
