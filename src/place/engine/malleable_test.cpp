#include "place/engine/malleable.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace tandem::place {
namespace {

class MalleableTest : public testing::Test {
 protected:
  void happens(EventBody body) {
    const Event event{Seconds{++clock_}, std::move(body)};
    view_.apply(event);
    last_ = event;
  }
  void decide(DecisionBody body) { view_.apply(Decision{view_.next_decision, std::move(body)}); }
  std::vector<DecisionBody> step() {
    auto decided = allocator_.step(view_, last_);
    for (const auto& d : decided) decide(d);
    return decided;
  }

  View view_;
  Event last_;
  Malleable allocator_;
  double clock_ = 0;
};

TEST_F(MalleableTest, StartsInOrderWhileThereIsRoomAndLetsNobodyPass) {
  happens(NodeJoined{0, "here", {4, 0, 1.0}});
  happens(JobSubmitted{0, {}});
  for (TaskId id = 0; id < 3; ++id) decide(Request{id, 0, {id == 1 ? 3 : 2, 0, 1.0}});
  const auto decided = step();
  ASSERT_EQ(decided.size(), 1u) << "task 2 would fit, but task 1 is before it";
  EXPECT_EQ(std::get<Start>(decided[0]).task, 0);
  happens(TaskEnded{0, 1, {}});
  EXPECT_EQ(std::get<Start>(step().at(0)).task, 1);
}

TEST_F(MalleableTest, StopsTheTasksOfACancelledJobOnceAndStartsNoMore) {
  happens(NodeJoined{0, "here", {4, 0, 1.0}});
  happens(JobSubmitted{0, {}});
  for (TaskId id = 0; id < 3; ++id) decide(Request{id, 0, {2, 0, 1.0}});
  step();
  happens(JobCancelled{0, "asked"});
  const auto decided = step();
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_EQ(std::get<Stop>(decided[0]).reason, "asked");
  EXPECT_TRUE(step().empty());
}

TEST_F(MalleableTest, GpusAreDealtOutOnceAndAHeldTaskKeepsItsOwn) {
  happens(NodeJoined{0, "here", {8, 0, 1.0, 2, 40 * kGiB}});
  happens(JobSubmitted{0, {}});
  for (TaskId id = 0; id < 3; ++id) decide(Request{id, 0, {.cores = 1, .gpus = 1}});
  auto decided = step();
  ASSERT_EQ(decided.size(), 2u) << "there are two GPUs";
  happens(TaskStarted{0, 1, 0, 1, 1, {}});
  happens(EpochEnded{0, 1, 1, {}, Seconds{1}, {}, {}});
  decide(Hold{0, 1});
  decided = step();
  ASSERT_EQ(decided.size(), 1u)
      << "the held task's weights are on its GPU: it must go before another can start";
  EXPECT_EQ(std::get<Stop>(decided[0]).task, 0);
  happens(TaskEnded{0, 1, {}});
  decided = step();
  ASSERT_EQ(decided.size(), 1u);
  EXPECT_EQ(std::get<Start>(decided[0]).task, 2);
}

TEST_F(MalleableTest, TasksThatSayHowMuchOfAGpuTheyNeedShareIt) {
  happens(NodeJoined{0, "here", {16, 0, 1.0, 2, 40 * kGiB}});
  happens(JobSubmitted{0, {}});
  const Resources part{.cores = 1, .gpus = 1, .gpu_memory = 15 * kGiB};
  for (TaskId id = 0; id < 6; ++id) decide(Request{id, 0, part});
  EXPECT_EQ(step().size(), 4u) << "two times 15 GiB on each of two GPUs with 40";
  happens(TaskEnded{2, 1, {}});
  EXPECT_EQ(std::get<Start>(step().at(0)).task, 4);
  EXPECT_TRUE(step().empty());
}

TEST_F(MalleableTest, AJobOfSeveralNodesFailsAtOnceAndIsInNobodysWay) {
  happens(NodeJoined{0, "here", {4, 0, 1.0}});
  happens(NodeJoined{1, "there", {4, 0, 1.0}});
  happens(JobSubmitted{0, {}});
  happens(JobSubmitted{1, {}});
  Request gang{0, 0, {1, 0, 1.0}};
  gang.nodes = 2;
  decide(gang);
  decide(Request{1, 1, {1, 0, 1.0}});
  const auto decided = step();
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_EQ(std::get<FinishJob>(decided[0]).state, JobState::failed);
  EXPECT_NE(std::get<FinishJob>(decided[0]).reason.find("2 nodes"), std::string::npos);
  EXPECT_EQ(std::get<Start>(decided[1]).task, 1);
  EXPECT_TRUE(step().empty());
}

// Property: whatever comes and goes, no node is ever overdrawn.
TEST_F(MalleableTest, NeverGrantsMoreThanANodeHas) {
  Random random(7);
  happens(NodeJoined{0, "a", {4, 8 * kGiB, 1.0}});
  happens(NodeJoined{1, "b", {2, 2 * kGiB, 1.0}});
  happens(JobSubmitted{0, {}});
  TaskId next = 0;
  for (int round = 0; round < 2000; ++round) {
    if (random.below(2) == 0)
      decide(
          Request{next++,
                  0,
                  {static_cast<int>(1 + random.below(4)), static_cast<Bytes>(random.below(3)) * kGiB, 1.0}});
    if (!view_.holding.empty() && random.below(2) == 0)
      happens(TaskEnded{
          *std::next(view_.holding.begin(), static_cast<long>(random.below(view_.holding.size()))), 1, {}});
    step();
    for (const auto& node : view_.nodes) {
      ASSERT_GE(node.free_cores, 0);
      ASSERT_GE(node.free_memory, 0);
      ASSERT_LE(node.free_cores, node.capacity.cores);
    }
  }
  EXPECT_GT(next, 500);
}

// ---- requests that leave open what they are run with ----

Request open_request(TaskId task, std::vector<Option> options, std::int64_t epochs = 5, int priority = 0) {
  Request request{.task = task, .job = 0, .wanted = options.front().resources};
  request.trial = TrialPart{};
  request.options = std::move(options);
  request.epochs_left = epochs;
  request.priority = priority;
  return request;
}

// An epoch takes 1 s on one core; `parallel` of it can be shared.
std::vector<Option> curve(double parallel, std::vector<int> cores = {1, 2, 4}) {
  std::vector<Option> out;
  for (int n : cores) out.push_back({{n, 0, 1.0}, 1 - parallel + parallel / n});
  return out;
}

class OpenRequests : public MalleableTest {
 protected:
  OpenRequests() {
    happens(NodeJoined{0, "here", {4, 8 * kGiB, 1.0}});
    happens(JobSubmitted{0, {}});
  }
  int cores(TaskId task) const { return view_.tasks.at(static_cast<std::size_t>(task)).cores_held; }
  void started(TaskId task) { happens(TaskStarted{task, 1, 0, 1, 1, {}}); }
  void reports(TaskId task, std::vector<Option> options, std::int64_t epochs = 5) {
    happens(EpochEnded{task, 1, static_cast<std::int64_t>(++told_[task]), {}, Seconds{1}, {}, {}});
    decide(open_request(task, std::move(options), epochs));
  }
  std::map<TaskId, int> told_;
};

TEST_F(OpenRequests, ManyWaitingGetOneCoreEachAndALoneOneGetsAll) {
  for (TaskId id = 0; id < 6; ++id) decide(open_request(id, curve(0.9)));
  step();
  for (TaskId id = 0; id < 4; ++id) EXPECT_EQ(cores(id), 1);
  EXPECT_EQ(cores(4), 0);

  View alone;
  std::swap(view_, alone);
  happens(NodeJoined{0, "here", {4, 8 * kGiB, 1.0}});
  happens(JobSubmitted{0, {}});
  decide(open_request(0, curve(0.9)));
  step();
  EXPECT_EQ(cores(0), 4);
}

TEST_F(OpenRequests, MoreCoresThatDoNotHelpAreLeftAlone) {
  decide(open_request(0, {{{1, 0, 1.0}, 1.0}, {{2, 0, 1.0}, 1.2}, {{4, 0, 1.0}, 1.5}}));
  step();
  EXPECT_EQ(cores(0), 1);
}

TEST_F(OpenRequests, WhoWouldEndLastGetsMore) {
  decide(open_request(0, curve(0.9, {1, 3}), 1));
  decide(open_request(1, curve(0.9, {1, 3}), 20));
  step();
  EXPECT_EQ(cores(0), 1);
  EXPECT_EQ(cores(1), 3);
}

TEST_F(OpenRequests, ATaskGrowsAtItsReportAndNotBefore) {
  decide(open_request(0, curve(0.9)));
  decide(open_request(1, curve(0.9)));
  step();
  started(0);
  started(1);
  EXPECT_EQ(cores(0), 2);
  happens(TaskEnded{1, 1, {}});
  EXPECT_TRUE(step().empty()) << "task 0 is at work";
  reports(0, curve(0.9));
  const auto decided = step();
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_EQ(std::get<Resize>(decided[0]).granted.cores, 4);
  EXPECT_EQ(std::get<Continue>(decided[1]).epoch, 1);
  EXPECT_EQ(cores(0), 4);
}

TEST_F(OpenRequests, ATaskShrinksForNewOnesAndWhatItFreesIsGivenAtOnce) {
  decide(open_request(0, curve(0.9)));
  step();
  started(0);
  decide(open_request(1, curve(0.9)));
  EXPECT_TRUE(step().empty()) << "no core is free";
  reports(0, curve(0.9));
  const auto decided = step();
  ASSERT_EQ(decided.size(), 3u);
  EXPECT_EQ(std::get<Resize>(decided[0]).granted.cores, 2) << "what frees cores comes first";
  EXPECT_EQ(std::get<Start>(decided[1]).granted.cores, 2);
  EXPECT_TRUE(std::holds_alternative<Continue>(decided[2]));
}

// The clock goes on by a second with each event. Task 1, which has most to do, will want more cores, but it
// is at work for some seconds yet.
TEST_F(OpenRequests, WhatARunnerWillWantIsLentForAnEpochThatIsOverBefore) {
  const auto slow = [](double seconds) {
    return std::vector<Option>{{{1, 0, 1.0}, seconds}, {{3, 0, 1.0}, seconds / 2}};
  };
  for (const double epoch : {100.0, 0.5}) {
    SCOPED_TRACE(epoch);
    View empty;
    std::swap(view_, empty);
    told_.clear();
    happens(NodeJoined{0, "here", {4, 8 * kGiB, 1.0}});
    happens(JobSubmitted{0, {}});
    for (TaskId id = 0; id < 2; ++id) decide(open_request(id, {{{1, 0, 1.0}, 1.0}}, 1));
    step();
    started(0);
    started(1);
    happens(EpochEnded{1, 1, 1, {}, Seconds{1}, {}, {}});
    decide(open_request(1, slow(20), 10));
    decide(Continue{1, 1, 1});
    ASSERT_EQ(cores(1), 1);
    reports(0, slow(epoch), 1);
    step();
    EXPECT_EQ(cores(0), epoch < 20 ? 3 : 1) << "the other one would have to wait for half a minute";
  }
}

TEST_F(OpenRequests, TheSameAgainIsContinuedWithoutAResize) {
  decide(open_request(0, {{{1, 0, 1.0}, 1.0}}));
  step();
  started(0);
  reports(0, {{{1, 0, 1.0}, 1.0}});
  EXPECT_EQ(step(), (std::vector<DecisionBody>{Continue{0, 1, 1}}));
}

TEST_F(OpenRequests, AReportedTaskThatMustWaitIsHeldAndComesBackWithAResize) {
  for (TaskId id = 0; id < 4; ++id) decide(open_request(id, {{{1, 0, 1.0}, 1.0}}));
  step();
  for (TaskId id = 0; id < 4; ++id) started(id);
  decide(open_request(4, {{{1, 0, 1.0}, 1.0}}, 5, 7));
  step();
  reports(0, {{{1, 0, 1.0}, 1.0}});
  const auto decided = step();
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_EQ(decided[0], DecisionBody(Hold{0, 1})) << "task 4 is more urgent";
  EXPECT_EQ(std::get<Start>(decided[1]).task, 4);
  happens(TaskEnded{1, 1, {}});
  const auto back = step();
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(std::get<Resize>(back[0]).task, 0);
  EXPECT_EQ(std::get<Continue>(back[1]).task, 0);
}

TEST_F(OpenRequests, AReleasedTaskIsStopped) {
  decide(open_request(0, curve(0.9)));
  step();
  started(0);
  decide(Release{0, "others do better"});
  const auto decided = step();
  ASSERT_EQ(decided.size(), 1u);
  EXPECT_EQ(std::get<Stop>(decided[0]).reason, "others do better");
}

TEST_F(OpenRequests, HeldMemoryInTheWayIsFreedOneTaskAtATime) {
  for (TaskId id = 0; id < 4; ++id) decide(open_request(id, {{{1, 2 * kGiB, 1.0}, 1.0}}));
  step();
  for (TaskId id = 0; id < 4; ++id) {
    started(id);
    happens(EpochEnded{id, 1, 1, {}, Seconds{1}, {}, {}});
    decide(Hold{id, 1});
  }
  decide(open_request(4, {{{1, 2 * kGiB, 1.0}, 1.0}}));
  const auto decided = step();
  ASSERT_EQ(decided.size(), 1u);
  EXPECT_EQ(std::get<Stop>(decided[0]).task, 0) << "the one that was held longest";
  EXPECT_TRUE(step().empty()) << "its room is on the way";
  happens(TaskEnded{0, 1, {}});
  EXPECT_EQ(std::get<Start>(step().at(0)).task, 4);
}

}  // namespace
}  // namespace tandem::place
