#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "spec/field.h"
#include "spec/parse.h"

namespace tandem::spec {
namespace {

using nlohmann::json;

constexpr const char* kNumber = R"(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?)";

json fallback_json(const Field& field) {
  Node written;
  written.text = field.fallback;
  return tandem::to_json(*meaning(written).value);
}

json table_schema(const std::vector<Field>&);

json type_schema(const Field& field) {
  json out = json::object();
  switch (field.type) {
    case Type::word:
      out["type"] = "string";
      if (field.choices) out["enum"] = *field.choices;
      if (!field.pattern.empty()) out.update({{"pattern", field.pattern}, {"maxLength", field.longest}});
      return out;
    case Type::words:
      return {{"type", "array"}, {"minItems", 1}, {"items", {{"type", {"string", "number", "boolean"}}}}};
    case Type::flag:
      return {{"type", "boolean"}};
    case Type::whole:
      out["type"] = "integer";
      break;
    case Type::real:
      out["type"] = "number";
      break;
    case Type::fraction:
      return {{"anyOf",
               {{{"type", "number"}, {"exclusiveMinimum", *field.above}, {"maximum", *field.most}},
                {{"type", "string"}, {"pattern", std::string("^") + kNumber + " *%$"}}}}};
    case Type::bytes:
    case Type::seconds:
    case Type::watts:
      return {{"type", "string"},
              {"pattern", std::string("^") + kNumber + " *(" + notation(field.type)->units + ")$"}};
    case Type::table:
      return table_schema(field.fields);
    case Type::open_table:
      out = table_schema(field.fields);
      out["additionalProperties"] = {{"type", {"boolean", "number", "string"}}};
      return out;
  }
  if (field.least) out["minimum"] = *field.least;
  if (field.most) out["maximum"] = *field.most;
  return out;
}

json field_schema(const Field& field) {
  json out = type_schema(field);
  out["description"] = field.description;
  if (!field.fallback.empty()) out["default"] = fallback_json(field);
  return out;
}

json table_schema(const std::vector<Field>& fields) {
  json out = {{"type", "object"}, {"properties", json::object()}, {"additionalProperties", false}};
  for (const auto& field : fields) {
    out["properties"][field.name] = field_schema(field);
    if (field.required) out["required"].push_back(field.name);
  }
  return out;
}

// The hyperparameters of all models by name, for completion; `model_rule` narrows them to one model's.
json all_hyper(const Catalogue& catalogue) {
  json out = json::object();
  for (const auto& model : catalogue.models) {
    for (const auto& rule : model.hyper) {
      json& known = out[rule.name];
      const json schema = field_schema(hyper_field(rule));
      known["description"] = rule.description;
      known["anyOf"].push_back({{"type", schema["type"]}});
      if (schema.contains("enum")) known["anyOf"].back()["enum"] = schema["enum"];
    }
  }
  return out;
}

// "When the model is this one": its own hyperparameters, and datasets it can learn from.
json model_rule(const ModelEntry& model, const Field& epochs, const Catalogue& catalogue) {
  std::vector<Field> own{epochs};
  for (const auto& rule : model.hyper)
    own.push_back(hyper_field(rule));  // a rule for epochs replaces the table's
  json datasets = json::array();
  for (const auto& dataset : catalogue.datasets)
    if (dataset.kind == model.input) datasets.push_back(dataset.name);
  const json is_this = {{"properties", {{"model", {{"const", model.name}}}}}, {"required", {"model"}}};
  return {{"if", {{"properties", {{"program", is_this}}}, {"required", {"program"}}}},
          {"then",
           {{"properties",
             {{"program", {{"properties", {{"dataset", {{"enum", datasets}}}}}}},
              {"hyper", table_schema(own)}}}}}};
}

void describe(const std::vector<Field>& fields, const std::string& path, std::string& out) {
  for (const auto& field : fields) {
    const std::string here = path.empty() ? field.name : path + "." + field.name;
    const bool table = !field.fields.empty();
    const std::string fallback = field.required           ? "required"
                                 : field.fallback.empty() ? field.otherwise
                                                          : field.fallback;
    std::string facts = table ? "" : type_text(field);
    if (const auto range = range_text(field); !range.empty()) facts += ", " + range;
    if (!fallback.empty())
      facts += (facts.empty() ? "" : "; ") + (field.required ? fallback : "default: " + fallback);
    out += fmt::format("  {:<18} {}\n", here, field.description);
    if (!facts.empty()) out += fmt::format("  {:<18}   {}\n", "", facts);
    describe(field.fields, here, out);
  }
}

}  // namespace

json schema(const Catalogue& catalogue) {
  auto fields = train_fields(catalogue);
  json out = table_schema(fields);
  out["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  out["title"] = "Tandem training spec";
  json& program = out["properties"]["program"];
  program["oneOf"] = {{{"required", {"model", "dataset"}}, {"properties", {{"command", false}}}},
                      {{"required", {"command"}}, {"properties", {{"model", false}, {"dataset", false}}}}};
  json& hyper = out["properties"]["hyper"]["properties"];
  json others = all_hyper(catalogue);
  others.erase("epochs");
  hyper.update(others);
  out["allOf"] = json::array();
  for (const auto& model : catalogue.models)
    out["allOf"].push_back(model_rule(model, field_at(fields, "hyper.epochs"), catalogue));
  if (out["allOf"].empty()) out.erase("allOf");
  return out;
}

std::string describe_train() {
  auto fields = train_fields({});
  field_at(fields, "program.model").choices.reset();
  field_at(fields, "program.dataset").choices.reset();
  std::string out;
  describe(fields, "", out);
  return out;
}

std::string example_train() {
  return R"(kind: train
program: {model: lenet5, dataset: digits}
hyper: {batch_size: 64, learning_rate: 0.05, epochs: 10}
system: {cores: 2, memory: 2GiB}
seed: 1
)";
}

}  // namespace tandem::spec
