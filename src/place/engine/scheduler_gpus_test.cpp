// The scheduler and GPUs: each has one task at a time, held trials do not keep them from others, and settings
// change between epochs.
#include "place/engine/scheduler_testing.h"

namespace tandem::place {
namespace {

class SchedulerGpus : public SchedulerTest {
 protected:
  void SetUp() override {
    policy("first-fit");
    happens(NodeJoined{0, "here", {8, Bytes{1} << 33, 1.0, 2}, "here"});
    for (JobId job = 0; job < 2; ++job) {
      spec::TrainJob spec;
      spec.epochs = 9;
      view_.apply(Event{view_.now, JobSubmitted{job, spec}});
    }
  }
  // A trial of a search asks for one GPU, set so.
  void asks(TaskId task, double watts = 0, JobId job = 0) {
    Request request{task, job, {.cores = 1, .gpus = 1, .gpu_power = Watts{watts}}};
    request.options = {{request.wanted, 1.0}};
    view_.apply(Decision{view_.next_decision, request});
    happens(Woke{999});
  }
  void reports(TaskId task) {
    const auto epoch = at(task).reported() + 1;
    view_.apply(Event{view_.now, EpochEnded{task, at(task).attempt, epoch, {}, Seconds{1}, {}, {}}});
  }
  void is_held(TaskId task) {
    reports(task);
    view_.apply(Decision{view_.next_decision, Hold{task, at(task).attempt}});
    ASSERT_EQ(at(task).state, TaskState::held);
  }
};

TEST_F(SchedulerGpus, TheThirdWaitsForOneAndIsToldSo) {
  for (const TaskId task : {0, 1, 2}) asks(task);
  starts(0), starts(1);
  EXPECT_FALSE(runs(2));
  const auto why = scheduler_->explain(view_, 2);
  ASSERT_EQ(why.types.size(), 1U);
  EXPECT_EQ(why.types[0].refused, kNoRoom);
  EXPECT_EQ(why.types[0].why, "1 GPU asked for, 0 of 2 free") << "there are cores and memory";
  happens(TaskEnded{0, 1, {}});
  EXPECT_TRUE(runs(2));
  EXPECT_EQ(view_.nodes[0].free_gpus, 0);
}

TEST_F(SchedulerGpus, HeldTrialsMakeRoomUnderAPolicyThatPreemptsNobody) {
  asks(0), asks(1);
  starts(0), starts(1);
  is_held(0);
  asks(2, 0, 1);
  EXPECT_EQ(at(0).state, TaskState::stopping) << "it only keeps the GPU from others";
  EXPECT_FALSE(at(0).evicted) << "its search asks for it when its turn comes";
  EXPECT_EQ(at(1).state, TaskState::running);
  EXPECT_FALSE(runs(2));
  is_held(1);
  happens(Woke{999});
  EXPECT_EQ(at(1).state, TaskState::held) << "room is on its way";
  happens(TaskEnded{0, 1, {}});
  EXPECT_TRUE(runs(2));
}

TEST_F(SchedulerGpus, HeldTrialsStayWhereTheirEndWouldNotHelp) {
  asks(0);
  starts(0);
  is_held(0);
  Request large{1, 1, {.cores = 8, .gpus = 1}}, larger{2, 1, {.cores = 8}};
  view_.apply(Decision{view_.next_decision, large});
  happens(Woke{999});
  EXPECT_TRUE(runs(1)) << "there are two GPUs";
  view_.apply(Decision{view_.next_decision, larger});
  happens(Woke{999});
  EXPECT_EQ(at(0).state, TaskState::held) << "it has no cores to give";
}

TEST_F(SchedulerGpus, GpusAreSetOtherwiseBetweenEpochsAndNothingElseChanges) {
  asks(0, 700);
  starts(0);
  EXPECT_EQ(at(0).granted.gpu_power.value, 700);
  reports(0);
  asks(0, 300);
  EXPECT_EQ(at(0).state, TaskState::running);
  EXPECT_EQ(at(0).granted.gpu_power.value, 300);
  const DecisionId resize = view_.next_decision - 2;
  ASSERT_TRUE(view_.open.contains(resize)) << "a Resize, whose outcome is to come, and then Continue";
  happens(SystemChanged{0, 1, resize, at(0).granted});
  reports(0);
  Request grows{0, 0, {}};
  grows.options = {{{.cores = 2, .gpus = 1, .gpu_power = Watts{200}}, 0.5}};
  view_.apply(Decision{view_.next_decision, grows});
  happens(Woke{999});
  EXPECT_EQ(at(0).granted.cores, 1) << "cores would have to be found";
  EXPECT_EQ(at(0).granted.gpu_power.value, 300);
  EXPECT_EQ(at(0).state, TaskState::running);
}

}  // namespace
}  // namespace tandem::place
