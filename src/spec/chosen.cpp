#include "spec/chosen.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "spec/document.h"

namespace tandem::spec {
namespace {

using nlohmann::json;

// A plain scalar keeps its meaning: 64 is a number, and "64" was a word.
json written_node(const Node& node) {
  json out;
  switch (node.kind) {
    case Node::Kind::scalar: {
      const auto value = meaning(node).value;
      return value ? tandem::to_json(Values{{"it", *value}}).at("it") : json(node.text);
    }
    case Node::Kind::list:
      out = json::array();
      for (const auto& item : node.items) out.push_back(written_node(item));
      return out;
    case Node::Kind::map:
      out = json::object();
      for (const auto& entry : node.entries) out[entry.key] = written_node(entry.value);
      return out;
    default:
      return out;
  }
}

bool is_open(const Node& node) {
  return node.kind == Node::Kind::map || node.kind == Node::Kind::list;
}

json system_of(const Node& system, const TrainJob& chosen) {
  const std::map<std::string, json> values{{"cores", chosen.system.cores},
                                           {"memory", fmt::format("{}B", chosen.system.memory)},
                                           {"speed", chosen.system.speed},
                                           {"nodes", chosen.nodes}};
  json out = json::object();
  for (const auto& entry : system.entries)
    out[entry.key] = is_open(entry.value) ? values.at(entry.key) : written_node(entry.value);
  return out;
}

}  // namespace

std::string with_choices(std::string_view text, const TrainJob& chosen) {
  Issues issues("spec");
  const auto root = read_document(text, issues);
  if (!root) throw UserError("a spec that was good cannot be read again");
  json out = json::object();
  for (const auto& entry : root->entries) {
    if (entry.key == "constraints" || entry.key == "experiment") continue;
    out[entry.key] = entry.key == "system" ? system_of(entry.value, chosen) : written_node(entry.value);
  }
  out["kind"] = "train";
  out["seed"] = chosen.seed;  // of an experiment's settings
  out["hyper"] = tandem::to_json(in_groups(chosen.hyper, chosen.groups));
  out["hyper"]["epochs"] = chosen.epochs;
  return out.dump();
}

}  // namespace tandem::spec
