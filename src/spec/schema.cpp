#include <nlohmann/json.hpp>

#include "spec/domains.h"
#include "spec/field.h"
#include "spec/parse.h"
#include "spec/ready_clusters.h"

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

std::int64_t whole_number(double count) {
  return static_cast<std::int64_t>(count);
}

void add_range(const Field& field, json& out) {
  if (field.least) out["minimum"] = *field.least;
  if (field.above) out["exclusiveMinimum"] = *field.above;
  if (field.most) out["maximum"] = *field.most;
}

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
      out["type"] = "number";
      add_range(field, out);
      return {{"anyOf", {out, {{"type", "string"}, {"pattern", std::string("^") + kNumber + " *%$"}}}}};
    case Type::bytes:
    case Type::seconds:
    case Type::watts:
    case Type::joules:
    case Type::bandwidth:
    case Type::frequency:
      return {{"type", "string"},
              {"pattern", std::string("^") + kNumber + " *(" + notation(field.type)->units + ")$"}};
    case Type::table:
      return table_schema(field.fields);
    case Type::open_table:
      out = table_schema(field.fields);
      out["additionalProperties"] = field_type({.type = Type::any, .domains = field.domains});
      return out;
    case Type::table_or_word:
      return {{"anyOf", {{{"type", "string"}}, table_schema(field.fields)}}};
    case Type::list:
      out = {{"type", "array"}, {"items", field_type(field.fields[0])}};
      out.update({{"minItems", whole_number(*field.least)}, {"maxItems", whole_number(*field.most)}});
      return out;
    case Type::named:
      out = {{"type", "object"}, {"additionalProperties", field_type(field.fields[0])}};
      out["propertyNames"] = {{"pattern", field.pattern}, {"maxLength", field.longest}};
      out.update(
          {{"minProperties", whole_number(*field.least)}, {"maxProperties", whole_number(*field.most)}});
      return out;
  }
  add_range(field, out);
  return out;
}

// What a command's own parameter may be, one of a choice.
json any_value() {
  return {{"type", {"boolean", "number", "string", "null", "array", "object"}}};
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
    if (choice && field.type == Type::any) values["items"] = any_value();
    json properties = {{form, values}};
    if (form == "log" && field.type == Type::any) properties["int"] = {{"type", "boolean"}};
    if (form == "range" || form == "int")
      properties["step"] = {{"type", form == "int" ? "integer" : "number"}, {"exclusiveMinimum", 0}};
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
  json value = type_schema(field);
  if (is_table(field) || field.domains < Domains::few) return value;
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
// replaces that of the table's row `epochs`: hyper.epochs in a training spec and an experiment,
// search.max_epochs in a tuning spec.
json model_rule(const ModelEntry& model, const Field& epochs, Domains domains, const Catalogue& catalogue) {
  const bool in_search = epochs.name == "max_epochs";
  std::vector<Field> own;
  if (!in_search) own.push_back(epochs);
  json then = json::object();
  for (const auto& rule : model.hyper) {
    if (in_search && rule.name == "epochs")
      then["search"]["properties"][epochs.name] = {{"minimum", rule.low}, {"maximum", rule.high}};
    else
      own.push_back(hyper_field(rule, rule.name == "epochs" ? epochs.domains : domains));
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
  // Groups nest, and a point may name what lies in them.
  if (out["properties"].contains("start")) out["properties"]["start"]["items"] = {{"type", "object"}};
  out["properties"]["hyper"]["properties"].update(all_hyper(catalogue, domains));
  for (const auto& model : catalogue.models)
    out["allOf"].push_back(model_rule(model, field_at(fields, epochs), domains, catalogue));
  return out;
}

// The condition beside a domain: {optimizer: sgd} or {layers: [2, 3]}.
json when_schema() {
  const json value = type_schema({.type = Type::any});
  const json values = {{"type", "array"}, {"items", any_value()}, {"minItems", 1}, {"uniqueItems", true}};
  return {{"description", "it exists only where another hyperparameter has one of these values"},
          {"type", "object"},
          {"minProperties", 1},
          {"maxProperties", 1},
          {"additionalProperties", {{"anyOf", {value, values}}}}};
}

// A workload has one model and one length.
json sim_schema(const Catalogue& catalogue) {
  json out = table_schema(sim_fields(catalogue));
  json ready = json::array();
  for (const auto& cluster : ready_clusters()) ready.push_back(cluster.name);
  out["properties"]["cluster"]["anyOf"].push_back({{"enum", ready}});  // for completion
  out["properties"]["workloads"]["items"]["allOf"] = {
      {{"oneOf", {{{"required", {"model"}}}, {{"required", {"model_file"}}}}}},
      {{"oneOf", {{{"required", {"iterations"}}}, {{"required", {"epochs", "samples"}}}}}}};
  return out;
}

json is_kind(const char* kind) {
  return {{"properties", {{"kind", {{"const", kind}}}}}, {"required", {"kind"}}};
}

}  // namespace

json schema(const Catalogue& catalogue) {
  const json ref_sim = {{"$ref", "#/$defs/sim"}}, ref_train = {{"$ref", "#/$defs/train"}},
             ref_cluster = {{"$ref", "#/$defs/cluster"}}, ref_experiment = {{"$ref", "#/$defs/characterize"}};
  const json experiment_or_train = {
      {"if", is_kind("characterize")}, {"then", ref_experiment}, {"else", ref_train}};
  const json cluster_or_others = {
      {"if", is_kind("cluster")}, {"then", ref_cluster}, {"else", experiment_or_train}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "Tandem spec"},
          {"type", "object"},
          {"required", {"kind"}},
          {"properties", {{"kind", {{"enum", {"train", "tune", "characterize", "sim", "cluster"}}}}}},
          {"if", is_kind("tune")},
          {"then", {{"$ref", "#/$defs/tune"}}},
          {"else", {{"if", is_kind("sim")}, {"then", ref_sim}, {"else", cluster_or_others}}},
          {"$defs",
           {{"train", kind_schema(train_fields(catalogue), "hyper.epochs", Domains::in_tuning, catalogue)},
            {"tune", kind_schema(tune_fields(catalogue), "search.max_epochs", Domains::all, catalogue)},
            {"characterize",
             kind_schema(characterize_fields(catalogue), "hyper.epochs", Domains::all, catalogue)},
            {"sim", sim_schema(catalogue)},
            {"cluster", table_schema(cluster_file_fields())},
            {"when", when_schema()}}}};
}

}  // namespace tandem::spec
