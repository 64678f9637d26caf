#include "spec/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "spec/checks.h"
#include "spec/document.h"
#include "spec/field.h"
#include "spec/hyper.h"
#include "spec/hyper_row.h"
#include "spec/placeholders.h"
#include "spec/reading.h"

namespace tandem::spec {
namespace {

constexpr std::size_t kMostGoalsWritten = 10;

// A model may have a rule of its own for epochs: its default, and a range inside the table's.
const HyperRule* apply_epochs_rule(const Node& root, const Catalogue& catalogue, Field& epochs) {
  const Node* program = root.find("program");
  const Node* written = program != nullptr ? program->find("model") : nullptr;
  const auto* model = written != nullptr ? find(catalogue.models, written->text) : nullptr;
  const auto* rule = model != nullptr ? find(model->hyper, "epochs") : nullptr;
  if (rule == nullptr) return nullptr;
  epochs.least = std::max(*epochs.least, rule->low);
  epochs.most = std::min(*epochs.most, rule->high);
  return rule;
}

TrainJob read_train(const Node& root, const Catalogue& catalogue, Issues& issues) {
  TuneJob draft;
  TrainJob& job = draft.base;
  auto fields = train_fields(catalogue);
  if (const auto* rule = apply_epochs_rule(root, catalogue, field_at(fields, "hyper.epochs")))
    job.epochs = std::get<std::int64_t>(rule->fallback);
  read_table(fields, false, root, "", &draft, issues);
  check_program(root.find("program"), job.program, catalogue, issues);
  read_hyper(root.find("hyper"), catalogue, job, issues);
  check_energy(root.find("energy"), job.energy, issues);
  check_plain(root, job, issues);
  check_place(root.find("place"), job.place, job.system, issues);
  check_gpus(root.find("system"), job.system.gpus, issues);
  check_adapted(root.find("program"), draft, false, issues);
  if (job.name.empty() && issues.empty()) job.name = default_name(job.program);
  return job;
}

// Weights that add up to 1, and cost among the goals.
void check_cost(const Node* node, Objective& objective, Issues& issues) {
  if (!is_map(node)) return;
  auto& cost = objective.cost;
  const double sum = cost ? cost->energy + cost->time : 0;
  if (!(sum > 0)) {
    if (cost || node->entries.empty())  // else what stands there was refused already
      issues.add(node->at, "objective.cost", "one weight must be above 0, such as {energy: 0.5, time: 0.5}");
    return;
  }
  *cost = {cost->energy / sum, cost->time / sum};
  const auto is_cost = [](const Goal& goal) { return goal.metric == kCost; };
  if (std::none_of(objective.goals.begin(), objective.goals.end(), is_cost))
    objective.goals.push_back({kCost, false});
}

// Each metric once, and what Tandem measures only downwards.
void check_objective(const Node* node, Objective& objective, Issues& issues) {
  if (node == nullptr) {
    objective.goals = Objective{}.goals;
    return;
  }
  if (!is_map(node)) return;
  std::set<std::string> seen;
  const Node* cost = node->find(kCost);
  const auto check = [&](const Node& metric, const std::string& path, bool maximise) {
    if (metric.kind != Node::Kind::scalar) return;
    if (metric.text.empty()) issues.add(metric.at, path, "must name a metric");
    if (maximise &&
        (metric.text == "train_time" || metric.text == "energy" || (cost != nullptr && metric.text == kCost)))
      issues.add(metric.at, path, metric.text + " can only be minimised");
    if (!seen.insert(metric.text).second)
      issues.add(metric.at, path, quote(metric.text) + " is a goal already; each metric is given once");
  };
  std::size_t written = 0;
  for (const std::string_view key : {"maximise", "maximize", "minimise", "minimize"}) {
    const Node* metrics = node->find(key);
    if (metrics == nullptr) continue;
    const std::string path = join_path("objective", key);
    if (metrics->kind != Node::Kind::list) check(*metrics, path, key.starts_with("max"));
    for (std::size_t i = 0; i < metrics->items.size(); ++i)
      check(metrics->items[i], fmt::format("{}[{}]", path, i), key.starts_with("max"));
    written += metrics->kind == Node::Kind::list ? metrics->items.size() : 1;
  }
  check_cost(cost, objective, issues);
  if (cost != nullptr && !seen.contains(kCost)) ++written;
  if (written == 0 || written > kMostGoalsWritten)
    issues.add(node->at, "objective",
               written == 0
                   ? "say what is best, such as {maximise: accuracy}"
                   : fmt::format("has {} goals; at most {} are allowed", written, kMostGoalsWritten));
  // The main goal is the first to maximise, whichever key was written first.
  std::stable_partition(objective.goals.begin(), objective.goals.end(),
                        [](const Goal& goal) { return goal.maximise; });
}

// Somebody tried to give a domain; if that went wrong, it has been reported.
bool tries_domains(const Node* table) {
  return table != nullptr &&
         (!is_map(table) || std::any_of(table->entries.begin(), table->entries.end(), [](const Entry& entry) {
           return entry.value.kind == Node::Kind::map || entry.value.kind == Node::Kind::broken;
         }));
}

bool varies_anything(const TuneJob& job) {
  const auto& parameters = job.hyper.parameters;
  return varies(job.system) ||
         std::any_of(parameters.begin(), parameters.end(), [](const Parameter& parameter) {
           return parameter.domain.kind != Domain::Kind::choice || parameter.domain.choices.size() > 1;
         });
}

void check_varies(const Node& root, const TuneJob& job, Issues& issues) {
  const Node* hyper = root.find("hyper");
  const bool tried = tries_domains(hyper) || tries_domains(root.find("system"));
  if (varies_anything(job) || (tried && !issues.empty())) return;
  issues.add(
      hyper != nullptr ? hyper->at : root.at, "hyper",
      "nothing varies: give a hyperparameter or a system parameter a domain, such as {choice: [32, 64]}; "
      "one configuration is for `tandem train`");
}

// A grid has an order of its own, and what is not tried was written for nothing.
void check_start(const Node* node, const SearchSpec& search, Issues& issues) {
  if (node == nullptr) return;
  if (search.algorithm == "grid")
    issues.add(node->at, "start",
               "is of no use to a grid, which tries every combination: leave one of the two out");
  if (search.trials && node->items.size() > static_cast<std::size_t>(*search.trials))
    issues.add(node->at, "start",
               fmt::format("has {} points, and search.trials is {}", node->items.size(), *search.trials));
}

TuneJob read_tune(const Node& root, const Catalogue& catalogue, Issues& issues) {
  TuneJob job;
  job.objective.goals.clear();
  auto fields = tune_fields(catalogue);
  Field& epochs = field_at(fields, "search.max_epochs");
  if (const auto* rule = apply_epochs_rule(root, catalogue, epochs)) {
    const auto most = static_cast<std::int64_t>(*epochs.most),
               least = static_cast<std::int64_t>(*epochs.least);
    const bool fits = job.search.max_epochs >= least && job.search.max_epochs <= most;
    if (!fits) job.search.max_epochs = std::get<std::int64_t>(rule->fallback);
  }
  read_table(fields, false, root, "", &job, issues);
  check_program(root.find("program"), job.base.program, catalogue, issues);
  read_hyper_space(root.find("hyper"), root.find("constraints"), root.find("start"), catalogue, job, issues);
  check_objective(root.find("objective"), job.objective, issues);
  check_adapted(root.find("program"), job, true, issues);
  check_energy(root.find("energy"), job.base.energy, issues);
  check_place(root.find("place"), job.base.place, {.gpus = job.system.gpus}, issues);
  sort_choices(job.system);
  check_gpus(root.find("system"), job.system.gpus, issues);
  if (const Node* budget = root.find("budget"); is_map(budget) && budget->find("cost") && !job.objective.cost)
    issues.add(budget->find("cost")->at, "budget.cost",
               "needs weights: objective: {cost: {energy: 0.5, time: 0.5}}");
  if (is_map(&root)) check_varies(root, job, issues);
  check_start(root.find("start"), job.search, issues);
  job.base.epochs = job.search.max_epochs;
  job.base.seed = job.search.seed;
  if (job.base.name.empty() && issues.empty()) job.base.name = default_name(job.base.program);
  return job;
}

// One name cannot mean two things in an experiment, and a factor exists at every point.
void check_factors(const Node* hyper, Issues& issues) {
  if (!is_map(hyper)) return;
  for (const auto& entry : hyper->entries) {
    const std::string path = join_path("hyper", entry.key);
    if (entry.key == kJobs || entry.key == kNodes)
      issues.add(entry.at, path,
                 fmt::format("means the {0} of a point in an experiment: write experiment.{0}, "
                             "or call the hyperparameter something else",
                             entry.key));
    if (const Node* when = entry.value.find("when"))
      issues.add(when->at, path,
                 "has a condition (when), and an experiment's factors vary at every point; "
                 "leave the condition out, or characterize each case by itself");
  }
}

// What is usual of a hyperparameter that varies is the model's default, where the domain has it.
void add_usual(const Catalogue& catalogue, TuneJob& job) {
  const auto* model = find(catalogue.models, job.base.program.model);
  if (model == nullptr) return;
  for (const auto& parameter : job.hyper.parameters)
    if (const auto* rule = find(model->hyper, parameter.name); rule && parameter.name != "epochs")
      if (const Value usual = fallback(*rule); contains(parameter.domain, canonical(usual)))
        job.base.hyper[parameter.name] = usual;
}

// One number of epochs is fixed; several are a factor.
void settle_epochs(TuneJob& job) {
  auto& all = job.hyper.parameters;
  const auto epochs =
      std::find_if(all.begin(), all.end(), [](const Parameter& p) { return p.name == "epochs"; });
  if (epochs == all.end() || epochs->domain.choices.size() != 1) return;
  job.base.epochs = std::get<std::int64_t>(epochs->domain.choices.front());
  all.erase(epochs);
}

Experiment read_characterize(const Node& root, const Catalogue& catalogue, Issues& issues) {
  ExperimentDraft draft;
  TuneJob& job = draft;  // what the rows of a tuning spec store into
  auto fields = characterize_fields(catalogue);
  if (const auto* rule = apply_epochs_rule(root, catalogue, field_at(fields, "hyper.epochs")))
    job.base.epochs = std::get<std::int64_t>(rule->fallback);
  read_table(fields, false, root, "", &job, issues);
  check_program(root.find("program"), job.base.program, catalogue, issues);
  check_factors(root.find("hyper"), issues);
  read_hyper_space(root.find("hyper"), root.find("constraints"), nullptr, catalogue, job, issues);
  check_energy(root.find("energy"), job.base.energy, issues);
  check_place(root.find("place"), job.base.place, {.gpus = job.system.gpus}, issues);
  sort_choices(job.system);
  check_gpus(root.find("system"), job.system.gpus, issues);
  if (is_map(&root)) check_varies(root, job, issues);
  check_adapted(root.find("program"), job, false, issues);
  settle_epochs(job);
  add_usual(catalogue, job);
  job.base.seed = draft.experiment.seed;
  if (job.base.name.empty() && issues.empty()) job.base.name = default_name(job.base.program);
  Experiment out = std::move(draft.experiment);
  out.base = std::move(job.base);
  out.factors = std::move(job.hyper);
  out.system = std::move(job.system);
  return out;
}

template <class Result, class Reader>
Result parse_spec(std::string_view text, const std::string& file_name, const Catalogue& catalogue,
                  const std::string& kind, Reader reader) {
  Issues issues(file_name);
  Result result;
  if (const auto root = read_kind(text, kind, issues)) result.job = reader(*root, catalogue, issues);
  if (!issues.empty()) result.job.reset();
  result.issues = issues.in_order();
  return result;
}

template <class Result>
auto require(Result result) {
  if (!result.job) refuse(result.issues);
  return *std::move(result.job);
}

}  // namespace

std::int64_t given_for(const std::string& kind, const std::string& key, const std::string& option,
                       std::int64_t value) {
  auto fields = kind == "tune"           ? tune_fields({})
                : kind == "characterize" ? characterize_fields({})
                                         : train_fields({});
  const Field& field = field_at(fields, key);
  if (in_range(field, static_cast<double>(value))) return value;
  throw UserError(fmt::format("{}: must be {}, not '{}'", option, range_text(field), value));
}

std::string kind_of(std::string_view text) {
  Issues issues("");
  const auto root = read_document(text, issues);
  const Node* kind = root ? root->find("kind") : nullptr;
  return kind != nullptr && kind->kind == Node::Kind::scalar ? kind->text : "";
}

TrainResult parse_train(std::string_view text, const std::string& file_name, const Catalogue& catalogue) {
  return parse_spec<TrainResult>(text, file_name, catalogue, "train", read_train);
}

TuneResult parse_tune(std::string_view text, const std::string& file_name, const Catalogue& catalogue) {
  return parse_spec<TuneResult>(text, file_name, catalogue, "tune", read_tune);
}

ExperimentResult parse_characterize(std::string_view text, const std::string& file_name,
                                    const Catalogue& catalogue) {
  const std::string kind = kind_of(text) == "train" ? "train" : "characterize";
  return parse_spec<ExperimentResult>(text, file_name, catalogue, kind, read_characterize);
}

TrainJob require_train(std::string_view text, const std::string& file_name, const Catalogue& catalogue) {
  return require(parse_train(text, file_name, catalogue));
}

TuneJob require_tune(std::string_view text, const std::string& file_name, const Catalogue& catalogue) {
  return require(parse_tune(text, file_name, catalogue));
}

Experiment require_characterize(std::string_view text, const std::string& file_name,
                                const Catalogue& catalogue) {
  return require(parse_characterize(text, file_name, catalogue));
}

TrainJob load_train(const std::filesystem::path& path, const Catalogue& catalogue) {
  return require_train(read_file(path), path.string(), catalogue);
}

TuneJob load_tune(const std::filesystem::path& path, const Catalogue& catalogue) {
  return require_tune(read_file(path), path.string(), catalogue);
}

Experiment load_characterize(const std::filesystem::path& path, const Catalogue& catalogue) {
  return require_characterize(read_file(path), path.string(), catalogue);
}

}  // namespace tandem::spec
