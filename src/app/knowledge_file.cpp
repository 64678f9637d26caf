#include "app/knowledge_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/random.h"

namespace tandem::app {
using nlohmann::json;
namespace {

constexpr std::uintmax_t kLargestImport = 64 << 20;

std::vector<KnownWorkload> read_file(const std::string& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) throw UserError("cannot read " + file + ": is it there, and may you read it?");
  if (size > kLargestImport) throw UserError(file + " is larger than 64 MiB: not what `--export` writes");
  const auto document = parse_json(in);
  const bool ours = document.is_object() && document.contains("works") && document.contains("tandem_knowledge") &&
                    document["tandem_knowledge"] == 1;
  if (!ours)
    throw UserError(file + " is not what `tandem knowledge --export` writes");
  std::vector<KnownWorkload> workloads;
  try {
    for (const auto& workload : document["works"]) workloads.push_back(known_workload_from_json(workload));
  } catch (const SystemError& e) {
    throw UserError(file + ": " + e.what());
  }
  return workloads;
}

}  // namespace

json knowledge_json(const std::vector<KnownWorkload>& workloads) {
  auto list = json::array();
  for (const auto& workload : workloads) list.push_back(to_json(workload));
  return {{"tandem_knowledge", 1}, {"works", list}};
}

std::size_t import_knowledge(store::Store& store, const std::string& file, Seconds now) {
  const auto workloads = read_file(file);
  for (const auto& workload : workloads)
    store.remember(fmt::format("import-{:016x}", hash_name(to_json(workload).dump())), {workload}, now);
  return workloads.size();
}

}  // namespace tandem::app
