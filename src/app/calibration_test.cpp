#include "app/calibration.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/run_testing.h"
#include "base/complaint_for_test.h"
#include "platform/temporary.h"
#include "spec/parse_sim.h"

namespace tandem::app {
namespace {

using sample::Played;

class CalibrationTest : public testing::Test {
 protected:
  static spec::TrainJob lenet(std::int64_t epochs = 3) {
    auto job = sample::training(epochs);
    job.program.command.clear();
    job.program.model = "lenet5";
    job.program.dataset = "digits";
    return job;
  }
  std::string run_of(const spec::TrainJob& job, std::int64_t epochs = -1) {
    return sample::keep(store_, job, Played(job, {}, epochs)).id;
  }
  std::string refused(const std::string& run) {
    return complaint([&] { calibrate_run(store_, run); });
  }

  platform::TemporaryFolder folder_{"tandem-calibration"};
  store::Store store_{folder_.path() / "store"};
};

TEST_F(CalibrationTest, ARunBecomesANodeThatCanBeSimulated) {
  const auto run = run_of(lenet());
  const auto found = calibrate_run(store_, run);
  ASSERT_EQ(found.epochs.size(), 1U);
  EXPECT_EQ(found.epochs[0].batch, 64);
  EXPECT_EQ(found.epochs[0].cores, 1);
  EXPECT_DOUBLE_EQ(found.epochs[0].seconds, 10);
  EXPECT_TRUE(mentions(found.yaml, "--calibrate " + run)) << "where it comes from";
  EXPECT_TRUE(mentions(found.yaml, "model: lenet5")) << found.yaml;
  const auto told = calibration_json(found);
  EXPECT_EQ(told["run"], run);
  EXPECT_GT(told["flops_a_second_of_a_core"], 0);
}

TEST_F(CalibrationTest, WhatHasNoKnownOperationsIsRefused) {
  EXPECT_TRUE(mentions(refused(run_of(sample::training())), "a program of its own"));
  auto unknown = lenet();
  unknown.program.model = "nobody-knows-it";
  EXPECT_TRUE(mentions(refused(run_of(unknown)), "does not know the model 'nobody-knows-it'"));
}

TEST_F(CalibrationTest, WhatWasNotMeasuredIsRefused) {
  EXPECT_TRUE(mentions(refused(run_of(lenet(), 0)), "nothing was measured"));
  const auto never = store_.create_run("train", "x", spec::to_json(spec::Job(lenet())).dump(), Seconds{1});
  EXPECT_TRUE(mentions(refused(never.id), "ended before its job began"));
  EXPECT_FALSE(refused("no-such-run").empty());
}

}  // namespace
}  // namespace tandem::app
