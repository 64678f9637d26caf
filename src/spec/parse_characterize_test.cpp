#include <nlohmann/json.hpp>

#include "base/error.h"
#include "spec/field.h"
#include "spec/tune_testing.h"

namespace tandem::spec::testing {
namespace {

const std::string kExperiment = "kind: characterize\nprogram: {model: lenet5, dataset: digits}\n";

Experiment good_experiment(std::string_view text) {
  const auto [job, issues] = parse_characterize(text, "job.yaml", kCatalogue);
  for (const auto& issue : issues) ADD_FAILURE() << spec::text(issue);
  return job.value_or(Experiment{});
}

void expect_only(std::string_view text, const std::string& place, const std::string& words) {
  const auto [job, issues] = parse_characterize(text, "job.yaml", kCatalogue);
  EXPECT_FALSE(job);
  ASSERT_EQ(issues.size(), 1u) << text;
  const auto said = spec::text(issues[0]);
  EXPECT_EQ(said.rfind("job.yaml:" + place, 0), 0u) << said;
  EXPECT_NE(said.find(words), std::string::npos) << said;
}

const Parameter* parameter(const Experiment& job, const std::string& name) {
  for (const auto& one : job.factors.parameters)
    if (one.name == name) return &one;
  return nullptr;
}

TEST(ParseCharacterize, AWholeSpec) {
  const auto job = good_experiment(kExperiment + R"(hyper:
  batch_size: {choice: [32, 64]}
  epochs: {choice: [1, 2]}
constraints: ["jobs * cores <= 4", "epochs >= 1"]
system: {cores: {choice: [2, 1]}}
experiment: {design: space-filling, points: 12, replications: 3, jobs: [1, 2], nodes: [1], seed: 9}
limits: {time: 1h}
)");
  EXPECT_EQ(job.design, "space-filling");
  EXPECT_EQ(job.points, 12);
  EXPECT_EQ(job.replications, 3);
  EXPECT_EQ(job.seed, 9);
  EXPECT_EQ(job.base.seed, 9);
  EXPECT_EQ(job.base.limits.time, Seconds{3600});
  EXPECT_EQ(job.system.cores, (std::vector<int>{1, 2}));
  ASSERT_TRUE(parameter(job, kJobs) && parameter(job, "epochs") && parameter(job, "batch_size"));
  EXPECT_EQ(parameter(job, kJobs)->domain.choices, (std::vector<Value>{whole(1), whole(2)}));
  EXPECT_EQ(parameter(job, "epochs")->domain.choices, (std::vector<Value>{whole(1), whole(2)}));
  EXPECT_EQ(experiment_from_json(to_json(job)), job) << "a run is resumed from its journal";
}

TEST(ParseCharacterize, ATrainingSpecWithDomainsWillDoAndDefaultsHold) {
  const auto job = good_experiment(
      "kind: train\nprogram: {model: lenet5, dataset: digits}\n"
      "hyper: {batch_size: {choice: [32, 64]}, epochs: 4}\n");
  EXPECT_EQ(job.design, "one-at-a-time");
  EXPECT_EQ(job.base.epochs, 4);
  EXPECT_EQ(parameter(job, "epochs"), nullptr) << "one value does not vary";
  EXPECT_EQ(parameter(job, kJobs), nullptr);
  EXPECT_EQ(job.replications, 1);
}

TEST(ParseCharacterize, TheModelsDefaultIsUsualWhereTheDomainHasIt) {
  const auto* model = &kCatalogue.models.front();
  ASSERT_EQ(model->name, "lenet5");
  for (const auto& rule : model->hyper) {
    if (rule.name != "batch_size") continue;
    const auto usual = std::get<std::int64_t>(rule.fallback);
    const auto with = [&](std::int64_t other, std::int64_t one) {
      return good_experiment(kExperiment + "hyper: {batch_size: {choice: [" + std::to_string(other) + ", " +
                             std::to_string(one) + "]}}\n");
    };
    EXPECT_EQ(with(usual + 1, usual).base.hyper.at("batch_size"), Value(usual));
    EXPECT_FALSE(with(usual + 1, usual + 2).base.hyper.contains("batch_size"));
  }
}

TEST(ParseCharacterize, MistakesAreSaidWithTheirPlace) {
  const std::string varies = "hyper: {batch_size: {choice: [32, 64]}}\n";
  expect_only(kExperiment + varies + "experiment: {desing: full}\n", "4:14", "did you mean");
  expect_only(kExperiment + varies + "experiment: {design: fractional}\n", "4:22", "space-filling");
  expect_only(kExperiment + varies + "experiment: {jobs: [0]}\n", "4:21", "at least 1");
  expect_only(kExperiment + varies + "experiment: {jobs: 2}\n", "4:20", "list");
  expect_only(kExperiment + varies + "experiment: {replications: 1.5}\n", "4:28", "whole number");
  expect_only(kExperiment + varies + "system: {nodes: 2}\n", "4:10", "experiment.nodes");
  expect_only(kExperiment + varies + "search: {trials: 3}\n", "4:1", "unknown key");
  expect_only(kExperiment + varies + "seed: 3\n", "4:1", "experiment.seed");
  expect_only(kExperiment + "hyper: {batch_size: 32}\n", "3:", "nothing varies");
  expect_only("kind: characterize\nprogram: {command: [./go]}\nhyper: {jobs: {choice: [1, 2]}}\n", "3:9",
              "experiment.jobs");
  expect_only(kExperiment +
                  "hyper: {optimizer: {choice: [sgd, adam]}, dropout: {range: [0, 0.5], when: "
                  "{optimizer: sgd}}}\n",
              "3:", "condition");
  expect_only("kind: sim\n", "1:7", "here it must be characterize");
}

}  // namespace
}  // namespace tandem::spec::testing
