#include "app/experiment_world.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/catalogue.h"
#include "base/complaint_for_test.h"
#include "spec/parse.h"

namespace tandem::app {
namespace {

spec::Experiment experiment(const std::string& system, const std::string& jobs) {
  return spec::require_characterize("kind: characterize\nname: e\nprogram: {command: [train]}\n"
                                    "hyper: {epochs: 1, batch_size: {choice: [32, 64]}}\nsystem: {" +
                                        system + "}\nexperiment: {design: full, jobs: " + jobs + "}\n",
                                    "e.yaml", catalogue());
}

store::RunInfo run_with(const nlohmann::json& spec) {
  return {"r1", "characterize", "e", spec.dump(), "running", "", Seconds{1}, Seconds{2}};
}

TEST(ExperimentWorld, IsKeptWithTheRun) {
  RunWorld where{"slurm", "gpu", "ana", "high", "rack1", Seconds{60}};
  const auto again = world_of(run_with({{"world", json_of(where)}}));
  EXPECT_EQ(json_of(again), json_of(where));
  EXPECT_DOUBLE_EQ(again.time->value, 60);
  EXPECT_FALSE(again.here());
}

TEST(ExperimentWorld, IsThisMachineWhereNothingIsSaid) {
  for (const auto& spec : {nlohmann::json::object(), nlohmann::json{{"world", "slurm"}}, nlohmann::json(7)}) {
    const auto where = world_of(run_with(spec));
    EXPECT_TRUE(where.here()) << spec;
    EXPECT_FALSE(where.time);
  }
}

TEST(ExperimentWorld, HasALaneForEachConcurrentJob) {
  EXPECT_EQ(lanes_for(experiment("cores: {choice: [1, 2]}", "[1]")), 1);
  EXPECT_EQ(lanes_for(experiment("cores: {choice: [1, 2]}", "[1, 3]")), 3);
}

TEST(ExperimentWorld, APointThatNeverFitsIsRefusedBeforeAnythingRuns) {
  const Resources machine{2, 8 * kGiB, 1.0};
  check_fits_here(experiment("cores: {choice: [1, 2]}, memory: 2GiB", "[1, 4]"), machine);
  const auto cores = complaint([&] { check_fits_here(experiment("cores: {choice: [1, 3]}", "[1]"), machine); });
  EXPECT_TRUE(mentions(cores, "asks for 3 cores, and this machine has 2")) << cores;
  const auto memory = complaint(
      [&] { check_fits_here(experiment("cores: {choice: [1, 2]}, memory: 3GiB", "[1, 4]"), machine); });
  EXPECT_TRUE(mentions(memory, "4 processes of 3 GiB at once, 12 GiB in all")) << memory;
}

}  // namespace
}  // namespace tandem::app
