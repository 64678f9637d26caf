#include "spec/any_job.h"

#include <array>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "spec/checks.h"
#include "spec/into.h"
#include "spec/journalled.h"

namespace tandem::spec {
namespace {

using namespace journalled;

CustomJob custom_from_json(const json& from) {
  if (!from.contains("base") || !from.contains("body")) damaged("it has no base, or nothing beside it");
  return {from["kind"].get<std::string>(), train_job_from_json(from["base"]), from["body"].dump()};
}

}  // namespace

const std::string& kind_of(const Job& job) {
  static const std::array<std::string, 3> kNames{"train", "tune", "characterize"};
  const auto* custom = std::get_if<CustomJob>(&job);
  return custom != nullptr ? custom->kind : kNames[job.index()];
}

std::string checked_name(const std::string& name) {
  if (name.size() <= kLongestName && !name.empty() && file_name_as_name(name) == name) return name;
  throw UserError("'" + printable_line(name, kLongestName) + "' cannot be a name: it needs " + kNameShape);
}

nlohmann::json to_json(const CustomJob& job) {
  return {{"kind", job.kind}, {"base", to_json(job.base)}, {"body", parse_json(job.body)}};
}

nlohmann::json to_json(const Job& job) {
  return std::visit([](const auto& one) { return to_json(one); }, job);
}

Job job_from_json(const nlohmann::json& from) {
  if (!from.is_object() || !from.contains("kind") || !from["kind"].is_string()) damaged("it has no kind");
  if (from["kind"] == "train") return train_job_from_json(from);
  if (is_experiment_json(from)) return experiment_from_json(from);
  if (from["kind"] == "tune") return tune_job_from_json(from);
  try {
    return custom_from_json(from);
  } catch (const json::exception& error) {
    damaged(error.what());
  }
}

}  // namespace tandem::spec
