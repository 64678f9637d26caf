// The scheduler under a malleable policy: first on one machine, then on several nodes.
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/random.h"
#include "place/engine/scheduler.h"

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
    auto decided = allocator_->step(view_, last_);
    for (const auto& d : decided) decide(d);
    EXPECT_EQ(allocator_->check(view_), "");
    return decided;
  }
  void policy(const std::string& text) { allocator_ = std::make_unique<Scheduler>(parse_policy(text), 1); }
  void begin_anew() {
    view_ = View();
    policy("fifo:malleable");
  }
  const TaskView& at(TaskId task) const { return view_.tasks.at(static_cast<std::size_t>(task)); }
  int cores(TaskId task) const { return at(task).cores_held; }

  View view_;
  Event last_;
  std::unique_ptr<Scheduler> allocator_ = std::make_unique<Scheduler>(parse_policy("fifo:malleable"), 1);
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

TEST_F(MalleableTest, OnOneMachineAJobOfSeveralNodesFailsAtOnceAndIsInNobodysWay) {
  happens(NodeJoined{0, "here", {4, 0, 1.0}});
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

  begin_anew();
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
    begin_anew();
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

// A world may be unable to resize a program, as Slurm's is where it keeps no checkpoints: it goes on as it was.
TEST_F(OpenRequests, AResizeThatWasRefusedIsNotAskedForAgain) {
  decide(open_request(0, curve(0.9)));
  decide(open_request(1, curve(0.9)));
  step();
  started(0), started(1);
  ASSERT_EQ(cores(0), 2);
  happens(TaskEnded{1, 1, {}});
  step();
  reports(0, curve(0.9));
  const auto asked = view_.next_decision;
  auto decided = step();
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_EQ(std::get<Resize>(decided[0]).granted.cores, 4);
  happens(DecisionRefused{asked, "it keeps no checkpoints"});
  EXPECT_TRUE(step().empty()) << "it was told to go on, and does";
  EXPECT_EQ(at(0).state, TaskState::running);
  EXPECT_EQ(cores(0), 2);
  EXPECT_EQ(view_.nodes[0].free_cores, 2);
  for (int epoch = 0; epoch < 3; ++epoch) {
    reports(0, curve(0.9));
    decided = step();
    ASSERT_EQ(decided.size(), 1u) << "as it is";
    EXPECT_TRUE(std::holds_alternative<Continue>(decided[0]));
    EXPECT_EQ(cores(0), 2);
  }
  // Another attempt is another program, perhaps one that can.
  happens(TaskFailed{0, 1, Failure::crashed, "", "", {}});
  decide(open_request(0, curve(0.9, {1, 2})));
  step();
  happens(TaskStarted{0, 2, 0, 1, 1, {}});
  ASSERT_EQ(cores(0), 2);
  happens(EpochEnded{0, 2, 9, {}, Seconds{1}, {}, {}});
  decide(open_request(0, curve(0.9)));
  decided = step();
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_EQ(std::get<Resize>(decided[0]).granted.cores, 4);
}

TEST_F(OpenRequests, AHeldTaskThatCannotBeResizedComesBackAsItWas) {
  decide(open_request(0, curve(0.9)));
  decide(open_request(1, curve(0.9)));
  step();
  started(0), started(1);
  happens(EpochEnded{0, 1, 1, {}, Seconds{1}, {}, {}});
  decide(Hold{0, 1});
  step();
  happens(TaskEnded{1, 1, {}});
  decide(open_request(0, curve(0.9)));
  const auto asked = view_.next_decision;
  auto decided = step();
  EXPECT_EQ(std::get<Resize>(decided.at(0)).granted.cores, 4);
  happens(DecisionRefused{asked, "it keeps no checkpoints"});
  decided = step();
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_EQ(std::get<Resize>(decided[0]).granted.cores, 2);
  EXPECT_TRUE(std::holds_alternative<Continue>(decided[1]));
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

// ---- several nodes ----

class OnACluster : public MalleableTest {
 protected:
  NodeId node(int cores, Bytes memory = 8 * kGiB, std::vector<std::string> labels = {}) {
    const auto id = static_cast<NodeId>(view_.nodes.size());
    NodeTraits traits;
    traits.labels = std::move(labels);
    happens(NodeJoined{id, "n" + std::to_string(id), {cores, memory, 1.0}, "", traits});
    return id;
  }
  JobId job(spec::PlaceSpec place = {}) {
    spec::TrainJob spec;
    spec.place = std::move(place);
    const auto id = static_cast<JobId>(view_.jobs.size());
    happens(JobSubmitted{id, spec});
    return id;
  }
  TaskId ask(JobId job, std::vector<Option> options, std::int64_t epochs = 5) {
    const auto id = static_cast<TaskId>(view_.tasks.size());
    Request request = open_request(id, std::move(options), epochs);
    request.job = job;
    decide(request);
    return id;
  }
  TaskId ask_gang(JobId job, int nodes, int cores) {
    Request request{static_cast<TaskId>(view_.tasks.size()), job, {cores, 0, 1.0}};
    request.nodes = nodes;
    decide(request);
    return request.task;
  }
  void all_started() {
    for (const TaskId id : std::set<TaskId>(view_.holding))
      if (at(id).state == TaskState::starting) happens(TaskStarted{id, at(id).attempt, 0, 1, 1, {}});
  }
  std::vector<DecisionBody> reports(TaskId id, std::vector<Option> options) {
    happens(EpochEnded{id, at(id).attempt, at(id).reported() + 1, {}, Seconds{1}, {}, {}});
    auto request = open_request(id, std::move(options));
    request.job = at(id).job;
    decide(request);
    return step();
  }
};

TEST_F(OnACluster, EachNodeIsDealtOutAmongThoseWhoAreThere) {
  node(2), node(8);
  const JobId tune = job();
  for (int i = 0; i < 3; ++i) ask(tune, curve(0.9, {1, 2, 4, 8}));
  step();
  EXPECT_EQ(at(0).node, 0);
  EXPECT_EQ(at(1).node, 0);
  EXPECT_EQ(at(2).node, 1);
  EXPECT_EQ(cores(0) + cores(1), 2);
  EXPECT_EQ(cores(2), 8) << "the large node is its own";
}

TEST_F(OnACluster, TasksGrowWhereOthersEndAndShrinkWhereOthersWait) {
  node(4), node(4);
  const JobId tune = job();
  for (int i = 0; i < 8; ++i) ask(tune, curve(0.9));
  step();
  all_started();
  for (TaskId id = 0; id < 8; ++id) ASSERT_EQ(cores(id), 1);
  for (const TaskId id : {1, 2, 3}) happens(TaskEnded{id, 1, {}}), step();
  reports(0, curve(0.9));
  EXPECT_EQ(cores(0), 4) << "it has its node alone now";
  reports(4, curve(0.9));
  EXPECT_EQ(cores(4), 1) << "nobody left the other one";
  const TaskId late = ask(tune, curve(0.9));
  happens(NodeObserved{0, {}});
  EXPECT_TRUE(step().empty()) << "no core is free";
  reports(0, curve(0.9));
  EXPECT_EQ(cores(0), 2) << "it shrinks for the one that waits";
  EXPECT_EQ(cores(late), 2);
  EXPECT_EQ(at(late).node, 0);
}

TEST_F(OnACluster, WhoMayNotUseANodeIsInNobodysWayThere) {
  node(4), node(4, 8 * kGiB, {"ssd"});
  spec::PlaceSpec only_ssd;
  only_ssd.labels = {"ssd"};
  const JobId large = job(only_ssd), small = job();
  const TaskId first = ask(large, {{{4, 0, 1.0}, 1.0}});
  const TaskId second = ask(large, {{{4, 0, 1.0}, 1.0}});
  const TaskId other = ask(small, curve(0.9));
  step();
  all_started();
  EXPECT_EQ(at(first).node, 1);
  EXPECT_EQ(cores(other), 0) << "first come, first served: nobody starts before the second";
  happens(TaskEnded{first, 1, {}});
  step();
  EXPECT_EQ(at(second).node, 1);
  EXPECT_EQ(cores(other), 4);
  all_started();
  ask(large, {{{4, 0, 1.0}, 1.0}});
  reports(other, curve(0.9));
  EXPECT_EQ(cores(other), 4) << "who waits for the other node needs none of its cores";
}

TEST_F(OnACluster, OneWithoutRoomHoldsUpOnlyTheNodeItWaitsFor) {
  node(4), node(4);
  const JobId tune = job();
  for (int i = 0; i < 8; ++i) ask(tune, curve(0.9));
  step();
  all_started();
  const JobId urgent = job({.priority = 5});
  policy("priority:malleable");
  const TaskId large = ask(urgent, {{{3, 0, 1.0}, 1.0}});
  reports(0, curve(0.9));
  EXPECT_TRUE(at(0).parked) << "the large one waits for its node";
  reports(4, curve(0.9));
  EXPECT_EQ(at(4).state, TaskState::running) << "this node could not be free sooner";
  reports(1, curve(0.9));
  reports(2, curve(0.9));
  EXPECT_EQ(cores(large), 3);
  EXPECT_EQ(at(large).node, 0);
  EXPECT_TRUE(at(0).parked);
  happens(TaskEnded{3, 1, {}});
  step();
  EXPECT_EQ(at(0).state, TaskState::running) << "the first that finds room again";
}

TEST_F(OnACluster, HigherPriorityIsServedFirst) {
  policy("priority:malleable");
  node(4);
  const JobId low = job(), high = job({.priority = 3});
  const TaskId a = ask(low, curve(0.9, {4})), b = ask(high, curve(0.9, {4}));
  step();
  EXPECT_EQ(cores(a), 0);
  EXPECT_EQ(cores(b), 4);
}

TEST_F(OnACluster, TasksOfADeadNodeStartAnewOnAnother) {
  node(4), node(4);
  const JobId tune = job();
  ask(tune, curve(0.9)), ask(tune, curve(0.9));
  step();
  all_started();
  EXPECT_EQ(cores(0), 2);
  happens(NodeJoined{0, "n0", {0, 0, 1.0}});
  step();
  for (const TaskId id : {0, 1}) {
    happens(TaskFailed{id, 1, Failure::lost, "", "", {}});
    decide(open_request(id, curve(0.9)));
    step();
  }
  EXPECT_EQ(at(0).node, 1);
  EXPECT_EQ(cores(0), 4) << "it came first and had the node alone";
  EXPECT_EQ(cores(1), 0);
  all_started();
  reports(0, curve(0.9));
  EXPECT_EQ(cores(0) + cores(1), 4);
  EXPECT_EQ(cores(1), 2);
  EXPECT_EQ(at(1).node, 1);
}

TEST_F(OnACluster, GangsStartAsTheyAreAndKeepTheirSize) {
  node(4), node(4);
  const JobId both = job(), tune = job();
  const TaskId gang = ask_gang(both, 2, 1);
  const TaskId trial = ask(tune, curve(0.9, {1, 2, 3, 4}));
  const auto decided = step();
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_EQ(std::get<Start>(decided[0]).task, gang);
  EXPECT_EQ(std::get<Start>(decided[0]).more.size(), 1u);
  EXPECT_EQ(cores(trial), 3) << "what the gang leaves of its node";
  all_started();
  happens(EpochEnded{gang, 1, 1, {}, Seconds{1}, {}, {}});
  Request again{gang, both, {1, 0, 1.0}};
  again.nodes = 2;
  decide(again);
  EXPECT_EQ(step(), (std::vector<DecisionBody>{Continue{gang, 1, 1}}));
  EXPECT_EQ(cores(gang), 1);
}

TEST_F(OnACluster, WeighersSayWhichNodeATaskGoesTo) {
  for (const auto& [name, expected] : {std::pair{"spread:malleable", 1}, {"binpack:malleable", 0}}) {
    SCOPED_TRACE(name);
    view_ = View();
    policy(name);
    node(2), node(8);
    ask(job(), curve(0.9, {1, 2}));
    step();
    EXPECT_EQ(at(0).node, expected);
    EXPECT_EQ(cores(0), 2);
  }
}

TEST_F(OnACluster, HeldMemoryIsFreedOnTheNodeWhereItIsInTheWay) {
  node(4, 4 * kGiB), node(1, 4 * kGiB);
  const JobId tune = job();
  for (int i = 0; i < 3; ++i) ask(tune, {{{1, 2 * kGiB, 1.0}, 1.0}});
  step();
  all_started();
  ASSERT_EQ(at(2).node, 1);
  for (const TaskId id : {2, 0, 1}) {
    happens(EpochEnded{id, 1, 1, {}, Seconds{1}, {}, {}});
    decide(Hold{id, 1});
    step();
  }
  ask(tune, {{{2, 3 * kGiB, 1.0}, 1.0}});
  happens(NodeObserved{0, {}});
  const auto decided = step();
  ASSERT_EQ(decided.size(), 1u);
  EXPECT_EQ(std::get<Stop>(decided[0]).task, 0) << "task 2 was held longer, but where it is nobody waits for";
}

TEST_F(OnACluster, HeldMemoryIsFoundBesideNodesWithMoreFreeCores) {
  node(8, 2 * kGiB), node(2, 2 * kGiB);
  const JobId tune = job();
  for (int i = 0; i < 2; ++i) ask(tune, {{{1, 2 * kGiB, 1.0}, 1.0}});
  step();
  all_started();
  ASSERT_EQ(at(1).node, 1);
  happens(EpochEnded{1, 1, 1, {}, Seconds{1}, {}, {}});
  decide(Hold{1, 1});
  ask(tune, {{{1, 1 * kGiB, 1.0}, 1.0}});
  const auto decided = step();
  ASSERT_EQ(decided.size(), 1u);
  EXPECT_EQ(std::get<Stop>(decided[0]).task, 1);
}

// Who waits for its answer is on one node, and so is what it asks for.
TEST_F(OnACluster, AReportIsAnsweredWithALookAtItsNodeAlone) {
  std::map<int, std::uint64_t> looked;
  for (const int nodes : {10, 1000}) {
    view_ = View();
    policy("fifo:malleable");
    for (int i = 0; i < nodes; ++i) node(4);
    const JobId tune = job();
    for (int i = 0; i < 2 * nodes + 50; ++i) ask(tune, {{{2, 0, 1.0}, 1.0}});
    step();
    all_started();
    ASSERT_EQ(view_.holding.size(), static_cast<std::size_t>(2 * nodes));
    step();
    const auto before = allocator_->nodes_looked_at();
    for (int i = 0; i < 100; ++i) reports(i % (2 * nodes), {{{2, 0, 1.0}, 1.0}});
    looked[nodes] = allocator_->nodes_looked_at() - before;
    EXPECT_LE(looked[nodes], 300u) << "its own, that of the one before, and that which the first waits for";
  }
}

TEST_F(OnACluster, WhoWaitsIsToldWhy) {
  node(2);
  const JobId tune = job();
  for (int i = 0; i < 4; ++i) ask(tune, {{{1, 0, 1.0}, 1.0}, {{2, 0, 1.0}, 0.6}});
  step();
  all_started();
  EXPECT_EQ(allocator_->explain(view_, 2).verdict, "no machine that it may use has room now");
  EXPECT_NE(allocator_->explain(view_, 3).verdict.find("before it"), std::string::npos);
  EXPECT_FALSE(allocator_->explain(view_, 3).expected_start);
  Request urgent = open_request(4, {{{2, 0, 1.0}, 1.0}}, 1, 9);
  decide(urgent);
  reports(0, {{{1, 0, 1.0}, 1.0}});
  ASSERT_TRUE(at(0).parked);
  EXPECT_NE(allocator_->explain(view_, 0).verdict.find("held on n0"), std::string::npos);
}

TEST(MalleablePolicies, ThoseThatLookAheadOrMakeRoomRefuse) {
  for (const char* name : {"backfill", "shortest", "least-work", "heats", "infra", "dias", "preempt-resume"})
    EXPECT_THROW(parse_policy(std::string(name) + ":malleable"), UserError) << name;
  for (const char* name : {"fifo", "first-fit", "priority", "spread", "binpack", "random", "kit:order=fifo"})
    EXPECT_TRUE(parse_policy(std::string(name) + ":malleable").malleable) << name;
  EXPECT_FALSE(parse_policy("fifo").malleable);
}

}  // namespace
}  // namespace tandem::place
