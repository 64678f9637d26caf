#include "tune/experiment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "tune/experiment_runs.h"

namespace tandem::tune {
namespace {

Value whole(std::int64_t value) {
  return value;
}

spec::Parameter choice(const char* name, std::vector<Value> levels) {
  return {name, {spec::Domain::Kind::choice, std::move(levels)}, std::nullopt};
}

// Plays the loop and a world that starts whatever is asked for.
class ExperimentTest : public testing::Test {
 protected:
  ExperimentTest() {
    job_.design = "full";
    job_.base.epochs = 2;
    job_.base.seed = 5;
    job_.base.limits.retries = 1;
    job_.factors.parameters = {choice("batch_size", {whole(32), whole(64)}), choice(spec::kJobs, {whole(2)})};
    for (NodeId id = 0; id < 2; ++id) happens(NodeJoined{id, "lane", {2, 4 * kGiB, 1.0}});
  }
  std::vector<DecisionBody> happens(EventBody body) {
    clock_ += 1;
    const Event event{Seconds{clock_}, std::move(body)};
    view_.apply(event);
    auto decided = controller_.step(view_, event);
    for (const auto& d : decided) decide(d);
    return decided;
  }
  void decide(DecisionBody body) { view_.apply(Decision{view_.next_decision, std::move(body)}); }
  std::vector<DecisionBody> submit() { return happens(JobSubmitted{0, job_}); }
  void start(TaskId task) {
    const Attempt attempt = view_.tasks[static_cast<std::size_t>(task)].attempt + 1;
    decide(Start{task, attempt, static_cast<NodeId>(task % 2), {}});
    happens(TaskStarted{task, attempt, view_.next_decision - 1, 1, 1, {0}});
  }
  std::vector<DecisionBody> epoch(TaskId task, std::int64_t number, Metrics metrics = {{"accuracy", 0.5}}) {
    const Attempt attempt = view_.tasks[static_cast<std::size_t>(task)].attempt;
    EpochEnded e{task, attempt, number, std::move(metrics), Seconds{3}, Energy{Joules{7}, "model"}, {}};
    e.startup = number == 1 ? Seconds{1} : Seconds{0};
    return happens(e);
  }
  std::vector<DecisionBody> ends(TaskId task) {
    return happens(
        TaskEnded{task, view_.tasks[static_cast<std::size_t>(task)].attempt, Energy{Joules{0}, "model"}});
  }
  std::vector<DecisionBody> fails(TaskId task, Failure failure) {
    return happens(TaskFailed{task, view_.tasks[static_cast<std::size_t>(task)].attempt, failure, "why", "",
                              std::nullopt});
  }
  std::vector<DecisionBody> completes(TaskId task) {
    start(task);
    for (std::int64_t number = 1; number <= view_.tasks[static_cast<std::size_t>(task)].trial->epochs;
         ++number)
      epoch(task, number);
    return ends(task);
  }

  spec::Experiment job_;
  View view_;
  ExperimentController controller_;
  double clock_ = 0;
};

const FinishJob* finish(const std::vector<DecisionBody>& decided) {
  return decided.size() == 1 ? std::get_if<FinishJob>(&decided[0]) : nullptr;
}

std::vector<TaskId> asked(const std::vector<DecisionBody>& decided) {
  std::vector<TaskId> out;
  for (const auto& d : decided)
    if (const auto* request = std::get_if<Request>(&d)) out.push_back(request->task);
  return out;
}

TEST_F(ExperimentTest, ARunIsItsJobsTogetherAndTheNextWaitsForAllOfThem) {
  EXPECT_EQ(asked(submit()), (std::vector<TaskId>{0, 1}));
  start(0);
  start(1);
  EXPECT_EQ(epoch(0, 1), (std::vector<DecisionBody>{Continue{0, 1, 1}}));
  epoch(0, 2);
  EXPECT_TRUE(ends(0).empty()) << "the other one is still at work";
  epoch(1, 1);
  epoch(1, 2);
  EXPECT_EQ(asked(ends(1)), (std::vector<TaskId>{2, 3}));
  const auto &before = *view_.tasks[0].trial, &after = *view_.tasks[2].trial;
  EXPECT_NE(before.point.at("batch_size"), after.point.at("batch_size"));
  EXPECT_EQ(after.hyper.at("batch_size"), after.point.at("batch_size"));
  EXPECT_FALSE(after.hyper.contains(spec::kJobs)) << "that is none of the program's";
  completes(2);
  const auto decided = completes(3);
  ASSERT_TRUE(finish(decided));
  EXPECT_EQ(finish(decided)->state, JobState::finished);
}

TEST_F(ExperimentTest, ReplicationsHaveSeedsOfTheirOwnAndConcurrentJobsShareOne) {
  job_.replications = 3;
  submit();
  std::map<std::int64_t, std::set<std::int64_t>> seeds;
  for (TaskId task = 0; task < 12; ++task) {
    seeds[view_.tasks[static_cast<std::size_t>(task)].trial->rung].insert(
        what_runs(view_, view_.tasks[static_cast<std::size_t>(task)]).seed);
    completes(task);
  }
  EXPECT_EQ(seeds, (std::map<std::int64_t, std::set<std::int64_t>>{{0, {5}}, {1, {6}}, {2, {7}}}));
  EXPECT_EQ(view_.jobs[0].state, JobState::finished);
}

TEST_F(ExperimentTest, AFailureIsRetriedThenRecordedAndTheExperimentGoesOn) {
  submit();
  completes(0);
  start(1);
  EXPECT_EQ(asked(fails(1, Failure::killed)), (std::vector<TaskId>{1}));
  start(1);
  EXPECT_EQ(asked(fails(1, Failure::killed)), (std::vector<TaskId>{2, 3})) << "once more was allowed";
  completes(2);
  const auto decided = completes(3);
  ASSERT_TRUE(finish(decided));
  EXPECT_EQ(finish(decided)->state, JobState::finished);
  EXPECT_NE(finish(decided)->reason.find("1 of 4 tasks failed"), std::string::npos)
      << finish(decided)->reason;
  const auto tasks = measured_tasks(view_, 0);
  EXPECT_EQ(tasks[1].state, "failed");
  EXPECT_EQ(tasks[1].attempts, 2);
  EXPECT_EQ(measured_runs(tasks).size(), 1u) << "a run with a failed task is not a measurement";
}

TEST_F(ExperimentTest, WhenAllFailTheJobHasFailed) {
  submit();
  start(0);
  start(1);
  fails(0, Failure::crashed);
  fails(1, Failure::bad_report);
  start(2);
  start(3);
  fails(2, Failure::out_of_memory);
  const auto decided = fails(3, Failure::crashed);
  ASSERT_TRUE(finish(decided));
  EXPECT_EQ(finish(decided)->state, JobState::failed);
}

TEST_F(ExperimentTest, ARefusedStartIsAFailureOfItsRunAlone) {
  submit();
  decide(Start{0, 1, 0, {}});
  const auto refused = view_.next_decision - 1;
  EXPECT_TRUE(happens(DecisionRefused{refused, "no room"}).empty()) << "the other one has not even begun";
  EXPECT_EQ(asked(completes(1)), (std::vector<TaskId>{2, 3}));
}

TEST_F(ExperimentTest, CancelledAndResumedItGoesOnWithWhatWasCutOff) {
  submit();
  completes(0);
  start(1);
  epoch(1, 1);
  EXPECT_TRUE(happens(JobCancelled{0, "enough"}).empty());
  const auto stopped = ends(1);
  ASSERT_TRUE(finish(stopped));
  EXPECT_EQ(finish(stopped)->state, JobState::stopped);
  EXPECT_EQ(asked(happens(JobResumed{0})), (std::vector<TaskId>{1})) << "the complete one stays as it is";
  start(1);
  epoch(1, 2);
  EXPECT_EQ(asked(ends(1)), (std::vector<TaskId>{2, 3}));
}

TEST_F(ExperimentTest, ARunThatNeverFitsFailsTheJobAtOnce) {
  job_.factors.parameters = {choice("batch_size", {whole(32)}), choice(spec::kJobs, {whole(3)})};
  job_.system.cores = {2};
  const auto decided = submit();
  ASSERT_TRUE(finish(decided));
  EXPECT_EQ(finish(decided)->state, JobState::failed);
  EXPECT_NE(finish(decided)->reason.find("3 jobs at once"), std::string::npos) << finish(decided)->reason;
}

TEST_F(ExperimentTest, LimitsTimeEndsIt) {
  job_.base.limits.time = Seconds{5};
  const auto decided = submit();
  ASSERT_EQ(decided.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<Wake>(decided[0]));
  start(0);
  clock_ += 10;
  const auto woke = happens(Woke{1});
  ASSERT_TRUE(finish(woke));
  EXPECT_EQ(finish(woke)->state, JobState::stopped);
}

TEST_F(ExperimentTest, OtherJobsAreNoneOfItsBusiness) {
  EXPECT_TRUE(happens(JobSubmitted{0, job_.base}).empty());
  spec::TuneJob search;
  search.base = job_.base;
  EXPECT_TRUE(happens(JobSubmitted{1, search}).empty());
}

TEST_F(ExperimentTest, WhatIsMeasuredOfATask) {
  submit();
  start(0);
  epoch(0, 1, {{"accuracy", 0.5}, {"seconds_load", 9}, {"seconds_train", 2}});
  epoch(0, 2, {{"accuracy", 0.75}, {"seconds_load", 0}, {"seconds_train", 4}});
  ends(0);
  const auto row = measured_tasks(view_, 0).front();
  EXPECT_EQ(row.state, "finished");
  EXPECT_EQ(row.measured.at("accuracy"), 0.75);
  EXPECT_EQ(row.measured.at("seconds_load"), 9) << "loaded once, before the first epoch";
  EXPECT_EQ(row.measured.at("seconds_train"), 3) << "an epoch's";
  EXPECT_EQ(row.measured.at("train_seconds"), 5) << "without start-up";
  EXPECT_EQ(row.measured.at("startup_seconds"), 1);
  EXPECT_EQ(row.measured.at("joules"), 14);
}

TEST_F(ExperimentTest, BytesOutAreASumAndOnlyKnownWhereEveryEpochSays) {
  submit();
  start(0);
  epoch(0, 1, {{"bytes_out", 1e9}});
  epoch(0, 2, {{"bytes_out", 5e8}});
  ends(0);
  start(1);
  epoch(1, 1, {{"accuracy", 0.5}});
  epoch(1, 2, {{"bytes_out", 5e8}});
  ends(1);
  const auto rows = measured_tasks(view_, 0);
  EXPECT_EQ(rows.at(0).measured.at(kBytesOut), 1.5e9);
  EXPECT_FALSE(rows.at(1).measured.contains(kBytesOut)) << "a part would be taken for all";
}

TEST(ExperimentPlan, UsualValuesAreTheTrainingSpecsWhereTheDomainHasThem) {
  spec::Experiment job;
  job.design = "one-at-a-time";
  job.base.hyper = {{"batch_size", whole(64)}, {"dropout", 0.0}};
  job.base.epochs = 3;
  job.factors.parameters = {choice("batch_size", {whole(32), whole(64), whole(128)}),
                            choice("epochs", {whole(1), whole(3)})};
  job.system.cores = {1, 2, 4};
  job.system.speed = {0.5, 0.8};
  const auto plan = plan_of(job);
  EXPECT_EQ(plan.runs.size(), 1u + 2 + 1 + 2 + 1);
  for (const auto& run : plan.runs) {
    int unusual = 0;
    unusual += run.design.at.at("batch_size") != whole(64);
    unusual += run.epochs != 3;
    unusual += run.wanted.cores != 1;
    unusual += run.wanted.speed != 0.8;
    EXPECT_EQ(unusual, run.design.varied.empty() ? 0 : 1);
    EXPECT_EQ(run.hyper.at("dropout"), Value(0.0)) << "what is fixed is given to the program";
  }
}

TEST(ExperimentPlan, ConstraintsLeavePointsOutAndPointsGoWithSpaceFilling) {
  spec::Experiment job;
  job.design = "full";
  job.factors.parameters = {choice("batch_size", {whole(32), whole(64)}),
                            choice(spec::kJobs, {whole(1), whole(2)})};
  job.system.cores = {1, 2};
  job.factors.constraints.push_back(std::get<spec::Expression>(spec::Expression::parse("jobs * cores <= 2")));
  EXPECT_EQ(plan_of(job).runs.size(), 6u);
  job.points = 4;
  EXPECT_THROW(plan_of(job), UserError) << "a full design has its own number";
  job.design = "space-filling";
  EXPECT_LE(plan_of(job).runs.size(), 4u);
  job.points.reset();
  EXPECT_THROW(plan_of(job), UserError) << "of how many?";
}

TEST(ExperimentPlan, GangsNeedNodesOfTheirOwn) {
  PlannedRun run{.wanted = {1, 0, 1.0}, .jobs = 1, .nodes = 2};
  NodeView node;
  node.largest = {8, kGiB, 1.0};
  EXPECT_NE(why_never(run, {node}), "");
  EXPECT_EQ(why_never(run, {node, node}), "");
  run.jobs = 9;
  EXPECT_NE(why_never(run, {node, node}), "");
  EXPECT_NE(why_never({.wanted = {1, 0, 1.0}}, {}), "") << "there is no machine at all";
}

}  // namespace
}  // namespace tandem::tune
