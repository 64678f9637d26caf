// What the tests of tuning specs share: a small catalogue, beginnings of specs, and one line to expect an
// issue.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spec/parse.h"
#include "spec/sample_catalogue.h"

namespace tandem::spec::testing {

using Kind = Domain::Kind;

inline const Catalogue kCatalogue = sample_catalogue();
inline const std::string kLenet = "kind: tune\nprogram: {model: lenet5, dataset: digits}\n";
inline const std::string kCommand = "kind: tune\nprogram: {command: [./go]}\n";
inline const std::string kRate = "hyper: {learning_rate: {log: [0.001, 0.1]}}\n";
inline const std::string kFree = "hyper: {x: {range: [0, 1]}}\n";

inline TuneResult parse(std::string_view text) {
  return parse_tune(text, "job.yaml", kCatalogue);
}

inline TuneJob good(std::string_view text) {
  const auto [job, issues] = parse(text);
  for (const auto& issue : issues) ADD_FAILURE() << spec::text(issue);
  return job.value_or(TuneJob{});
}

// `text` has exactly this issue: "line:column: path: the beginning of the message".
inline void expect_issue(std::string_view text, const std::string& expected) {
  const auto [job, issues] = parse(text);
  EXPECT_FALSE(job);
  std::string all;
  for (const auto& issue : issues) all += "\n" + spec::text(issue);
  ASSERT_EQ(issues.size(), 1u) << text << all;
  EXPECT_EQ(spec::text(issues[0]).substr(0, expected.size() + 9), "job.yaml:" + expected);
}

inline bool mentions(const TuneResult& result, const std::string& words) {
  for (const auto& issue : result.issues)
    if (issue.message.find(words) != std::string::npos) return true;
  return false;
}

inline Domain choice(std::vector<Value> choices) {
  return {.kind = Kind::choice, .choices = std::move(choices)};
}
inline Domain between(Kind kind, double low, double high) {
  return {.kind = kind, .choices = {}, .low = low, .high = high};
}
inline Value whole(std::int64_t number) {
  return number;
}
inline Value word(const char* text) {
  return std::string(text);
}

// The one parameter of a command that has this domain.
inline Domain of_command(const std::string& domain) {
  const auto job = good(kCommand + "hyper: {x: " + domain + "}\n");
  return job.hyper.parameters.size() == 1 ? job.hyper.parameters[0].domain : Domain{};
}

inline std::vector<std::string> order(const TuneJob& job) {
  std::vector<std::string> out;
  for (const auto& parameter : job.hyper.parameters) out.push_back(parameter.name);
  return out;
}

}  // namespace tandem::spec::testing
