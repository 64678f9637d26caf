#include "spec/checks.h"

#include <fmt/format.h>

#include <cctype>
#include <set>

#include "base/text.h"

namespace tandem::spec {
namespace {

std::vector<std::string> datasets_of(const Catalogue& catalogue, const std::string& kind) {
  std::vector<std::string> out;
  for (const auto& dataset : catalogue.datasets)
    if (dataset.kind == kind) out.push_back(dataset.name);
  return out;
}

bool is_interpreter(const std::string& program) {
  const auto name = program.substr(program.find_last_of('/') + 1);
  const std::set<std::string> shells{"bash", "sh", "dash", "zsh", "perl", "ruby", "node", "Rscript", "torchrun"};
  return name.starts_with("python") || shells.contains(name);
}

// Of an interpreter's command the script or module: "train" of `python3 -u train.py --lr 1`.
std::string script_of(const std::vector<std::string>& command) {
  if (!is_interpreter(command[0])) return command[0];
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (command[i] == "-c") break;  // the next is its text
    if (command[i] == "-m") return i + 1 < command.size() ? command[i + 1] : command[0];
    if (command[i].empty() || command[i][0] == '-') continue;
    const auto dot = command[i].find_last_of("./");
    return dot == std::string::npos || command[i][dot] == '/' ? command[i] : command[i].substr(0, dot);
  }
  return command[0];
}

}  // namespace

void check_program(const Node* node, const Program& program, const Catalogue& catalogue, Issues& issues) {
  if (!is_map(node)) return;
  const Node* model = node->find("model");
  const Node* dataset = node->find("dataset");
  const bool command = node->find("command") != nullptr;
  if (command && (model != nullptr || dataset != nullptr)) {
    issues.add(node->at, "program", "give either model and dataset, or command, not both");
  } else if (!command && model == nullptr && dataset == nullptr) {
    issues.add(node->at, "program", "say what to run: {model: ..., dataset: ...} or {command: [...]}");
  } else if (!command && model == nullptr) {
    issues.add(node->at, "program.model", "is required beside dataset");
  }
  if (const Node* preload = node->find("preload")) {
    const auto& words = program.preload;
    const bool stands_alone = std::count(words.begin(), words.end(), "auto") + std::count(words.begin(), words.end(), "off") > 0;
    if (!command && words != Program{}.preload)
      issues.add(preload->at, "program.preload", "is of a command: a model is run by the trainer, which imports nothing");
    else if (words.empty() || (stands_alone && words.size() > 1))
      issues.add(preload->at, "program.preload", "give auto, off, or a list of modules such as [torch, numpy]");
  }
  const auto* model_entry = find(catalogue.models, program.model);
  if (model_entry == nullptr || command) return;
  const std::string fitting = join(datasets_of(catalogue, model_entry->input));
  const auto* dataset_entry = find(catalogue.datasets, program.dataset);
  if (dataset == nullptr) {
    issues.add(node->at, "program.dataset", "is required beside model: one of " + fitting);
  } else if (dataset_entry != nullptr && dataset_entry->kind != model_entry->input) {
    issues.add(dataset->at, "program.dataset",
               fmt::format("'{}' is {} data, but model '{}' learns from {} data: choose one of {}",
                           dataset_entry->name, dataset_entry->kind, model_entry->name, model_entry->input,
                           fitting));
  }
}

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

void check_plain(const Node& root, TrainJob& job, Issues& issues) {
  if (!job.program.plain) return;
  const Node* hyper = root.find("hyper");
  const Node* epochs = is_map(hyper) ? hyper->find("epochs") : nullptr;
  if (epochs != nullptr)
    issues.add(epochs->at, "hyper.epochs", "a plain program reports no epochs: leave one of the two out");
  if (job.program.built_in())
    issues.add(root.find("program")->at, "program.plain", "goes with a command, not with a model");
  job.epochs = 0;
}

void check_place(const Node* node, const PlaceSpec& place, const Resources& system, Issues& issues) {
  if (!is_map(node)) return;
  if (const Node* accelerator = node->find("accelerator"); accelerator != nullptr && system.gpus == 0)
    issues.add(accelerator->at, "place.accelerator", "is the type of GPUs: ask for some with system.gpus");
  const Node* work = node->find("work");
  if (work != nullptr && place.family.empty())
    issues.add(work->at, "place.work", "means something beside a family only: give place.family too");
}

void check_gpus(const Node* node, int gpus, Issues& issues) {
  if (!is_map(node)) return;
  const Node* shared = node->find("gpu_memory");
  for (const char* key : {"gpu_memory", "gpu_power", "gpu_clock"}) {
    const Node* written = node->find(key);
    if (written == nullptr) continue;
    const std::string path = join_path("system", key);
    if (gpus == 0) issues.add(written->at, path, "is of GPUs: ask for some with system.gpus");
    if (shared != nullptr && written != shared && written->kind == Node::Kind::map)
      issues.add(written->at, path,
                 "cannot vary where GPUs are shared (gpu_memory): a GPU has one setting for all on it; "
                 "give one value, or leave gpu_memory out");
  }
}

std::string default_name(const Program& program) {
  if (program.built_in()) return program.model + "-" + program.dataset;
  for (const auto& from : {script_of(program.command), program.command[0]})
    if (auto name = file_name_as_name(from); !name.empty()) return name;
  return "command";
}

std::string file_name_as_name(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1).substr(0, 64);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '-';
  return name.empty() || name[0] == '.' || name[0] == '-' ? "" : name;
}

}  // namespace tandem::spec
