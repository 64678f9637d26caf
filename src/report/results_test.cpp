#include "app/results.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "platform/temporary.h"
#include "report/energy_text.h"
#include "report/result_table.h"

namespace tandem::report {

using namespace app;
namespace {

View view_with(std::vector<EpochRecord> epochs) {
  View view;
  JobView job;
  spec::base_of(job.spec).epochs = 3;
  view.jobs.push_back(job);
  TaskView task;
  task.attempt = 1;
  task.epochs = std::move(epochs);
  if (!task.epochs.empty() && task.epochs.back().energy)
    task.energy_source = task.epochs.back().energy->source;
  view.tasks.push_back(task);
  return view;
}

EpochRecord epoch(std::int64_t number, Metrics metrics, std::optional<Energy> energy = {}) {
  EpochRecord record;
  record.epoch = number;
  record.metrics = std::move(metrics);
  record.seconds = Seconds{2};
  record.energy = std::move(energy);
  return record;
}

const store::RunInfo kRun{"id-1", "train", "demo", "{}", "finished", "", Seconds{1}, Seconds{2}};

TEST(Score, AccuracyComesBeforeErrorBeforeLoss) {
  EXPECT_EQ(score_of({{"accuracy", 0.9}, {"loss", 1.0}})->metric, "accuracy");
  EXPECT_EQ(score_of({{"error", 0.2}, {"loss", 1.0}})->metric, "error");
  EXPECT_FALSE(score_of({{"loss", 1.0}})->higher_is_better);
  EXPECT_EQ(score_of({{"reward", 3.0}})->metric, "reward");
  EXPECT_FALSE(score_of({}));
}

TEST(Score, TheBestEpochKnowsWhichWayIsUp) {
  EXPECT_EQ(best_epoch(view_with({epoch(1, {{"accuracy", 0.5}}), epoch(2, {{"accuracy", 0.9}}),
                                  epoch(3, {{"accuracy", 0.7}})})
                           .tasks[0])
                ->epoch,
            2);
  EXPECT_EQ(
      best_epoch(view_with({epoch(1, {{"loss", 0.5}}), epoch(2, {{"loss", 0.2}}), epoch(3, {{"loss", 0.7}})})
                     .tasks[0])
          ->epoch,
      2);
  EXPECT_EQ(best_epoch(view_with({}).tasks[0]), nullptr);
}

TEST(EnergyText, NeverShowsAnEstimateAsMeasuredOrAGapAsATotal) {
  auto view = view_with({epoch(1, {}, Energy{Joules{10}, "model (idle 8 W, busy 30 W)"})});
  EXPECT_EQ(energy_text(view.tasks[0]), "10.0 J, estimated: model (idle 8 W, busy 30 W)");
  view.tasks[0].energy_complete = false;
  EXPECT_TRUE(energy_text(view.tasks[0]).starts_with("at least 10.0 J"));
  view = view_with({epoch(1, {}, Energy{Joules{10}, "rapl"})});
  EXPECT_EQ(energy_text(view.tasks[0]), "10.0 J, measured: rapl");
  EXPECT_TRUE(energy_text(view_with({epoch(1, {})}).tasks[0]).starts_with("unknown"));
}

TEST(EnergyText, NamesEveryPartWithItsSourceAndWhatIsIdle) {
  const EnergyPart gpu{"GPU", Joules{300}, "nvml"}, cpu{"CPU", Joules{112}, "model (a)", Joules{80}};
  EXPECT_EQ(energy_text(EnergyTotal{Joules{412}, "nvml + model (a)", true, {gpu, cpu}}),
            "412.0 J: 300.0 J GPU (nvml), 112.0 J CPU (model (a)); of it at least 80.0 J idle");
  EXPECT_EQ(energy_text(EnergyTotal{Joules{112}, "model (a)", true, {cpu}}),
            "112.0 J, estimated: model (a); of it 80.0 J idle");
  EXPECT_EQ(energy_text(EnergyTotal{Joules{300}, "nvml", false, {gpu, EnergyPart{"CPU"}}}),
            "at least 300.0 J: 300.0 J GPU (nvml), CPU unknown");
  EXPECT_STREQ(how_known({Joules{412}, "nvml + model (a)", true, {gpu, cpu}}), "partly estimated");
  EXPECT_STREQ(how_known({Joules{300}, "nvml", false, {gpu, EnergyPart{"CPU"}}}), "measured");
  auto view = view_with({epoch(1, {}, sum_of({gpu, cpu})), epoch(2, {}, sum_of({gpu, cpu}))});
  EXPECT_EQ(energy_text(view.tasks[0]),
            "824.0 J: 600.0 J GPU (nvml), 224.0 J CPU (model (a)); of it at least 160.0 J idle");
  const auto parts = result_json(kRun, view, std::filesystem::path("/nowhere")).at("energy_parts");
  EXPECT_EQ(parts.at(0).at("joules"), 600.0);
  EXPECT_TRUE(parts.at(0).at("idle_joules").is_null());
  EXPECT_EQ(parts.at(1).at("idle_joules"), 160.0);
}

TEST(Result, JsonHasNullWhereNothingIsKnown) {
  const platform::TemporaryFolder folder;
  const auto json = result_json(kRun, view_with({epoch(1, {{"accuracy", 0.5}})}), folder.path());
  EXPECT_TRUE(json.at("joules").is_null());
  EXPECT_TRUE(json.at("energy_source").is_null());
  EXPECT_TRUE(json.at("model").is_null());
  EXPECT_EQ(json.at("metrics").at("accuracy"), 0.5);
  EXPECT_EQ(json.at("train_seconds"), 2.0);
}

TEST(Result, TheTableNamesTheModelOnceItIsThere) {
  const platform::TemporaryFolder folder;
  const auto view =
      view_with({epoch(1, {{"accuracy", 0.5}, {"loss", 1.5}}), epoch(2, {{"accuracy", 0.4}, {"loss", 1.6}})});
  EXPECT_EQ(result_table(kRun, view, folder.path(), false).find("model"), std::string::npos);
  std::filesystem::create_directories(folder.path() / "task-0");
  std::ofstream(folder.path() / "task-0/model.pt") << "x";
  const auto table = result_table(kRun, view, folder.path(), true);
  EXPECT_NE(table.find("model.pt"), std::string::npos);
  EXPECT_NE(table.find("best 0.5 at epoch 1"), std::string::npos) << table;
  EXPECT_NE(table.find("2 of 3 epochs"), std::string::npos);
}

TEST(Result, ARunThatNeverStartedHasATableToo) {
  auto run = kRun;
  run.state = "failed";
  run.reason = "no room";
  EXPECT_NE(result_table(run, View(), std::filesystem::path("/nowhere"), true).find("no room"),
            std::string::npos);
  EXPECT_EQ(result_json(run, View(), std::filesystem::path("/nowhere")).at("state"), "failed");
}

}  // namespace
}  // namespace tandem::report
