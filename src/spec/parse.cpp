#include "spec/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "spec/document.h"
#include "spec/field.h"

namespace tandem::spec {
namespace {

constexpr std::size_t kMostShown = 100;

template <class Entry>
const Entry* find(const std::vector<Entry>& entries, const std::string& name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<std::string> datasets_of(const Catalogue& catalogue, const std::string& kind) {
  std::vector<std::string> out;
  for (const auto& dataset : catalogue.datasets)
    if (dataset.kind == kind) out.push_back(dataset.name);
  return out;
}

bool is_map(const Node* node) {
  return node != nullptr && node->kind == Node::Kind::map;
}

// Exactly one of the two forms, and a model with a dataset it can learn from.
void check_program(const Node* program, const TrainJob& job, const Catalogue& catalogue, Issues& issues) {
  if (!is_map(program)) return;
  const Node* model = program->find("model");
  const Node* dataset = program->find("dataset");
  const bool command = program->find("command") != nullptr;
  if (command && (model != nullptr || dataset != nullptr)) {
    issues.add(program->at, "program", "give either model and dataset, or command, not both");
  } else if (!command && model == nullptr && dataset == nullptr) {
    issues.add(program->at, "program", "say what to run: {model: ..., dataset: ...} or {command: [...]}");
  } else if (!command && model == nullptr) {
    issues.add(program->at, "program.model", "is required beside dataset");
  }
  const auto* model_entry = find(catalogue.models, job.program.model);
  if (model_entry == nullptr || command) return;
  const std::string fitting = join(datasets_of(catalogue, model_entry->input));
  const auto* dataset_entry = find(catalogue.datasets, job.program.dataset);
  if (dataset == nullptr) {
    issues.add(program->at, "program.dataset", "is required beside model: one of " + fitting);
  } else if (dataset_entry != nullptr && dataset_entry->kind != model_entry->input) {
    issues.add(dataset->at, "program.dataset",
               fmt::format("'{}' is {} data, but model '{}' learns from {} data: choose one of {}",
                           dataset_entry->name, dataset_entry->kind, model_entry->name, model_entry->input,
                           fitting));
  }
}

Value to_value(const Found& found) {
  if (const auto* flag = std::get_if<bool>(&found)) return *flag;
  if (const auto* whole = std::get_if<std::int64_t>(&found)) return *whole;
  if (const auto* real = std::get_if<double>(&found)) return *real;
  return std::get<std::string>(found);
}

// A catalogue may say 1 for a real number; a job always holds it as one.
Value fallback(const HyperRule& rule) {
  const auto* whole = std::get_if<std::int64_t>(&rule.fallback);
  if (rule.kind == HyperRule::Kind::real && whole != nullptr) return static_cast<double>(*whole);
  return rule.fallback;
}

// What a command takes is its own business: any scalar under any plain name.
void read_free_hyper(const Entry& entry, const std::string& path, TrainJob& job, Issues& issues) {
  const auto& [key, at, node] = entry;
  const bool plain = std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.');
  });
  if (!plain || key.empty() || key.size() > 64)
    issues.add(at, path, "a name has 1 to 64 letters, digits and . _ -");
  if (node.kind == Node::Kind::broken || refuse_domain(node, path, issues)) return;
  if (node.kind != Node::Kind::scalar) {
    issues.add(node.at, path, "must be one value: true or false, a number or a word");
  } else if (auto means = meaning(node); means.value) {
    job.hyper[key] = *means.value;
  } else {
    issues.add(node.at, path, means.problem + ": " + quote(node.text));
  }
}

void read_model_hyper(const ModelEntry& model, const Entry& entry, const std::string& path, TrainJob& job,
                      Issues& issues) {
  const auto* rule = find(model.hyper, entry.key);
  if (rule != nullptr) {
    if (const auto found = read_value(hyper_field(*rule), entry.value, path, issues))
      job.hyper[entry.key] = to_value(*found);
    return;
  }
  std::vector<std::string> known{"epochs"};
  for (const auto& other : model.hyper)
    if (other.name != known[0]) known.push_back(other.name);
  issues.add(entry.at, path,
             fmt::format("model '{}' has no such hyperparameter; it has {}{}", model.name, join(known),
                         did_you_mean(entry.key, known)));
}

// Everything in `hyper` but epochs, which the table has read.
void read_hyper(const Node* hyper, const Catalogue& catalogue, TrainJob& job, Issues& issues) {
  const auto* model = find(catalogue.models, job.program.model);
  if (model != nullptr)
    for (const auto& rule : model->hyper)
      if (rule.name != "epochs") job.hyper[rule.name] = fallback(rule);
  if (!is_map(hyper)) return;
  for (const auto& entry : hyper->entries) {
    if (entry.key == "epochs") continue;
    const std::string path = join_path("hyper", entry.key);
    if (model != nullptr)
      read_model_hyper(*model, entry, path, job, issues);
    else
      read_free_hyper(entry, path, job, issues);
  }
}

// A model may have a rule of its own for epochs: its default, and a range inside the table's.
void apply_epochs_rule(const Node& root, const Catalogue& catalogue, std::vector<Field>& fields,
                       TrainJob& job) {
  const Node* program = root.find("program");
  const Node* written = program != nullptr ? program->find("model") : nullptr;
  const auto* model = written != nullptr ? find(catalogue.models, written->text) : nullptr;
  const auto* rule = model != nullptr ? find(model->hyper, "epochs") : nullptr;
  if (rule == nullptr) return;
  Field& epochs = field_at(fields, "hyper.epochs");
  epochs.least = std::max(*epochs.least, rule->low);
  epochs.most = std::min(*epochs.most, rule->high);
  job.epochs = std::get<std::int64_t>(rule->fallback);
}

// What the table cannot say of one key alone.
void check_energy(const Node* node, const EnergySpec& energy, Issues& issues) {
  if (!is_map(node)) return;
  const Node* url = node->find("url");
  const Node* idle = node->find("idle");
  const Node* busy = node->find("busy");
  const bool automatic = energy.source == "auto";
  if (energy.source == "pdu" && url == nullptr)
    issues.add(node->at, "energy.url", "is required with source: pdu, such as http://127.0.0.1:8080/power");
  if (url != nullptr && energy.source != "pdu" && !automatic)
    issues.add(url->at, "energy.url", "is used with source: pdu or auto only, not " + energy.source);
  for (const auto& [name, watts] : {std::pair("energy.idle", idle), std::pair("energy.busy", busy)})
    if (watts != nullptr && energy.source != "model" && !automatic)
      issues.add(watts->at, name, "is used with source: model or auto only, not " + energy.source);
  if ((idle == nullptr) != (busy == nullptr))
    issues.add((idle != nullptr ? idle : busy)->at, "energy",
               "idle and busy go together: give both or neither");
  if (energy.idle && energy.busy && *energy.idle >= *energy.busy)
    issues.add(
        idle->at, "energy.idle",
        fmt::format("must be below busy, but {} is not below {}", text(*energy.idle), text(*energy.busy)));
}

// "lenet5-digits", or the command's base name with what a name may not hold turned into '-'.
std::string default_name(const Program& program) {
  if (program.built_in()) return program.model + "-" + program.dataset;
  const auto& path = program.command[0];
  std::string name = path.substr(path.find_last_of('/') + 1).substr(0, 64);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '-';
  return name.empty() || name[0] == '.' || name[0] == '-' ? "command" : name;
}

// A document of another kind would only collect noise if it were read as a training spec.
bool other_kind(const Node& root, Issues& issues) {
  const Node* kind = root.find("kind");
  if (kind == nullptr || kind->kind != Node::Kind::scalar || kind->text == "train") return false;
  issues.add(kind->at, "kind",
             quote(kind->text) + " is not a kind this version of Tandem can run; known kinds: train" +
                 did_you_mean(kind->text, {"train"}));
  return true;
}

TrainJob read_job(const Node& root, const Catalogue& catalogue, Issues& issues) {
  TrainJob job;
  auto fields = train_fields(catalogue);
  apply_epochs_rule(root, catalogue, fields, job);
  read_table(fields, false, root, "", job, issues);
  check_program(root.find("program"), job, catalogue, issues);
  read_hyper(root.find("hyper"), catalogue, job, issues);
  check_energy(root.find("energy"), job.energy, issues);
  if (job.name.empty() && issues.empty()) job.name = default_name(job.program);
  return job;
}

}  // namespace

TrainResult parse_train(std::string_view text, const std::string& file_name, const Catalogue& catalogue) {
  Issues issues(file_name);
  const auto root = read_document(text, issues);
  std::optional<TrainJob> job;
  if (root && !other_kind(*root, issues)) job = read_job(*root, catalogue, issues);
  if (!issues.empty()) job.reset();
  return {std::move(job), issues.in_order()};
}

TrainJob require_train(std::string_view text_, const std::string& file_name, const Catalogue& catalogue) {
  auto [job, issues] = parse_train(text_, file_name, catalogue);
  if (job) return *job;
  std::vector<std::string> lines;
  for (const auto& issue : issues) {
    if (lines.size() == kMostShown) {
      lines.push_back(fmt::format("... and {} more", issues.size() - kMostShown));
      break;
    }
    lines.push_back(text(issue));
  }
  throw UserError(join(lines, "\n"));
}

TrainJob load_train(const std::filesystem::path& path, const Catalogue& catalogue) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw UserError(path.string() + " is a folder; give a spec file (YAML)");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw UserError("cannot read the spec file " + path.string() + ": is it there, and may you read it?");
  std::string content(kLargestDocument + 1, '\0');  // one more, so that a longer file is noticed
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (file.bad()) throw SystemError("reading " + path.string() + " failed");
  content.resize(static_cast<std::size_t>(file.gcount()));
  return require_train(content, path.string(), catalogue);
}

}  // namespace tandem::spec
