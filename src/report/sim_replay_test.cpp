#include "app/sim_replay.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/runs.h"
#include "base/error.h"
#include "control/loop.h"
#include "report/replay_table.h"
#include "sim/world/world_play.h"

namespace tandem::report {

using namespace app;
namespace {

// Training jobs that come by themselves.
class Jobs final : public sim::Arrivals {
 public:
  explicit Jobs(spec::TrainJob job) : job_(std::move(job)) {}
  std::optional<Seconds> next() const override { return taken_ ? std::nullopt : std::optional(Seconds{0}); }
  JobSubmitted take() override {
    taken_ = true;
    return {0, job_};
  }

 private:
  spec::TrainJob job_;
  bool taken_ = false;
};

// A run that never was: its epochs take a second on two cores, give or take.
View made_run(std::int64_t epochs, double spread) {
  spec::TrainJob job;
  job.epochs = epochs;
  job.system = {2, 0, 1.0};
  Jobs jobs(job);
  sim::CurvePrograms programs(
      {.samples = 1000, .seconds_a_sample = 2e-3, .seconds_a_batch = 0, .spread = spread});
  sim::World world({.nodes = {{.name = "here", .capacity = {2, 4 * kGiB, 1.0}}}, .arrivals = &jobs},
                   programs);
  control::Decider decider(policies_for(spec::TrainJob{}));
  sim::play(world, decider);
  return decider.view();
}

TEST(SimReplay, ARunOfEqualEpochsIsPredictedExactly) {
  const auto replayed = replay_of(made_run(6, 0));
  ASSERT_EQ(replayed.epochs.size(), 6u);
  ASSERT_TRUE(replayed.median);
  EXPECT_NEAR(*replayed.median, 0, 1e-9);
  EXPECT_NEAR(replayed.error(), 0, 1e-9);
  EXPECT_GT(replayed.played.value, 6);
  EXPECT_EQ(replayed.epochs_played, 6);
  EXPECT_TRUE(replayed.played_out);
  EXPECT_EQ(replayed.guesses.beyond + replayed.guesses.points + replayed.guesses.configurations, 0);
}

TEST(SimReplay, EpochsThatVaryArePredictedWithAnErrorThatIsSaid) {
  const View run = made_run(30, 0.2);
  const auto replayed = replay_of(run);
  EXPECT_GT(*replayed.median, 0.02);
  EXPECT_LT(*replayed.median, 0.5);
  EXPECT_LT(std::abs(replayed.error()), 0.2) << "the sum is surer than its parts";
  store::RunInfo info;
  info.id = "20260101-000000-abcd";
  info.name = "made";
  const auto text = replay_table(info, run, replayed);
  EXPECT_NE(text.find("replayed: "), std::string::npos) << text;
  EXPECT_NE(text.find("median error"), std::string::npos) << text;
  const auto json = replay_json(info, run, replayed);
  EXPECT_DOUBLE_EQ(json["median_error"], *replayed.median);
  EXPECT_DOUBLE_EQ(json["replay"]["error"], replayed.error());
  EXPECT_EQ(json["epochs"].size(), 30u);
  EXPECT_EQ(json["trials"][0]["epochs"], 30);
}

TEST(SimReplay, ARunThatNeverBeganCannotBeReplayed) {
  EXPECT_THROW(replay_of(View{}), UserError);
}

}  // namespace
}  // namespace tandem::report
