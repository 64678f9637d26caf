#include "spec/hyper.h"

#include <fmt/format.h>

#include <cctype>

#include "base/text.h"
#include "spec/checks.h"
#include "spec/hyper_row.h"

namespace tandem::spec {
namespace {

void check_name(const Entry& entry, const std::string& path, Issues& issues) {
  const auto& key = entry.key;
  const bool plain = std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.');
  });
  if (!plain || key.empty() || key.size() > 64)
    issues.add(entry.at, path, "a name has 1 to 64 letters, digits and . _ -");
}

}  // namespace

std::optional<Field> hyper_row(const ModelEntry* model, const Entry& entry, const std::string& path,
                               Domains domains, Issues& issues) {
  if (model == nullptr) {  // what a command takes is its own business
    check_name(entry, path, issues);
    return Field{.name = entry.key, .type = Type::any, .domains = domains};
  }
  const auto* rule = find(model->hyper, entry.key);
  if (rule != nullptr) return hyper_field(*rule, domains);
  std::vector<std::string> known;
  if (domains == Domains::in_tuning) known.emplace_back("epochs");
  for (const auto& other : model->hyper)
    if (other.name != "epochs") known.push_back(other.name);
  issues.add(entry.at, path,
             fmt::format("model '{}' has no such hyperparameter; it has {}{}", model->name, join(known),
                         did_you_mean(entry.key, known)));
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
  for (const auto& entry : hyper->entries) {
    if (entry.key == "epochs") continue;
    const std::string path = join_path("hyper", entry.key);
    const auto row = hyper_row(model, entry, path, Domains::in_tuning, issues);
    const auto found = row ? read_value(*row, entry.value, path, issues) : std::nullopt;
    if (found) job.hyper[entry.key] = to_value(*found);
  }
}

}  // namespace tandem::spec
