#include "app/experiment_join.h"

#include <gtest/gtest.h>

#include "app/catalogue.h"
#include "app/experiment_results.h"
#include "app/run_testing.h"
#include "base/error.h"
#include "spec/parse.h"

namespace tandem::app {
namespace {

using sample::Played;

spec::Job experiment() {
  return spec::require_characterize(
      "kind: characterize\nname: e\nprogram: {command: [train]}\nhyper: {epochs: 2, batch_size: {choice: [32, 64]}}\n"
      "system: {cores: {choice: [1, 2]}}\nexperiment: {design: full}\n",
      "e.yaml", catalogue());
}

store::RunInfo run_called(const std::string& id) {
  return {id, "characterize", "e", "{}", "finished", "", Seconds{1}, Seconds{2}};
}

TEST(ExperimentJoin, WhatIsWritten) {
  EXPECT_EQ(parse_join("r1").run, "r1");
  EXPECT_EQ(parse_join("r1=lenet/mnist").method, "lenet");
  EXPECT_EQ(parse_join("r1=lenet/mnist").dataset, "mnist");
  for (const char* wrong : {"", "=a/b", "r1=", "r1=a", "r1=a/", "r1=/b"})
    EXPECT_THROW(parse_join(wrong), UserError) << wrong;
}

TEST(ExperimentJoin, TwoWorkloadsAreComparedByWhatBothMeasured) {
  const Played quick(experiment(), {.epoch_seconds = 1}), slow(experiment(), {.epoch_seconds = 10});
  ASSERT_EQ(quick.view().jobs.front().state, JobState::finished) << quick.view().jobs.front().reason;
  const auto joined = join_workloads({workload_of(run_called("r1"), quick.view(), parse_join("r1=a/x")),
                                      workload_of(run_called("r2"), slow.view(), parse_join("r2=b/x"))});
  EXPECT_EQ(joined.workloads.size(), 2U);
  ASSERT_FALSE(joined.variability.empty());
  const auto told = joined_json(joined);
  EXPECT_EQ(told["workloads"][0]["measured_runs"], 4);
  bool seconds = false;
  for (const auto& one : told["variability"])
    if (one["response"] == "train_seconds") {
      seconds = true;
      EXPECT_EQ(one["unit"], "s");
      EXPECT_TRUE(one["method"]["groups"].contains("a")) << one;
    }
  EXPECT_TRUE(seconds) << told;
  EXPECT_EQ(unit_of(joined, "nothing"), "");
}

TEST(ExperimentJoin, WhatCannotBeJoinedIsRefused) {
  const Played played(experiment()), begun(experiment(), {}, 0);
  const auto one = workload_of(run_called("r1"), played.view(), parse_join("r1=a/x"));
  EXPECT_THROW(join_workloads({one}), UserError) << "one workload";
  auto other = one;
  other.method = "b";
  EXPECT_THROW(join_workloads({one, other}), UserError) << "one run twice";
  other.run = "r2";
  EXPECT_THROW(join_workloads({one, other}, {"colour"}), UserError) << "no such response";
  EXPECT_THROW(workload_of(run_called("r1"), played.view(), parse_join("r1")), UserError) << "whose program is it?";
  EXPECT_THROW(workload_of(run_called("r1"), begun.view(), parse_join("r1=a/x")), UserError) << "nothing has ended";
  EXPECT_THROW(workload_of(run_called("r1"), Played(sample::training()).view(), parse_join("r1=a/x")), UserError);
}

TEST(ExperimentResults, RunsImpactsAndPlanAreTold) {
  const Played played(experiment());
  const auto told = experiment_json(run_called("r1"), played.view(), TaskFolders("/nowhere"));
  EXPECT_FALSE(told.empty());
  const auto found = findings_of(played.view(), 0, {});
  EXPECT_EQ(found.runs, 4U);
  EXPECT_EQ(found.whole_runs, 4U);
  EXPECT_EQ(left_out_text(found), "");
  bool cores = false;
  for (const auto& impact : found.impacts)
    if (impact.factor == "cores" && impact.response == "train_seconds" && impact.variation) {
      cores = true;
      EXPECT_GT(*impact.variation, 0.2) << "two cores are twice as fast";
    }
  EXPECT_TRUE(cores);
  const auto progress = experiment_progress(played.view(), played.view().jobs.front());
  EXPECT_EQ(progress.done, progress.of);
}

TEST(ExperimentResults, RunsThatFailedAreLeftOutAndSaid) {
  const Played played(experiment(), {.fails_in = 2});
  const auto found = findings_of(played.view(), 0, {});
  EXPECT_EQ(found.whole_runs, 0U);
  EXPECT_NE(left_out_text(found), "");
}

TEST(ExperimentResults, HowItIsLookedAtIsKeptWithTheRun) {
  AnalysisOptions options;
  options.good_enough = 0.9;
  options.responses = {"joules"};
  auto run = run_called("r1");
  EXPECT_FALSE(analysis_options_of(run).good_enough) << "nothing was said";
  run.spec = nlohmann::json{{"looking", json_of(options)}}.dump();
  EXPECT_EQ(analysis_options_of(run).good_enough, 0.9);
  EXPECT_EQ(analysis_options_of(run).responses, options.responses);
}

}  // namespace
}  // namespace tandem::app
