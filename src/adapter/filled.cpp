#include "adapter/filled.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/value.h"
#include "spec/placeholders.h"

namespace tandem::adapter {
namespace {

using nlohmann::json;

// "optimizer.name": under its whole name, else inside the map of its group.
const json* member(const json& map, const std::string& name) {
  if (!map.is_object()) return nullptr;
  if (const auto found = map.find(name); found != map.end()) return &*found;
  for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
    if (const auto group = map.find(name.substr(0, dot)); group != map.end())
      if (const json* inside = member(*group, name.substr(dot + 1))) return inside;
  return nullptr;
}

std::optional<std::string> value_of(const std::string& name, const Given& given) {
  if (const json* held = member(given.hyper, name)) {
    const auto value = value_from_json(*held);
    return value ? text(*value) : held->dump();
  }
  const auto own = given.own.find(name);
  return own == given.own.end() ? std::nullopt : std::optional(own->second);
}

struct Argument {
  std::string text;
  bool plain = true;     // has no placeholder
  bool missing = false;  // has one without a value
};

Argument argument(const std::string& written, const Given& given) {
  Argument out;
  for (const auto& piece : spec::pieces_of(written)) {
    const auto value = piece.placeholder ? value_of(piece.text, given) : piece.text;
    out.plain = out.plain && !piece.placeholder;
    out.missing = out.missing || !value;
    out.text += value.value_or("");
  }
  return out;
}

std::string yaml(const json& value) {
  std::string out;
  if (value.is_number_float()) {
    out = value.dump();
    const auto exponent = out.find('e');
    if (exponent != std::string::npos && out.find('.') == std::string::npos) out.insert(exponent, ".0");
    return out;
  }
  if (!value.is_structured()) return value.dump();
  for (const auto& [name, held] : value.items())
    out += (out.empty() ? "" : ", ") + (value.is_object() ? json(name).dump() + ": " : "") + yaml(held);
  return value.is_object() ? "{" + out + "}" : "[" + out + "]";
}

}  // namespace

Given given(const spec::Program& program, const std::map<std::string, std::string>& environment) {
  const auto variable = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  Given out;
  if (const auto hyper = variable("TANDEM_HYPER"); !hyper.empty()) out.hyper = parse_json(hyper);
  if (!out.hyper.is_object()) throw UserError("TANDEM_HYPER is no JSON object");
  const auto add = [&](const char* name, const char* from, const char* otherwise) {
    const auto value = variable(from);
    out.own[name] = value.empty() ? otherwise : value;
  };
  add("folder", "TANDEM_FOLDER", ".");
  add("epochs", "TANDEM_EPOCHS", "1");
  add("seed", "TANDEM_SEED", "1");
  add("cores", "TANDEM_CORES", "1");
  add("memory", "TANDEM_MEMORY", "0");
  add("speed", "TANDEM_SPEED", "1");
  add("gpus", "TANDEM_GPUS", "0");
  add("attempt", "TANDEM_ATTEMPT", "1");
  out.own[spec::kParameterFile] = out.own["folder"] + "/parameters." + program.parameter_file;
  return out;
}

std::vector<std::string> filled(const std::vector<std::string>& command, const Given& given) {
  std::vector<std::string> out;
  bool option_before = false;
  for (const auto& written : command) {
    const Argument next = argument(written, given);
    if (next.missing) {
      if (option_before) out.pop_back();
      option_before = false;
      continue;
    }
    out.push_back(next.text);
    option_before = next.plain && next.text.starts_with('-') && next.text.find('=') == std::string::npos;
  }
  return out;
}

std::string filled(const std::string& text, const Given& given) {
  return argument(text, given).text;
}

bool wants_file(const spec::Program& program) {
  return program.placeholders &&
         std::any_of(program.command.begin(), program.command.end(), [](const std::string& written) {
           const auto pieces = spec::pieces_of(written);
           return std::find(pieces.begin(), pieces.end(), spec::Piece{true, spec::kParameterFile}) !=
                  pieces.end();
         });
}

std::string parameter_file(const json& hyper, const std::string& format) {
  if (format != "yaml") return hyper.dump(2) + "\n";
  std::string out;
  for (const auto& [name, value] : hyper.items()) out += json(name).dump() + ": " + yaml(value) + "\n";
  return out.empty() ? "{}\n" : out;
}

}  // namespace tandem::adapter
