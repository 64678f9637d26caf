// tandem knowledge: the ground truth of the system tuner, shown, exported, imported and forgotten
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "cli/command.h"
#include "app/output_file.h"

namespace tandem::cli {
namespace {

using nlohmann::json;
constexpr std::uintmax_t kLargestImport = 64 << 20;
constexpr std::int64_t kEverything = 1'000'000'000;

struct KnowledgeOptions {
  StoreOption store;
  JsonOption json_result;
  std::string exported, imported;
  bool forget = false;
};

json all_json(const std::vector<KnownWorkload>& workloads) {
  auto list = json::array();
  for (const auto& workload : workloads) list.push_back(to_json(workload));
  return {{"tandem_knowledge", 1}, {"works", list}};
}

std::vector<KnownWorkload> read_file(const std::string& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) throw UserError("cannot read " + file + ": is it there, and may you read it?");
  if (size > kLargestImport) throw UserError(file + " is larger than 64 MiB: not what `--export` writes");
  const auto document = parse_json(in);
  if (document.is_discarded() || document.value("tandem_knowledge", 0) != 1 || !document.contains("works"))
    throw UserError(file + " is not what `tandem knowledge --export` writes");
  std::vector<KnownWorkload> workloads;
  try {
    for (const auto& workload : document["works"]) workloads.push_back(known_workload_from_json(workload));
  } catch (const SystemError& e) {
    throw UserError(file + ": " + e.what());
  }
  return workloads;
}

// Imports of the same file again add nothing: records are known by what is in them.
void import_file(store::Store& store, const std::string& file) {
  const auto workloads = read_file(file);
  const Seconds now{static_cast<double>(::time(nullptr))};
  for (const auto& workload : workloads)
    store.remember(fmt::format("import-{:016x}", hash_name(to_json(workload).dump())), {workload}, now);
  std::cout << fmt::format("{} records read from {}\n", workloads.size(), file);
}

std::string table(const std::vector<KnownWorkload>& workloads) {
  if (workloads.empty())
    return "nothing is known yet; tuning jobs learn as they run, and `tandem tune --warm SPEC` measures "
           "beforehand\n";
  std::string out = "   batch  reference        epochs  seconds an epoch by configuration\n";
  for (const auto& workload : workloads) {
    std::int64_t epochs = 0;
    std::string times;
    for (const auto& m : workload.measured) {
      epochs += m.epochs;
      times += fmt::format("{}{}: {:.3g}", times.empty() ? "" : ", ",
                           text(Resources{m.system.cores, 0, m.system.speed}), m.seconds);
    }
    out += fmt::format("{:>8}  {:<15}  {:>6}  {}\n", workload.batch, text(workload.reference), epochs, times);
  }
  return out;
}

int knowledge(const KnowledgeOptions& options) {
  auto store = options.store.open();
  if (options.forget) std::cout << fmt::format("{} records forgotten\n", store.forget());
  if (!options.imported.empty()) import_file(store, options.imported);
  const auto workloads = store.knowledge("", {}, kEverything);
  if (!options.exported.empty()) {
    write_file(options.exported, all_json(workloads).dump(1) + "\n");
    std::cout << fmt::format("{} records written to {}\n", workloads.size(), options.exported);
  }
  options.json_result.write(all_json(workloads));
  const bool asked_to_show = !options.forget && options.imported.empty() && options.exported.empty();
  if (asked_to_show && !options.json_result.alone()) std::cout << table(workloads);
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
