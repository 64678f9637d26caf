#include "app/results.h"

#include <gtest/gtest.h>

#include <fstream>

#include "app/catalogue.h"
#include "app/run_testing.h"
#include "app/tune_results.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

using sample::Played;
using sample::training;

const store::RunInfo kRun{"r1", "train", "mlp", "{}", "finished", "", Seconds{1}, Seconds{2}};

TEST(Results, AScoreIsAccuracyElseErrorElseLossElseAnything) {
  EXPECT_EQ(score_of({{"loss", 2.0}, {"accuracy", 0.5}})->metric, "accuracy");
  EXPECT_FALSE(score_of({{"loss", 2.0}, {"error", 0.5}})->higher_is_better);
  EXPECT_EQ(score_of({{"loss", 2.0}, {"error", 0.5}})->metric, "error");
  EXPECT_EQ(score_of({{"bleu", 30.0}})->metric, "bleu");
  EXPECT_TRUE(score_of({{"bleu", 30.0}})->higher_is_better);
  EXPECT_FALSE(score_of({}));
}

TEST(Results, TheBestEpochIsByItsScore) {
  TaskView task;
  EXPECT_EQ(best_epoch(task), nullptr);
  for (const double loss : {3.0, 1.0, 2.0}) {
    EpochRecord record;
    record.epoch = static_cast<std::int64_t>(task.epochs.size()) + 1;
    record.metrics = {{"loss", loss}};
    record.seconds = Seconds{loss};
    task.epochs.push_back(record);
  }
  EXPECT_EQ(best_epoch(task)->epoch, 2);
  EXPECT_DOUBLE_EQ(training_time(task).value, 6);
  task.epochs[0].metrics.clear();
  EXPECT_EQ(best_epoch(task)->epoch, 2) << "one that says nothing is none";
}

TEST(Results, ATrainingSaysWhatItCost) {
  const Played run(training(3));
  const auto result = result_json(kRun, run.view(), TaskFolders("/nowhere"));
  EXPECT_EQ(result["state"], "finished");
  EXPECT_EQ(result["epochs"].size(), 3U);
  EXPECT_EQ(result["epochs_wanted"], 3);
  EXPECT_EQ(result["metrics"], result["epochs"][2]["metrics"]);
  EXPECT_EQ(result["best"]["epoch"], 3);
  EXPECT_EQ(result["train_seconds"], 30);
  EXPECT_EQ(result["joules"], 90);
  EXPECT_EQ(result["energy_source"], "rapl");
  EXPECT_TRUE(result["model"].is_null());
  EXPECT_FALSE(result.contains("last_failure"));
  const auto progress = train_progress(run.view(), run.view().jobs.front());
  EXPECT_EQ(std::pair(progress.done, progress.of), std::pair(std::int64_t{3}, std::int64_t{3}));
}

TEST(Results, EnergyThatNobodyMeasuredIsNull) {
  const Played run(training(2), {.joules_a_second = std::nullopt});
  const auto result = result_json(kRun, run.view(), TaskFolders("/nowhere"));
  EXPECT_TRUE(result["joules"].is_null());
  EXPECT_TRUE(result["energy_source"].is_null());
  EXPECT_TRUE(result["epochs"][0]["joules"].is_null());
}

TEST(Results, AFailureIsToldWithItsLastWords) {
  const Played run(training(3), {.fails_in = 2});
  const auto result = result_json(kRun, run.view(), TaskFolders("/nowhere"));
  EXPECT_EQ(result["last_failure"]["failure"], "crashed");
  EXPECT_EQ(result["last_failure"]["last_output"], "last words");
  EXPECT_EQ(result["epochs"].size(), 1U);
}

TEST(Results, ARunWhoseJobNeverBeganHasNothing) {
  const auto result = result_json(kRun, View{}, TaskFolders("/nowhere"));
  EXPECT_EQ(result["metrics"], nlohmann::json::object());
  EXPECT_TRUE(result["model"].is_null());
}

TEST(Results, TheModelIsAFileOfTheTask) {
  platform::TemporaryFolder folder("tandem-results");
  const Played run(training(1));
  const TaskFolders folders(folder.path());
  EXPECT_FALSE(model_file(folders, run.view()));
  std::filesystem::create_directories(folders.of(0));
  std::ofstream(folders.of(0) / "model.ubj") << "x";
  EXPECT_EQ(model_file(folders, run.view()), folders.of(0) / "model.ubj");
  std::ofstream(folders.of(0) / "model.pt") << "x";
  EXPECT_EQ(model_file(folders, run.view()), folders.of(0) / "model.pt");
}

spec::Job search(const std::string& objective) {
  return find_kind("tune")->parse(
      "kind: tune\nname: s\nprogram: {command: [train]}\nsearch: {algorithm: random, trials: 3, max_epochs: 2}\n"
      "hyper:\n  x: {range: [0, 1]}\nsystem: {cores: {choice: [1, 2]}}\nobjective: " + objective + "\n",
      "tune.yaml", catalogue());
}

TEST(TuneResults, ASearchSaysItsBestItsTrialsAndWhatTheyCost) {
  const Played run(search("{maximise: accuracy}"));
  ASSERT_EQ(run.view().jobs.front().state, JobState::finished) << run.view().jobs.front().reason;
  const auto result = result_json(kRun, run.view(), TaskFolders("/nowhere"));
  EXPECT_EQ(result["trials"].size(), 3U);
  EXPECT_EQ(result["algorithm"], "random");
  EXPECT_EQ(result["goals"][0]["metric"], "accuracy");
  EXPECT_FALSE(result.contains("cost"));
  EXPECT_EQ(result["best"]["epoch"], 2);
  EXPECT_EQ(result["best"]["metrics"]["accuracy"], 1 - 1.0 / 3);
  EXPECT_EQ(best_trial(run.view()), result["best"]["trial"].get<TaskId>());
  std::size_t epochs = 0;
  double joules = 0;
  for (const auto& trial : result["trials"]) {
    EXPECT_TRUE(trial["hyper"].contains("x"));
    EXPECT_EQ(trial["history"].size(), trial["epochs"].get<std::size_t>());
    epochs += trial["history"].size();
    joules += trial["joules"].get<double>();
  }
  EXPECT_EQ(result["epochs_total"], epochs);
  EXPECT_DOUBLE_EQ(result["tuning_joules"], joules);
  EXPECT_EQ(energy_of(tune::outcome(run.view(), 0)).source, "rapl");
  const auto progress = tune_progress(run.view(), run.view().jobs.front());
  EXPECT_EQ(std::pair(progress.done, progress.of), std::pair(std::int64_t{3}, std::int64_t{3}));
}

TEST(TuneResults, TrialsThatAllFailHaveNoBestButTheirFailures) {
  const Played run(search("{maximise: accuracy}"), {.fails_in = 1});
  const auto result = result_json(kRun, run.view(), TaskFolders("/nowhere"));
  EXPECT_TRUE(result["best"].is_null());
  EXPECT_FALSE(best_trial(run.view()));
  ASSERT_FALSE(result["trials"].empty());
  EXPECT_EQ(result["trials"][0]["failure"]["failure"], "crashed");
  EXPECT_TRUE(result["trials"][0]["best_epoch"].is_null());
}

TEST(TuneResults, SeveralGoalsHaveAFront) {
  const Played run(search("{maximise: accuracy, minimise: [train_time, energy]}"));
  const auto result = result_json(kRun, run.view(), TaskFolders("/nowhere"));
  EXPECT_EQ(result["goals"].size(), 3U);
  EXPECT_FALSE(result["front"].empty());
}

}  // namespace
}  // namespace tandem::app
