#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "spec/domains.h"
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
json field_type(const Field&);

// One value, without what may stand around it.
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
    case Type::names:
      return {{"anyOf", {{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}}}};
    case Type::flag:
      return {{"type", "boolean"}};
    case Type::any:
      return {{"type", {"boolean", "number", "string"}}};
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
    case Type::joules:
      return {{"type", "string"},
              {"pattern", std::string("^") + kNumber + " *(" + notation(field.type)->units + ")$"}};
    case Type::table:
      return table_schema(field.fields);
    case Type::open_table:
      out = table_schema(field.fields);
      out["additionalProperties"] = field_type({.type = Type::any, .domains = field.domains});
      return out;
  }
  if (field.least) out["minimum"] = *field.least;
  if (field.most) out["maximum"] = *field.most;
  return out;
}

// {choice: [...]} and the other forms the field takes, each a map of its own.
json domain_schemas(const Field& field) {
  json out = json::array();
  for (const auto& form : domain_forms()) {
    const auto kind = domain_kind(field, form);
    if (!kind) continue;
    Field item = field;
    if (field.type == Type::any && form != "choice") item.type = form == "int" ? Type::whole : Type::real;
    json values = {{"type", "array"}, {"items", type_schema(item)}};
    if (form == "log") values["items"]["exclusiveMinimum"] = 0;
    const bool choice = form == "choice";
    values.update(
        {{"minItems", choice ? 1 : 2}, {"maxItems", choice ? kMostChoices : 2}, {"uniqueItems", true}});
    json properties = {{form, values}};
    if (field.domains == Domains::all) properties["when"] = {{"$ref", "#/$defs/when"}};
    out.push_back({{"type", "object"},
                   {"properties", properties},
                   {"required", json::array({form})},
                   {"additionalProperties", false}});
  }
  return out;
}

// One value, or a domain where one may stand.
json field_type(const Field& field) {
  const bool table = field.type == Type::table || field.type == Type::open_table;
  json value = type_schema(field);
  if (table || field.domains < Domains::few) return value;
  json out = {{"anyOf", domain_schemas(field)}};
  out["anyOf"].insert(out["anyOf"].begin(), std::move(value));
  return out;
}

json field_schema(const Field& field) {
  json out = field_type(field);
  out["description"] = field.description;
  if (!field.fallback.empty()) out["default"] = fallback_json(field);
  return out;
}

json table_schema(const std::vector<Field>& fields) {
  json out = {{"type", "object"}, {"properties", json::object()}, {"additionalProperties", false}};
  for (const auto& field : fields) {
    if (!field.instead.empty()) continue;
    out["properties"][field.name] = field_schema(field);
    if (field.required) out["required"].push_back(field.name);
  }
  return out;
}

// The hyperparameters of all models by name, for completion; `model_rule` narrows them to one model's.
json all_hyper(const Catalogue& catalogue, Domains domains) {
  json out = json::object();
  for (const auto& model : catalogue.models) {
    for (const auto& rule : model.hyper) {
      json& known = out[rule.name];
      const json schema = type_schema(hyper_field(rule));
      known["description"] = rule.description;
      if (domains == Domains::all && !known.contains("anyOf"))
        known["anyOf"] = domain_schemas({.type = Type::any, .domains = domains});
      known["anyOf"].push_back({{"type", schema["type"]}});
      if (schema.contains("enum")) known["anyOf"].back()["enum"] = schema["enum"];
    }
  }
  out.erase("epochs");
  return out;
}

// "When the model is this one": its own hyperparameters, and datasets it can learn from. A rule for epochs
// replaces that of the table's row `epochs`: hyper.epochs in a training spec, search.max_epochs in a tuning
// spec.
json model_rule(const ModelEntry& model, const Field& epochs, Domains domains, const Catalogue& catalogue) {
  const bool tuning = domains == Domains::all;
  std::vector<Field> own;
  if (!tuning) own.push_back(epochs);
  json then = json::object();
  for (const auto& rule : model.hyper) {
    if (tuning && rule.name == "epochs")
      then["search"]["properties"][epochs.name] = {{"minimum", rule.low}, {"maximum", rule.high}};
    else
      own.push_back(hyper_field(rule, domains));
  }
  json datasets = json::array();
  for (const auto& dataset : catalogue.datasets)
    if (dataset.kind == model.input) datasets.push_back(dataset.name);
  then["program"] = {{"properties", {{"dataset", {{"enum", datasets}}}}}};
  then["hyper"] = table_schema(own);
  const json is_this = {{"properties", {{"model", {{"const", model.name}}}}}, {"required", {"model"}}};
  return {{"if", {{"properties", {{"program", is_this}}}, {"required", {"program"}}}},
          {"then", {{"properties", then}}}};
}

// The schema of one kind of spec.
json kind_schema(std::vector<Field> fields, const char* epochs, Domains domains, const Catalogue& catalogue) {
  json out = table_schema(fields);
  json& program = out["properties"]["program"];
  program["oneOf"] = {{{"required", {"model", "dataset"}}, {"properties", {{"command", false}}}},
                      {{"required", {"command"}}, {"properties", {{"model", false}, {"dataset", false}}}}};
  out["properties"]["hyper"]["properties"].update(all_hyper(catalogue, domains));
  for (const auto& model : catalogue.models)
    out["allOf"].push_back(model_rule(model, field_at(fields, epochs), domains, catalogue));
  return out;
}

// The condition beside a domain: {optimizer: sgd} or {layers: [2, 3]}.
json when_schema() {
  const json value = type_schema({.type = Type::any});
  const json values = {{"type", "array"}, {"items", value}, {"minItems", 1}, {"uniqueItems", true}};
  return {{"description", "it exists only where another hyperparameter has one of these values"},
          {"type", "object"},
          {"minProperties", 1},
          {"maxProperties", 1},
          {"additionalProperties", {{"anyOf", {value, values}}}}};
}

void describe(const std::vector<Field>& fields, const std::string& path, std::string& out) {
  for (const auto& field : fields) {
    if (!field.instead.empty()) continue;
    const std::string here = path.empty() ? field.name : path + "." + field.name;
    const bool table = field.type == Type::table || field.type == Type::open_table;
    const std::string fallback = field.required           ? "required"
                                 : field.fallback.empty() ? field.otherwise
                                                          : field.fallback;
    std::string facts = table ? "" : type_text(field);
    if (const auto range = range_text(field); !range.empty()) facts += ", " + range;
    if (field.domains == Domains::few) facts += ", or a domain";
    if (!fallback.empty())
      facts += (facts.empty() ? "" : "; ") + (field.required ? fallback : "default: " + fallback);
    out += fmt::format("  {:<18} {}\n", here, field.description);
    if (!facts.empty()) out += fmt::format("  {:<18}   {}\n", "", facts);
    describe(field.fields, here, out);
  }
}

// Names of models and datasets would make it long; `tandem data list` and the command's own help have them.
std::string describe(std::vector<Field> fields) {
  field_at(fields, "program.model").choices.reset();
  field_at(fields, "program.dataset").choices.reset();
  std::string out;
  describe(fields, "", out);
  return out;
}

}  // namespace

json schema(const Catalogue& catalogue) {
  const json is_tune = {{"properties", {{"kind", {{"const", "tune"}}}}}, {"required", {"kind"}}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "Tandem spec"},
          {"type", "object"},
          {"required", {"kind"}},
          {"properties", {{"kind", {{"enum", {"train", "tune"}}}}}},
          {"if", is_tune},
          {"then", {{"$ref", "#/$defs/tune"}}},
          {"else", {{"$ref", "#/$defs/train"}}},
          {"$defs",
           {{"train", kind_schema(train_fields(catalogue), "hyper.epochs", Domains::in_tuning, catalogue)},
            {"tune", kind_schema(tune_fields(catalogue), "search.max_epochs", Domains::all, catalogue)},
            {"when", when_schema()}}}};
}

std::string describe_train() {
  return describe(train_fields({}));
}

std::string describe_tune() {
  return describe(tune_fields({})) + R"(
A domain is {choice: [32, 64]}, {range: [0, 0.5]}, {log: [0.001, 0.1]} or {int: [1, 8]}; for system parameters
choice, and int for cores. In hyper it may have a condition: {range: [0, 0.99], when: {optimizer: sgd}}.
)";
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

}  // namespace tandem::spec
