// search_bench serve: answers one JSON line a question, so that bench/search/run can give Optuna the very
// same problems and compare in one run.
//
//   {"do": "problems"}                                        what there is, and what is missing
//   {"do": "evaluate", "problem": P, "point": {...}}          its loss there
//   {"do": "search", "problem": P, "sampler": S, "seed": N}   the losses of our trials, in order
//   {"do": "time", "sampler": S, "trials": N, "asks": M}      seconds of each of M ask+tell after N trials
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/search/bench.h"

namespace tandem::bench {
namespace {

using nlohmann::json;
using Kind = spec::Domain::Kind;

json describe(const spec::Parameter& parameter) {
  static const std::map<Kind, std::string> names{{Kind::choice, "choice"},
                                                 {Kind::real, "real"},
                                                 {Kind::log_real, "log_real"},
                                                 {Kind::whole, "whole"},
                                                 {Kind::log_whole, "log_whole"}};
  json out{{"name", parameter.name},
           {"kind", names.at(parameter.domain.kind)},
           {"low", parameter.domain.low},
           {"high", parameter.domain.high}};
  for (const auto& value : parameter.domain.choices) out["choices"].push_back(to_json(value));
  if (parameter.when) {
    out["when"]["parameter"] = parameter.when->parameter;
    for (const auto& value : parameter.when->values) out["when"]["values"].push_back(to_json(value));
  }
  return out;
}

json describe(const std::vector<Problem>& all, const std::vector<std::string>& skipped) {
  json out{{"problems", json::array()}, {"skipped", skipped}};
  for (const auto& problem : all) {
    json parameters = json::array();
    for (const auto& parameter : problem.space.parameters) parameters.push_back(describe(parameter));
    out["problems"].push_back(
        {{"name", problem.name}, {"trials", problem.trials}, {"parameters", parameters}});
  }
  return out;
}

}  // namespace

int serve(const std::string& data) {
  std::vector<std::string> skipped;
  const auto all = problems(data, skipped);
  const auto named = [&](const json& question) -> const Problem& {
    for (const auto& problem : all)
      if (problem.name == question.at("problem")) return problem;
    throw std::runtime_error("no such problem");
  };
  for (std::string line; std::getline(std::cin, line);) {
    const json question = json::parse(line);
    const std::string what = question.at("do");
    json answer;
    if (what == "problems") answer = describe(all, skipped);
    if (what == "evaluate") answer = named(question).loss(values_from_json(question.at("point")));
    if (what == "search") answer = search_for(named(question), question.at("sampler"), question.at("seed"));
    if (what == "time")
      answer = ask_tell_seconds(question.at("sampler"), question.at("trials"), question.at("asks"));
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

}  // namespace tandem::bench
