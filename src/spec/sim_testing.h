// What the tests of simulations share: a small good spec, and one line to expect an issue.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spec/parse_sim.h"
#include "spec/sample_catalogue.h"

namespace tandem::spec::sim_testing {

inline const Catalogue kCatalogue = sample_catalogue();

inline const std::string kCluster = R"(cluster:
  devices:
    cpu1: {kind: cpu, cores: 24, clock: 3.5GHz}
    gpu1: {kind: gpu, cores: 100, clock: 824MHz}
  node_types:
    thin: {devices: {cpu1: 1, gpu1: 2}}
  nodes: {thin: 3}
  network: {bandwidth: 12GB/s}
)";
inline const std::string kWorkload = "workloads:\n  - {model: alexnet, batch: 64, iterations: 142}\n";
inline const std::string kSmall = "kind: sim\n" + kCluster + kWorkload;

// `text` with its first `from` replaced.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

inline SimResult parse(const std::string& text) {
  return parse_sim(text, "job.yaml", kCatalogue);
}

inline std::string listed(const std::vector<Issue>& issues) {
  std::string out;
  for (const auto& issue : issues) out += "\n" + spec::text(issue);
  return out;
}

inline SimJob good(const std::string& text) {
  const auto [job, issues] = parse(text);
  EXPECT_TRUE(issues.empty()) << text << listed(issues);
  return job.value_or(SimJob{});
}

// Where `words` begin, as "line:column".
inline std::string place_of(const std::string& text, const std::string& words) {
  const auto at = text.find(words);
  EXPECT_NE(at, std::string::npos) << words;
  int line = 1, column = 1;
  for (const char c : text.substr(0, at)) {
    ++column;
    if (c == '\n') ++line, column = 1;
  }
  return std::to_string(line) + ":" + std::to_string(column);
}

// `text` has exactly this issue, where `words` begin: "path: the beginning of the message".
inline void expect_issue(const std::string& text, const std::string& words, const std::string& expected) {
  const auto [job, issues] = parse(text);
  EXPECT_FALSE(job);
  ASSERT_EQ(issues.size(), 1u) << text << listed(issues);
  const std::string whole = "job.yaml:" + place_of(text, words) + ": " + expected;
  EXPECT_EQ(spec::text(issues[0]).substr(0, whole.size()), whole);
}

}  // namespace tandem::spec::sim_testing
