// tandem knowledge: the ground truth of the system tuner, shown, exported, imported and forgotten
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/knowledge_file.h"
#include "app/output_file.h"
#include "cli/command.h"
#include "report/knowledge_table.h"

namespace tandem::cli {
namespace {

constexpr std::int64_t kEverything = 1'000'000'000;

struct KnowledgeOptions {
  StoreOption store;
  JsonOption json_result;
  std::string exported, imported;
  bool forget = false;
};

int knowledge(const KnowledgeOptions& options) {
  auto store = options.store.open();
  if (options.forget) std::cout << fmt::format("{} records forgotten\n", store.forget());
  if (!options.imported.empty())
    std::cout << fmt::format("{} records read from {}\n",
                             import_knowledge(store, options.imported, Seconds{static_cast<double>(::time(nullptr))}),
                             options.imported);
  const auto workloads = store.knowledge("", kEverything);
  if (!options.exported.empty()) {
    write_file(options.exported, knowledge_json(workloads).dump(1) + "\n");
    std::cout << fmt::format("{} records written to {}\n", workloads.size(), options.exported);
  }
  options.json_result.write(knowledge_json(workloads));
  const bool asked_to_show = !options.forget && options.imported.empty() && options.exported.empty();
  if (asked_to_show && !options.json_result.alone()) std::cout << knowledge_table(workloads);
  return kDone;
}

}  // namespace

void add_knowledge(CLI::App& app, Action& action) {
  auto options = std::make_shared<KnowledgeOptions>();
  CLI::App* command = add_command(
      app, "knowledge", "What tuning jobs learned about programs on this kind of machine",
      "  tandem knowledge\n  tandem knowledge --export known.json\n  tandem knowledge --import known.json\n\n"
      "It holds rates of counters, batch sizes and times; no names of models, data or users.");
  options->store.add_to(*command);
  options->json_result.add_to(*command);
  command->add_option("--export", options->exported, "write all of it to a file")->type_name("FILE");
  command->add_option("--import", options->imported, "add what another store exported")->type_name("FILE");
  command->add_flag("--forget", options->forget, "remove all of it");
  command->callback([options, &action] { action = [options] { return knowledge(*options); }; });
}

}  // namespace tandem::cli
