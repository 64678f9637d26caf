// GPUs of the local world, with programs that are real and GPUs that are not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "control/loop.h"
#include "control/memory_journal.h"
#include "place/engine/scheduler.h"
#include "platform/temporary.h"
#include "runtime/local/world.h"
#include "tune/train.h"

namespace tandem::local {
namespace {

class GpuWorldTest : public testing::Test {
 protected:
  GpuWorldTest() {
    options_.run = "gpu-world-test-" + std::to_string(::getpid());
    options_.folder = folder_.path();
    options_.grace = Seconds{0.2};
    options_.gpus = {{"GPU-a", "fake", 40 * kGiB, Watts{700}, 2e9},
                     {"GPU-b", "fake", 40 * kGiB, Watts{600}, 2e9}};
    options_.set_gpu = [this](std::size_t gpu, Watts watts, double hertz) -> std::string {
      if (gpu == refuses_) return "not permitted";
      set_.push_back({gpu, watts.value, hertz});
      return "";
    };
    job_.epochs = 2;
    job_.limits.retries = 0;
    job_.limits.stall = Seconds{30};
  }
  const View& run(std::vector<std::string> command) {
    job_.program.command = std::move(command);
    LocalWorld world(options_);
    std::vector<std::unique_ptr<Policy>> policies;
    policies.push_back(std::make_unique<tune::TrainController>());
    policies.push_back(std::make_unique<place::Scheduler>(place::parse_policy("fifo:malleable"), 1));
    loop_ = std::make_unique<control::Loop>(control::Ports{world, journal_, nullptr, nullptr},
                                            std::move(policies));
    loop_->open();
    loop_->submit(job_);
    loop_->run();
    return loop_->view();
  }
  // What a program sees in its environment.
  std::string seen(const std::string& variable) {
    job_.program.plain = true;
    job_.epochs = 0;
    run({"/bin/sh", "-c", "echo \"$" + variable + "-\""});
    std::ifstream in(folder_.path() / "output.log");
    std::string line;
    std::getline(in, line);
    return line;
  }
  const JobView& job() const { return loop_->view().jobs.at(0); }

  using Set = std::tuple<std::size_t, double, double>;
  platform::TemporaryFolder folder_;
  LocalOptions options_;
  spec::TrainJob job_;
  control::MemoryJournal journal_;
  std::unique_ptr<control::Loop> loop_;
  std::vector<Set> set_;
  std::optional<std::size_t> refuses_;
};

TEST_F(GpuWorldTest, TheNodeSaysWhatItsGpusAreAndCan) {
  LocalWorld world(options_);
  const auto node = world.nodes().at(0);
  EXPECT_EQ(node.capacity.gpus, 2);
  EXPECT_EQ(node.capacity.gpu_memory, 40 * kGiB);
  EXPECT_EQ(node.capacity.gpu_power, Watts{600}) << "what each of them can";
  EXPECT_EQ(node.traits.accelerator, "fake");
  EXPECT_NE(node.type.find("2 x fake"), std::string::npos) << node.type;
}

TEST_F(GpuWorldTest, AProgramSeesItsOwnGpuAndNoOther) {
  job_.system.gpus = 1;
  EXPECT_EQ(seen("CUDA_VISIBLE_DEVICES"), "GPU-a-");
  EXPECT_EQ(loop_->view().tasks.at(0).gpus, (std::vector<int>{0})) << "as it was journalled";
}

TEST_F(GpuWorldTest, ANodeOfASplitMachineHandsOutItsOwn) {
  const auto cpu = options_.topology.cpus.front().id;
  options_.nodes = {{.name = "none", .type = "plain", .cpus = {cpu}, .memory = kGiB},
                    {.name = "one", .type = "with", .cpus = {cpu}, .memory = kGiB, .gpus = {1}}};
  LocalWorld world(options_);
  EXPECT_EQ(world.nodes().at(0).capacity.gpus, 0);
  EXPECT_EQ(world.nodes().at(1).capacity.gpus, 1);
  EXPECT_EQ(world.nodes().at(1).type, "with") << "as it was stated: jobs ask for it by that name";
  job_.system.gpus = 1;
  EXPECT_EQ(seen("CUDA_VISIBLE_DEVICES"), "GPU-b-");
}

TEST_F(GpuWorldTest, AProgramWithoutGpusSeesNone) {
  ::setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
  EXPECT_EQ(seen("CUDA_VISIBLE_DEVICES"), "-");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(GpuWorldTest, WhereNoGpuIsKnownTheEnvironmentStaysAsItIs) {
  options_.gpus.clear();
  ::setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
  EXPECT_EQ(seen("CUDA_VISIBLE_DEVICES"), "0,1-");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(GpuWorldTest, PowerAndClockAreSetBeforeTheProgramRunsAndPutBackAfterIt) {
  job_.system = {.gpus = 2, .gpu_power = Watts{300}, .gpu_clock = 1.2e9};
  run({SPEAKER});
  EXPECT_EQ(job().state, JobState::finished) << job().reason;
  EXPECT_EQ(set_, (std::vector<Set>{{0, 300, 1.2e9}, {1, 300, 1.2e9}, {0, 0, 0}, {1, 0, 0}}));
}

TEST_F(GpuWorldTest, TheyArePutBackWhenTheProgramDies) {
  job_.system = {.gpus = 1, .gpu_power = Watts{300}};
  run({SPEAKER, "--kill-at", "1"});
  EXPECT_EQ(job().state, JobState::failed);
  EXPECT_EQ(set_, (std::vector<Set>{{0, 300, 0}, {0, 0, 0}}));
}

TEST_F(GpuWorldTest, WhenOneGpuRefusesNoneStaysChangedAndTheReasonIsSaid) {
  refuses_ = 1;
  job_.system = {.gpus = 2, .gpu_power = Watts{300}};
  run({SPEAKER});
  EXPECT_EQ(job().state, JobState::failed);
  EXPECT_NE(job().reason.find("GPU 1: not permitted"), std::string::npos) << job().reason;
  ASSERT_GE(set_.size(), 2u);
  EXPECT_EQ(set_[1], (Set{0, 0, 0}));
}

TEST_F(GpuWorldTest, WhereNothingMayBeSetGpusAreUsedAsTheyAre) {
  for (auto& gpu : options_.gpus) gpu.most_power = {}, gpu.most_clock = 0;
  job_.system = {.gpus = 1, .gpu_power = Watts{300}, .gpu_clock = 1.2e9};
  run({SPEAKER});
  EXPECT_EQ(job().state, JobState::finished) << job().reason;
  EXPECT_TRUE(set_.empty());
  EXPECT_EQ(loop_->view().tasks.at(0).epochs.at(0).granted.gpu_power, Watts{}) << "and nobody says otherwise";
}

TEST_F(GpuWorldTest, MoreGpusThanThereAreIsSaidAtOnce) {
  job_.system.gpus = 3;
  run({SPEAKER});
  EXPECT_EQ(job().state, JobState::failed);
  EXPECT_NE(job().reason.find("3 GPUs"), std::string::npos) << job().reason;
}

TEST_F(GpuWorldTest, PrecisionIsForProgramsThatSayTheyCanChangeIt) {
  job_.system.precision = Precision::bf16;
  run({SPEAKER, "--precision"});
  EXPECT_EQ(job().state, JobState::finished) << job().reason;
}

TEST_F(GpuWorldTest, OthersAreToldToLeaveItOut) {
  job_.system.precision = Precision::bf16;
  for (const char* way : {"--say", "--no-hello"}) {
    run({SPEAKER, way, "x"});
    EXPECT_EQ(job().state, JobState::failed) << way;
    EXPECT_NE(job().reason.find("leave system.precision out"), std::string::npos)
        << way << ": " << job().reason;
    journal_ = control::MemoryJournal();
  }
}

// A controller that tries a limit on each slice of the first epoch and settles for the second.
class Slicer final : public Policy {
 public:
  std::vector<DecisionBody> step(const View& view, const Event& event) override {
    if (const auto* submitted = std::get_if<JobSubmitted>(&event.body)) {
      Request request{0, submitted->job, spec::base_of(submitted->spec).system};
      request.slices = true;
      return {request};
    }
    if (const auto* slice = std::get_if<SliceEnded>(&event.body)) {
      seen.push_back(*slice);
      at.push_back(view.tasks[0].granted.gpu_power.value);
      if (slice->share == 0 || seen.size() > 4) return {};
      return {Retune{0, 1, Watts{seen.size() == 2 ? 400.0 : 300.0}, 0, seen.size() == 2}};
    }
    if (const auto* epoch = std::get_if<EpochEnded>(&event.body)) return {Continue{0, 1, epoch->epoch}};
    if (std::holds_alternative<TaskEnded>(event.body)) return {FinishJob{0, JobState::finished, ""}};
    return {};
  }
  std::vector<SliceEnded> seen;
  std::vector<double> at;
};

TEST_F(GpuWorldTest, PowerCanBeTriedOnSlicesOfAnEpoch) {
  options_.slices = {Seconds{0}, Seconds{0}};
  job_.system = {.gpus = 1, .gpu_power = Watts{500}};
  job_.program.command = {SPEAKER, "--progress", "--sleep-ms", "50"};
  LocalWorld world(options_);
  std::vector<std::unique_ptr<Policy>> policies;
  auto slicer = std::make_unique<Slicer>();
  Slicer& saw = *slicer;
  policies.push_back(std::move(slicer));
  policies.push_back(std::make_unique<place::Scheduler>(place::parse_policy("fifo:malleable"), 1));
  loop_ =
      std::make_unique<control::Loop>(control::Ports{world, journal_, nullptr, nullptr}, std::move(policies));
  loop_->open();
  loop_->submit(job_);
  loop_->run();
  EXPECT_EQ(job().state, JobState::finished) << job().reason;
  ASSERT_GE(saw.seen.size(), 2u);
  EXPECT_EQ(saw.seen[0].share, 0) << "the first is for settling";
  EXPECT_DOUBLE_EQ(saw.seen[1].share, 0.25);
  EXPECT_EQ(saw.at[1], 500);
  EXPECT_EQ(set_.front(), (Set{0, 500, 0}));
  EXPECT_EQ(set_.at(1), (Set{0, 400, 0}));
  EXPECT_EQ(set_.back(), (Set{0, 0, 0})) << "put back at the end";
  const auto& epochs = loop_->view().tasks.at(0).epochs;
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_TRUE(epochs[0].mixed || epochs[1].mixed) << "an epoch in two configurations says so";
}

TEST_F(GpuWorldTest, ProgressNobodyAskedForIsNoEvent) {
  run({SPEAKER, "--progress"});
  EXPECT_EQ(job().state, JobState::finished) << job().reason;
  for (const auto& entry : journal_.entries())
    EXPECT_FALSE(std::holds_alternative<SliceEnded>(entry.event.body));
}

}  // namespace
}  // namespace tandem::local
