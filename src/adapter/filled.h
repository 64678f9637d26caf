// A command with its placeholders filled in, and the parameter file. Pure functions.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "spec/job.h"

namespace tandem::adapter {

// What placeholders stand for, as the environment of docs/protocol.md says it.
struct Given {
  nlohmann::json hyper = nlohmann::json::object();  // groups are maps in it
  std::map<std::string, std::string> own{};         // folder, epochs, ..., file
};
// From TANDEM_* variables. UserError when TANDEM_HYPER is no JSON object.
Given given(const spec::Program&, const std::map<std::string, std::string>& environment);

// A hyperparameter that does not exist at this point takes its argument with it, and an option that stands
// before it: both of [--momentum, "{momentum}"], all of ["--momentum={momentum}"].
std::vector<std::string> filled(const std::vector<std::string>& command, const Given&);
std::string filled(const std::string& text, const Given&);

bool wants_file(const spec::Program&);
// All hyperparameters; floats in YAML are written so that YAML 1.1 (PyYAML) reads them as numbers.
std::string parameter_file(const nlohmann::json& hyper, const std::string& format);

}  // namespace tandem::adapter
