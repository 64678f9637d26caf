// tandem knowledge: the ground truth of the system tuner, shown, exported, imported and forgotten
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/knowledge_file.h"
#include "app/output_file.h"
#include "base/counted.h"
#include "cli/command.h"
#include "report/knowledge_table.h"

namespace tandem::cli {
namespace {

constexpr std::int64_t kEverything = 1'000'000'000;

struct KnowledgeOptions {
  StoreOption store;
  JsonOption json;
  std::string exported, imported;
  bool forget = false;
};

int knowledge(const KnowledgeOptions& options) {
  auto store = options.store.open();
  const auto say = [&](std::size_t count, const std::string& what) {
    options.json.say(fmt::format("{} {}\n", counted(count, "record"), what));
  };
  if (options.forget) say(static_cast<std::size_t>(store.forget()), "forgotten");
  if (!options.imported.empty()) {
    const Seconds now{static_cast<double>(::time(nullptr))};
    say(import_knowledge(store, options.imported, now), "read from " + options.imported);
  }
  const auto workloads = store.knowledge("", {}, kEverything);
  if (!options.exported.empty()) {
    write_file(options.exported, knowledge_json(workloads).dump(1) + "\n");
    say(workloads.size(), "written to " + options.exported);
  }
  options.json.write(knowledge_json(workloads));
  const bool asked_to_show = !options.forget && options.imported.empty() && options.exported.empty();
  if (asked_to_show) options.json.say(knowledge_table(workloads));
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
  options->json.add_to(*command);
  command->add_option("--export", options->exported, "write all of it to a file")->type_name("FILE");
  command->add_option("--import", options->imported, "add what another store exported")->type_name("FILE");
  command->add_flag("--forget", options->forget, "remove all of it");
  command->callback([options, &action] { action = [options] { return knowledge(*options); }; });
}

}  // namespace tandem::cli
