#include "graph/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace tandem::graph {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 8;
constexpr std::array kKinds{Kind::input,         Kind::convolution, Kind::dense,         Kind::pooling,
                            Kind::normalisation, Kind::activation,  Kind::concatenation, Kind::embedding,
                            Kind::recurrent,     Kind::attention,   Kind::loss};
static_assert(kKinds.size() == static_cast<std::size_t>(Kind::loss) + 1, "a kind is missing above");

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw UserError(where + ": " + what);
}

std::string in_quotes(std::string_view raw) {
  return "'" + printable(raw, 80) + "'";
}

// ---- reading JSON ----

Json parse(std::string_view text, const std::string& where) {
  std::vector<std::set<std::string>> keys;
  const auto strictly = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kDeepest) refuse(where, fmt::format("it is nested deeper than {} levels", kDeepest));
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      refuse(where, "the key " + in_quotes(parsed.get<std::string>()) + " is twice in one object");
    return true;
  };
  try {
    return Json::parse(text, strictly);
  } catch (const Json::exception& problem) {
    refuse(where, "not JSON: " + printable(problem.what(), 300));
  }
}

// One object on its way to becoming a model or an operation.
class Fields {
 public:
  Fields(const Json& json, std::string where, const std::vector<std::string>& known)
      : json_(json), where_(std::move(where)) {
    if (!json.is_object()) refuse(where_, std::string("must be an object, not ") + json.type_name());
    for (const auto& item : json.items())
      if (std::find(known.begin(), known.end(), item.key()) == known.end())
        refuse(where_, "unknown key " + in_quotes(item.key()) + did_you_mean(item.key(), known) +
                           "; known are " + join(known));
  }

  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  const Json& at(const char* key) const {
    const Json* found = find(key);
    if (found == nullptr) refuse(where_, fmt::format("'{}' is missing", key));
    return *found;
  }

  std::string text(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string() || value.get<std::string>().empty())
      refuse(where_, fmt::format("'{}' must be a text that is not empty, not {}", key, shown(value)));
    return value.get<std::string>();
  }

  double number(const char* key, std::optional<double> fallback = std::nullopt) const {
    if (fallback && find(key) == nullptr) return *fallback;
    const Json& value = at(key);
    const double given = value.is_number() ? value.get<double>() : -1;
    if (!std::isfinite(given) || given < 0)
      refuse(where_, fmt::format("'{}' must be a number of at least 0, not {}", key, shown(value)));
    return given;
  }

  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all;
    const Json* values = find(key);
    if (values == nullptr) return all;
    const auto is_text = [](const Json& value) { return value.is_string(); };
    if (!values->is_array() || !std::all_of(values->begin(), values->end(), is_text))
      refuse(where_, fmt::format("'{}' must be a list of names, not {}", key, shown(*values)));
    for (const Json& value : *values) all.push_back(value.get<std::string>());
    return all;
  }

  const std::string& where() const { return where_; }

 private:
  static std::string shown(const Json& value) { return printable(value.dump(), 80); }

  const Json& json_;
  std::string where_;
};

// ---- making operations of it ----

Kind kind_of(const Fields& fields) {
  const std::string written = fields.text("kind");
  std::vector<std::string> known;
  for (const Kind kind : kKinds) {
    if (written == name(kind)) return kind;
    known.emplace_back(name(kind));
  }
  refuse(fields.where(), "there is no kind " + in_quotes(written) + did_you_mean(written, known) +
                             "; the kinds are " + join(known));
}

struct Written {
  Operation operation;
  std::vector<std::string> inputs;
};

Written read_operation(const Json& json, const std::string& where) {
  static const std::vector<std::string> kKeys{"name",           "kind",       "inputs", "forward_flops",
                                              "backward_flops", "parameters", "outputs"};
  const Fields fields(json, where, kKeys);
  Written written;
  Operation& operation = written.operation;
  operation.name = fields.text("name");
  operation.kind = kind_of(fields);
  operation.forward_flops = fields.number("forward_flops");
  operation.backward_flops = fields.number("backward_flops", 2 * operation.forward_flops);
  operation.parameters = fields.number("parameters", 0);
  operation.outputs = fields.number("outputs");
  written.inputs = fields.texts("inputs");
  return written;
}

// As written, inputs as indices of that order.
std::vector<Operation> read_operations(const Json& json, const std::string& where) {
  if (!json.is_array() || json.empty()) refuse(where, "'operations' must be a list that is not empty");
  std::vector<Written> all;
  std::map<std::string, std::uint32_t> indices;
  for (const Json& one : json) {
    const auto index = static_cast<std::uint32_t>(all.size());
    all.push_back(read_operation(one, fmt::format("{}, operation {}", where, index + 1)));
    const std::string& added = all.back().operation.name;
    if (!indices.emplace(added, index).second)
      refuse(where, "there are two operations " + in_quotes(added) + "; rename one");
  }
  std::vector<Operation> operations;
  for (Written& written : all) {
    for (const std::string& input : written.inputs) {
      const auto found = indices.find(input);
      if (found != indices.end()) {
        written.operation.inputs.push_back(found->second);
        continue;
      }
      std::vector<std::string> known;
      for (const auto& [known_name, index] : indices) known.push_back(known_name);
      refuse(where,
             fmt::format("operation {} has the input {}, but there is no operation of that name{}",
                         in_quotes(written.operation.name), in_quotes(input), did_you_mean(input, known)));
    }
    operations.push_back(std::move(written.operation));
  }
  return operations;
}

// ---- putting them in order ----

// `waits`: how many inputs of each were never ready; those of a cycle wait for each other.
[[noreturn]] void refuse_cycle(const std::vector<Operation>& operations,
                               const std::vector<std::size_t>& waits, const std::string& where) {
  const auto stuck = [&](std::uint32_t index) { return waits[index] > 0; };
  std::uint32_t at = 0;
  while (!stuck(at)) ++at;
  std::vector<bool> seen(operations.size());
  for (; !seen[at]; at = *std::find_if(operations[at].inputs.begin(), operations[at].inputs.end(), stuck))
    seen[at] = true;
  const std::uint32_t start = at;  // the walk may have begun outside the cycle
  std::string path = in_quotes(operations[start].name);
  do {
    at = *std::find_if(operations[at].inputs.begin(), operations[at].inputs.end(), stuck);
    path += " needs " + in_quotes(operations[at].name);
  } while (at != start);
  refuse(where, "the operations have a cycle: " + printable(path, 400));
}

std::vector<Operation> in_order(std::vector<Operation> written, const std::string& where) {
  std::vector<std::size_t> waits;
  std::vector<std::vector<std::uint32_t>> readers(written.size());
  std::set<std::uint32_t> ready;  // ordered: the first one written goes first
  for (std::uint32_t i = 0; i < written.size(); ++i) {
    waits.push_back(written[i].inputs.size());
    if (waits[i] == 0) ready.insert(i);
    for (const std::uint32_t input : written[i].inputs) readers[input].push_back(i);
  }
  std::vector<std::uint32_t> order, place(written.size());
  while (!ready.empty()) {
    const std::uint32_t next = *ready.begin();
    ready.erase(ready.begin());
    place[next] = static_cast<std::uint32_t>(order.size());
    order.push_back(next);
    for (const std::uint32_t reader : readers[next])
      if (--waits[reader] == 0) ready.insert(reader);
  }
  if (order.size() < written.size()) refuse_cycle(written, waits, where);
  std::vector<Operation> ordered;
  for (const std::uint32_t i : order) {
    ordered.push_back(std::move(written[i]));
    for (std::uint32_t& input : ordered.back().inputs) input = place[input];
  }
  return ordered;
}

}  // namespace

Model read_model(std::string_view text, const std::string& where) {
  static const std::vector<std::string> kKeys{"name", "operations"};
  const Json json = parse(text, where);
  const Fields fields(json, where, kKeys);
  Model model;
  model.name = fields.text("name");
  model.operations = in_order(read_operations(fields.at("operations"), where), where);
  check(model);
  return model;
}

nlohmann::ordered_json to_json(const Model& model) {
  auto operations = nlohmann::ordered_json::array();
  for (const Operation& operation : model.operations) {
    auto inputs = nlohmann::ordered_json::array();
    for (const std::uint32_t input : operation.inputs) inputs.push_back(model.operations[input].name);
    nlohmann::ordered_json one;
    one["name"] = operation.name;
    one["kind"] = name(operation.kind);
    one["inputs"] = std::move(inputs);
    one["forward_flops"] = operation.forward_flops;
    one["backward_flops"] = operation.backward_flops;
    one["parameters"] = operation.parameters;
    one["outputs"] = operation.outputs;
    operations.push_back(std::move(one));
  }
  nlohmann::ordered_json out;
  out["name"] = model.name;
  out["operations"] = std::move(operations);
  return out;
}

}  // namespace tandem::graph
