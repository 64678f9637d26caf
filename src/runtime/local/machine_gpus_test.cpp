#include "runtime/local/machine_gpus.h"

#include <gtest/gtest.h>

#include "base/complaint_for_test.h"
#include "platform/fake_nvml.h"
#include "platform/temporary.h"

namespace tandem::local {
namespace {

// Two GPUs that take 200 to 700 W, and clocks up to about 2 GHz.
class MachineGpusTest : public testing::Test {
 protected:
  std::unique_ptr<MachineGpus> open() {
    auto out = MachineGpus::open({.nvml = fake_.lookup(), .folder = folder_.path()});
    if (!out) throw SystemError("no GPUs");
    return out;
  }
  static spec::SystemSpace asks(int gpus, std::vector<double> power = {}, std::vector<double> clock = {}) {
    return {.gpus = gpus, .gpu_power = std::move(power), .gpu_clock = std::move(clock)};
  }
  std::string refused(const spec::SystemSpace& asked) {
    return complaint([&] { open()->check(asked); });
  }

  platform::TemporaryFolder folder_{"tandem-machine-gpus"};
  platform::FakeNvml fake_;
  LocalOptions options_;
};

TEST_F(MachineGpusTest, WithoutAnyThereIsNobodyToAsk) {
  fake_.failing.insert("nvmlInit_v2");
  EXPECT_FALSE(MachineGpus::open({.nvml = fake_.lookup(), .folder = folder_.path()}));
}

TEST_F(MachineGpusTest, AJobThatSetsNothingLeavesThemUntouched) {
  const auto gpus = open();
  fake_.failing.insert("nvmlDeviceSetPowerManagementLimit");
  gpus->offer(options_, asks(1));
  ASSERT_EQ(options_.gpus.size(), 2U);
  EXPECT_EQ(options_.gpus[0].most_power.value, 0) << "nobody tried whether it can be set";
  EXPECT_TRUE(gpus->notes().empty());
}

TEST_F(MachineGpusTest, WhatMayBeSetIsThereToBeSet) {
  open()->offer(options_, asks(1, {300}));
  ASSERT_EQ(options_.gpus.size(), 2U);
  EXPECT_DOUBLE_EQ(options_.gpus[1].most_power.value, 700);
  EXPECT_GT(options_.gpus[1].most_clock, 0);
}

TEST_F(MachineGpusTest, WhatMayNotBeSetIsSaidAndNotThere) {
  fake_.failing.insert("nvmlDeviceSetPowerManagementLimit");
  const auto gpus = open();
  gpus->offer(options_, asks(1, {300}));
  EXPECT_EQ(options_.gpus[0].most_power.value, 0);
  EXPECT_EQ(options_.gpus[0].most_clock, 0);
  ASSERT_EQ(gpus->notes().size(), 2U);
  EXPECT_TRUE(mentions(gpus->notes()[1], "GPU 1 stays as it is")) << gpus->notes()[1];
  EXPECT_TRUE(gpus->check(asks(1)).empty()) << "who sets nothing need not know";
}

TEST_F(MachineGpusTest, AServerKnowsBeforeItsJobsCome) {
  const auto gpus = open();
  gpus->offer_to_all(options_);
  EXPECT_DOUBLE_EQ(options_.gpus[0].most_power.value, 700);
  EXPECT_TRUE(gpus->check(asks(2, {200, 700}, {1.9e9})).empty());
}

TEST_F(MachineGpusTest, WhatNoCardTakesIsRefusedWithWhatItTakes) {
  EXPECT_TRUE(mentions(refused(asks(1, {300, 100})), "100 W is outside what GPU 0 (Fake GPU) takes: 200 W to 700 W"));
  EXPECT_TRUE(mentions(refused(asks(1, {}, {5e9})), "system.gpu_clock: 5 GHz is outside"));
  EXPECT_THROW(open()->offer(options_, asks(1, {1000})), UserError);
  EXPECT_TRUE(options_.gpus.empty()) << "nothing was offered";
}

TEST_F(MachineGpusTest, AProgramThatSeesNoneIsTold) {
  const auto notes = open()->check(asks(0));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(mentions(notes[0], "sees none of the 2 GPUs here: ask for some with system.gpus")) << notes[0];
}

TEST(GpusAskedBy, AreThoseOfAnyKindOfJob) {
  spec::TrainJob train;
  train.system.gpus = 2;
  train.system.gpu_power = Watts{300};
  const auto one = gpus_asked_by(train);
  EXPECT_EQ(one.gpus, 2);
  EXPECT_EQ(one.gpu_power, std::vector{300.0});
  EXPECT_TRUE(one.gpu_clock.empty()) << "what is not said is not set";
  spec::TuneJob tune;
  tune.system.gpu_clock = {1e9, 2e9};
  EXPECT_EQ(gpus_asked_by(tune).gpu_clock, tune.system.gpu_clock);
  spec::Experiment experiment;
  experiment.system.gpus = 1;
  EXPECT_EQ(gpus_asked_by(experiment).gpus, 1);
}

}  // namespace
}  // namespace tandem::local
