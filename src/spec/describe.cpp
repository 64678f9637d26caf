// What --help says of specs, from the same tables that read them.
#include <fmt/format.h>

#include "spec/field.h"
#include "spec/parse.h"
#include "spec/ready_clusters.h"

namespace tandem::spec {
namespace {

constexpr std::size_t kNarrow = 18, kWide = 38;  // columns of the longest key

// Type, range and default of a key, in one line.
std::string facts(const Field& field) {
  const std::string fallback = field.required           ? "required"
                               : field.fallback.empty() ? field.otherwise
                                                        : field.fallback;
  const bool plain_table = field.type == Type::table || field.type == Type::open_table;
  std::string out = plain_table ? "" : type_text(field);
  if (const auto range = range_text(field); !range.empty()) out += ", " + range;
  if (field.domains == Domains::few) out += ", or a domain";
  if (!fallback.empty())
    out += (out.empty() ? "" : "; ") + (field.required ? fallback : "default: " + fallback);
  return out;
}

void describe(const std::vector<Field>& fields, const std::string& path, std::size_t width,
              std::string& out) {
  for (const auto& field : fields) {
    if (!field.instead.empty()) continue;
    const std::string here = path.empty() ? field.name : path + "." + field.name;
    out += fmt::format("  {:<{}} {}\n", here, width, field.description);
    if (const auto line = facts(field); !line.empty()) out += fmt::format("  {:<{}}   {}\n", "", width, line);
    const char* item = field.type == Type::list ? "[]" : field.type == Type::named ? ".NAME" : "";
    describe(is_many(field) ? field.fields[0].fields : field.fields, here + item, width, out);
  }
}

// Names of models and datasets would make it long; `tandem data list` and the command's own help have them.
std::string describe_program(std::vector<Field> fields) {
  field_at(fields, "program.model").choices.reset();
  field_at(fields, "program.dataset").choices.reset();
  std::string out;
  describe(fields, "", kNarrow, out);
  return out;
}

std::string choices_text(const std::vector<ChoiceEntry>& entries) {
  std::string out;
  for (const auto& entry : entries) out += fmt::format("  {:<10} {}\n", entry.name, entry.description);
  return out;
}

}  // namespace

std::string describe_train() {
  return describe_program(train_fields({}));
}

std::string describe_tune() {
  return describe_program(tune_fields({})) + R"(
A domain is {choice: [32, 64]}, {range: [0, 0.5]}, {log: [0.001, 0.1]} or {int: [1, 8]}; for system parameters
choice, and int for cores. In hyper it may have a condition: {range: [0, 0.99], when: {optimizer: sgd}}.
)";
}

std::string describe_characterize() {
  return describe_program(characterize_fields({})) + R"(
A domain is {choice: [32, 64]}, {range: [0, 0.5]}, {log: [0.001, 0.1]} or {int: [1, 8]}; for epochs and system
parameters choice, and int for epochs and cores. What is not varied has its usual value.
)";
}

std::string describe_sim() {
  std::string out;
  describe(sim_fields({}), "", kWide, out);
  std::vector<ChoiceEntry> ready;
  for (const auto& cluster : ready_clusters()) ready.push_back({cluster.name, cluster.description});
  return out + "\nReady clusters:\n" + choices_text(ready) + "\nKinds of network:\n" +
         choices_text(network_kinds());
}

std::string example_train() {
  return R"(kind: train
program: {model: lenet5, dataset: digits}
hyper: {batch_size: 64, learning_rate: 0.05, epochs: 10}
system: {cores: 2, memory: 2GiB}
seed: 1
)";
}

std::string example_tune() {
  return R"(kind: tune
program: {model: lenet5, dataset: digits}
search: {algorithm: hyperband, max_epochs: 9}
hyper:
  batch_size: {choice: [32, 64, 256, 1024]}
  learning_rate: {log: [0.001, 0.1]}
  dropout: {range: [0, 0.5]}
system: {cores: {choice: [1, 2]}}
objective: {maximise: accuracy}
)";
}

std::string example_characterize() {
  return R"(kind: characterize
program: {model: lenet5, dataset: digits}
hyper:
  batch_size: {choice: [32, 64, 256]}
  learning_rate: {choice: [0.01, 0.05]}
  epochs: 2
system: {cores: {choice: [1, 2]}}
experiment: {design: full, replications: 2, jobs: [1, 2]}
)";
}

std::string example_sim() {
  return R"(kind: sim
cluster: kth
workloads:
  - {model: alexnet, batch: 64, iterations: 142}
  - {model: alexnet, batch: 64, iterations: 142, strategy: all-reduce, workers: 4}
)";
}

}  // namespace tandem::spec
