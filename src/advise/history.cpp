#include "advise/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace tandem::advise {

using tandem::text;  // beside our own
using tandem::to_json;

namespace {

constexpr const char* kBatch = "batch_size";  // its column is "batch": that is what regressions know

bool is_word(const Value& value) {
  return !as_number(value);
}

std::string column_of(const std::string& hyper) {
  return hyper == kBatch ? "batch" : hyper;
}

double hyper_number(const Setting& setting, const std::string& column) {
  const auto equals = column.find('=');
  const auto name = column == "batch" ? kBatch : column.substr(0, equals);
  const auto found = setting.hyper.find(name);
  if (found == setting.hyper.end())
    throw UserError(fmt::format("the past runs differ in {}, but {} does not say it: add it to the spec",
                                name, text(setting)));
  if (equals != std::string::npos) return text(found->second) == column.substr(equals + 1) ? 1 : 0;
  const auto number = as_number(found->second);
  if (!number)
    throw UserError(fmt::format("{} is a number in the past runs, but '{}' here", name,
                                printable(text(found->second), 60)));
  return *number;
}

}  // namespace

Load mean_load(const LoadProfile& load, Seconds end) {
  if (load.empty()) return {};
  if (!(end.value > 0)) return {load.front().jobs, load.front().cores};
  Load sum{0, 0};
  for (std::size_t i = 0; i < load.size(); ++i) {
    const double from = std::min(load[i].at.value, end.value);
    const double to = i + 1 < load.size() ? std::min(load[i + 1].at.value, end.value) : end.value;
    sum.jobs += load[i].jobs * (to - from) / end.value;
    sum.cores += load[i].cores * (to - from) / end.value;
  }
  return sum;
}

double contention(const Setting& setting, const Load& load, int machine_cores) {
  const double own = setting.system.cores, all = load.cores > 0 ? load.cores : own * load.jobs;
  const double others = std::max(0.0, all - own), whole = std::floor(others), more = others - whole;
  const auto fullest = [&](double threads) {
    return std::max(1.0, std::ceil((own + threads) / std::max(1, machine_cores)));
  };
  return more > 0 ? (1 - more) * fullest(whole) + more * fullest(whole + 1) : fullest(whole);
}

std::string text(const Setting& setting) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : setting.hyper) parts.push_back(name + " " + text(value));
  parts.push_back(text(setting.system));
  if (setting.nodes != 1) parts.push_back(fmt::format("{} nodes", setting.nodes));
  parts.push_back(fmt::format("{} epoch{}", setting.epochs, setting.epochs == 1 ? "" : "s"));
  return join(parts);
}

nlohmann::json to_json(const Setting& setting) {
  nlohmann::json out = {
      {"hyper", to_json(setting.hyper)}, {"system", to_json(setting.system)}, {"epochs", setting.epochs}};
  if (setting.nodes != 1) out["nodes"] = setting.nodes;
  return out;
}

std::optional<std::string> unusable(const PastRun& run) {
  if (!(run.seconds.value > 0) || !std::isfinite(run.seconds.value))
    return fmt::format("its time is {}", run.seconds.value);
  if (run.setting.epochs < 1) return "it finished no epoch";
  if (run.setting.system.cores < 1) return fmt::format("it ran on {} cores", run.setting.system.cores);
  const auto& epochs = run.epoch_seconds;
  if (!std::all_of(epochs.begin(), epochs.end(), [](double s) { return s > 0 && std::isfinite(s); }))
    return "one of its epochs took no time, or none that is a number";
  for (const auto& [name, value] : run.setting.hyper)
    if (const auto number = as_number(value); number && !std::isfinite(*number))
      return fmt::format("its {} is {}", name, *number);
  for (const auto& change : run.load)
    if (!(change.jobs >= 1) || !std::isfinite(change.jobs))
      return fmt::format("its load is {} jobs", change.jobs);
  return std::nullopt;
}

Columns::Columns(Of of, std::span<const PastRun* const> runs, int machine_cores)
    : machine_cores_(machine_cores) {
  std::map<std::string, std::vector<const Value*>> values;
  for (const auto* run : runs)
    for (const auto& [name, value] : run->setting.hyper) values[name].push_back(&value);
  if (of == Of::timing)
    names_ = {"cores", "jobs", "nodes", "speed"};
  else
    names_ = {"epochs"};
  if (of == Of::timing && machine_cores > 0) names_.push_back("crowd");  // contention, as kept models call it
  for (const auto& [name, seen] : values) {
    const bool words = std::all_of(seen.begin(), seen.end(), [](const Value* v) { return is_word(*v); });
    const bool numbers = std::none_of(seen.begin(), seen.end(), [](const Value* v) { return is_word(*v); });
    if (name == "epochs") continue;  // the setting's own
    if (seen.size() < runs.size() || (!words && !numbers)) {
      left_out_.push_back(name);
    } else if (numbers) {
      names_.push_back(column_of(name));
    } else {
      std::map<std::string, int> known;
      for (const auto* value : seen) ++known[text(*value)];
      if (known.size() > 1)
        for (const auto& [word, count] : known) names_.push_back(name + "=" + word);
    }
  }
}

std::vector<double> Columns::row(const Setting& setting, const Load& load) const {
  std::vector<double> out;
  for (const auto& name : names_) {
    if (name == "cores")
      out.push_back(setting.system.cores);
    else if (name == "jobs")
      out.push_back(load.jobs);
    else if (name == "crowd")
      out.push_back(contention(setting, load, machine_cores_));
    else if (name == "nodes")
      out.push_back(setting.nodes);
    else if (name == "speed")
      out.push_back(setting.system.speed);
    else if (name == "epochs")
      out.push_back(static_cast<double>(setting.epochs));
    else
      out.push_back(hyper_number(setting, name));
  }
  return out;
}

}  // namespace tandem::advise
