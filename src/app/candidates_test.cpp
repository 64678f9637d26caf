#include "app/candidates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/complaint_for_test.h"
#include "data/dataset.h"
#include "data/models.h"
#include "spec/parse.h"

namespace tandem::app {
namespace {

using Of = spec::Domain::Kind;

Catalogue known() {
  return {data::models(), data::datasets()};
}

Choices experiment(const std::string& rest) {
  const auto parsed = spec::parse_characterize(
      "kind: train\nprogram: {model: lenet5, dataset: digits}\n" + rest, "job.yaml", known());
  EXPECT_TRUE(parsed.job) << (parsed.issues.empty() ? "" : parsed.issues[0].message);
  return choices_of(*parsed.job);
}

const Resources kMachine{2, 8 * kGiB, 1.0};

std::vector<std::int64_t> whole(std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> out;
  for (const auto& value : few_values({Of::whole, {}, static_cast<double>(low), static_cast<double>(high)}))
    out.push_back(std::get<std::int64_t>(value));
  return out;
}

TEST(Candidates, AreEveryCombinationOfTheDomains) {
  const auto all =
      candidates_of(experiment("hyper: {batch_size: {choice: [32, 64, 128]}, epochs: {choice: [2, 4]}}\n"
                               "system: {cores: {choice: [1, 2]}}\n"),
                    kMachine);
  EXPECT_EQ(all.size(), 12U);
  for (const auto& one : all) {
    EXPECT_TRUE(one.hyper.contains("learning_rate")) << "what is fixed is part of a setting";
    EXPECT_FALSE(one.hyper.contains("epochs"));
  }
}

TEST(Candidates, CoresThatThisMachineDoesNotHaveAreNoChoice) {
  const auto spec = [](const char* cores) {
    return experiment(std::string("hyper: {batch_size: {choice: [32, 64]}}\nsystem: {cores: ") + cores +
                      "}\n");
  };
  EXPECT_EQ(candidates_of(spec("{choice: [1, 2, 4]}"), kMachine).size(), 4U);
  try {
    candidates_of(spec("{choice: [4, 8]}"), kMachine);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("at least 4 cores"), std::string::npos) << error.what();
  }
}

TEST(Candidates, KeepToTheConstraints) {
  auto job = experiment(
      "hyper: {batch_size: {choice: [32, 64]}}\nsystem: {cores: {choice: [1, 2]}}\n"
      "constraints: [\"batch_size / cores >= 32\"]\n");
  EXPECT_EQ(candidates_of(job, kMachine).size(), 3U) << "32 on two cores is not allowed";
  job = experiment("hyper: {batch_size: {choice: [32, 64]}}\nconstraints: [\"batch_size > 1000\"]\n");
  EXPECT_THROW(candidates_of(job, kMachine), UserError);
}

TEST(Candidates, LongRangesAreThinnedWithTheirEndsKept) {
  EXPECT_EQ(whole(1, 4), (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(whole(5, 100), (std::vector<std::int64_t>{5, 8, 16, 32, 64, 100}));
  const auto real = few_values({Of::log_real, {}, 0.001, 10});
  ASSERT_EQ(real.size(), static_cast<std::size_t>(kSteps));
  EXPECT_NEAR(std::get<double>(real[2]), 0.1, 1e-12);
}

TEST(Candidates, TooManyAreRefusedBeforeTheyAreMade) {
  std::string rest =
      "hyper: {batch_size: {int: [1, 16]}, learning_rate: {log: [0.001, 0.1]}, momentum: {range: [0, 0.9]},"
      " dropout: {range: [0, 0.5]}, weight_decay: {range: [0, 0.1]}, epochs: {int: [1, 16]}}\n";
  EXPECT_THROW(candidates_of(experiment(rest), kMachine), UserError);
}

TEST(Candidates, OfHundredsOfHyperparametersFewerAreHeld) {
  Choices job;
  job.epochs = {1};
  job.system.cores = {1};
  for (int i = 0; i < 400; ++i)
    job.hyper.parameters.push_back({fmt::format("p{}", i), {Of::choice, {std::int64_t{1}}}, {}});
  for (std::int64_t i = 1; i < 2400; ++i) job.hyper.parameters[0].domain.choices.emplace_back(i + 1);
  EXPECT_EQ(candidates_of(job, kMachine).size(), 2400U) << "just below a million values";
  for (std::int64_t i = 0; i < 9'000; ++i) job.hyper.parameters[0].domain.choices.emplace_back(i + 5000);
  const auto said = complaint([&] { candidates_of(job, kMachine); });
  EXPECT_TRUE(mentions(said, "more than 2500 combinations")) << said;
  EXPECT_TRUE(mentions(said, "each of 400 hyperparameters")) << said;
  EXPECT_TRUE(mentions(said, "fix what is not in question")) << said;
}

TEST(Candidates, TheChosenJobIsTheSpecsWithTheChoice) {
  const auto job = experiment("hyper: {batch_size: {choice: [32, 64]}, epochs: 7}\nsystem: {cores: 1}\n");
  const auto all = candidates_of(job, kMachine);
  ASSERT_EQ(all.size(), 2U);
  const auto chosen = chosen_job(job.base, all[1]);
  EXPECT_EQ(chosen.hyper.at("batch_size"), Value{std::int64_t{64}});
  EXPECT_EQ(chosen.epochs, 7);
  EXPECT_EQ(chosen.system.cores, 1);
  EXPECT_EQ(chosen.program.model, "lenet5");
}

}  // namespace
}  // namespace tandem::app
