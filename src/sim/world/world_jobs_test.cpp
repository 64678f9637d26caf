// Whole jobs with the real policies, in simulated clusters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "control/memory_journal.h"
#include "place/engine/scheduler.h"
#include "sim/world/programs_recorded.h"
#include "sim/world/world_play.h"
#include "tune/outcome.h"
#include "tune/train.h"
#include "tune/tune.h"

namespace tandem::sim {
namespace {

using spec::Domain;

std::vector<std::unique_ptr<Policy>> policies() {
  std::vector<std::unique_ptr<Policy>> out;
  out.push_back(std::make_unique<tune::TrainController>());
  out.push_back(std::make_unique<tune::TuneController>());
  out.push_back(std::make_unique<place::Scheduler>(place::parse_policy("fifo:malleable"), 1));
  return out;
}

spec::TuneJob a_job(const std::string& algorithm) {
  spec::TuneJob job;
  job.base.program.command = {"any"};
  job.base.limits.retries = 1;
  job.search.algorithm = algorithm;
  job.search.max_epochs = job.base.epochs = 9;
  job.hyper.parameters = {
      {"batch_size", {Domain::Kind::choice, {std::int64_t{32}, std::int64_t{256}}}, std::nullopt},
      {"learning_rate", {Domain::Kind::log_real, {}, 0.001, 0.1}, std::nullopt}};
  return job;
}

Curve a_curve() {
  Curve curve{.samples = 10'000, .seconds_a_sample = 1e-3, .seconds_a_batch = 0.01};
  curve.metrics = [](const Values& hyper, std::int64_t epoch) {
    const double off = std::log10(*as_number(hyper.at("learning_rate"))) + 1.8;
    return Metrics{{"accuracy", (1 - 0.3 * off * off) * (1 - std::exp(-0.5 * static_cast<double>(epoch)))}};
  };
  curve.rates = [](const Values& hyper, const Resources& granted) {
    return Metrics{{"task-clock", 1e9 * granted.cores},
                   {"minor-faults", 1e6 / batch_among(hyper)},
                   {"resident-bytes", 2e8},
                   {"voluntary-switches", 50}};
  };
  return curve;
}

std::vector<NodeGroup> cluster(int nodes) {
  return {
      NodeGroup{.name = "n", .type = "simulated machine", .capacity = {4, 16 * kGiB, 1.0}, .count = nodes}};
}

// A tuning job from its beginning to its end.
struct Tuned {
  Tuned(const spec::TuneJob& job, WorldOptions options, Programs& programs)
      : world(std::move(options), programs), loop({world, journal}, policies()) {
    loop.open();
    loop.submit(job, KnowledgeArrived{"test", {}});
    loop.run();
  }
  const View& view() const { return loop.view(); }
  const JobView& job() const { return view().jobs.front(); }
  tune::Outcome outcome() const { return tune::outcome(view(), 0); }
  tune::TrialOutcome best() const { return outcome().trials[outcome().best.value()]; }
  int lost() const {
    int n = 0;
    for (const auto& entry : journal.entries())
      if (const auto* failed = std::get_if<TaskFailed>(&entry.event.body))
        n += failed->failure == Failure::lost;
    return n;
  }

  World world;
  control::MemoryJournal journal;
  control::Loop loop;
};

TEST(SimulatedJobs, ATuningJobOnFailingNodesEndsWithTheSameBest) {
  for (const std::string algorithm : {"hyperband", "successive-halving", "random"}) {
    CurvePrograms programs(a_curve());
    const Tuned calm(a_job(algorithm), {.nodes = cluster(3)}, programs);
    ASSERT_EQ(calm.job().state, JobState::finished) << calm.job().reason;
    int lost = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(algorithm + " " + std::to_string(seed));
      auto failures = Failures::drawn(Seconds{60}, Seconds{3}, seed);
      const Tuned stormy(a_job(algorithm), {.nodes = cluster(3), .failures = std::move(failures)}, programs);
      EXPECT_EQ(stormy.job().state, JobState::finished) << stormy.job().reason;
      EXPECT_EQ(stormy.best().hyper, calm.best().hyper);
      EXPECT_EQ(stormy.best().metrics, calm.best().metrics);
      EXPECT_EQ(stormy.outcome().trials.size(), calm.outcome().trials.size());
      EXPECT_EQ(stormy.outcome().failed, 0);
      for (const auto& task : stormy.view().tasks) {
        std::set<std::int64_t> seen;
        for (const auto& record : task.epochs) EXPECT_TRUE(seen.insert(record.epoch).second) << "twice";
      }
      lost += stormy.lost();
    }
    EXPECT_GT(lost, 0);
  }
}

TEST(SimulatedJobs, TheSameSeedGivesTheSameRunAndTheJournalReplays) {
  const auto run = [] {
    auto curve = a_curve();
    curve.spread = 0.1;
    CurvePrograms programs(curve);
    auto failures = Failures::drawn(Seconds{60}, Seconds{3}, 4);
    const Tuned tuned(a_job("hyperband"), {.nodes = cluster(3), .failures = std::move(failures)}, programs);
    auto journal = tuned.journal;
    EXPECT_EQ(control::first_difference(policies(), journal), std::nullopt);
    return tuned.journal.entries();
  };
  EXPECT_EQ(run(), run());
}

TEST(SimulatedJobs, MoreNodesEndATuningJobSooner) {
  CurvePrograms programs(a_curve());
  const Tuned one(a_job("hyperband"), {.nodes = cluster(1)}, programs);
  const Tuned four(a_job("hyperband"), {.nodes = cluster(4)}, programs);
  EXPECT_LT(four.job().active, one.job().active);
  EXPECT_EQ(four.best().hyper, one.best().hyper);
}

TEST(SimulatedJobs, ARunThatIsReplayedFromItsRecordsComesToTheSame) {
  CurvePrograms programs(a_curve());
  const Tuned real(a_job("hyperband"), {.nodes = cluster(1)}, programs);
  RecordedPrograms recorded(real.view());
  const Tuned again(a_job("hyperband"), {.nodes = nodes_of(real.view())}, recorded);
  EXPECT_EQ(again.best().hyper, real.best().hyper);
  EXPECT_NEAR(again.job().active / real.job().active, 1, 0.02);
  EXPECT_EQ(recorded.guesses().points, 0);

  std::vector<double> medians;
  for (const auto& task : errors_by_task(recorded.predictions()))
    if (task.unpredicted < task.epochs) medians.push_back(task.median);
  ASSERT_FALSE(medians.empty());
  std::sort(medians.begin(), medians.end());
  EXPECT_LT(medians[medians.size() / 2], 0.01);
}

// ---- jobs that come by themselves ----

std::vector<ListedJob> some_jobs(int count) {
  std::vector<ListedJob> jobs;
  for (int i = 0; i < count; ++i)
    jobs.push_back({Seconds{1.0 * i}, Seconds{5.0 + i % 7}, {1 + i % 4, kGiB, 1.0}});
  return jobs;
}

TEST(SimulatedJobs, JobsOfATraceAreAllDoneEachInItsOwnTime) {
  JobList jobs(some_jobs(200));
  FixedPrograms programs(jobs.durations());
  World world({.nodes = cluster(3), .arrivals = &jobs}, programs);
  control::Decider decider(policies());
  const auto played = play(world, decider);
  EXPECT_EQ(played.stuck, 0);
  EXPECT_EQ(played.events, 3 + 200 * 4) << "each is submitted, starts, reports and ends";
  double core_seconds = 0;
  for (const auto& task : decider.view().tasks) {
    const auto& listed = jobs.jobs()[static_cast<std::size_t>(task.job)];
    EXPECT_EQ(decider.view().jobs[static_cast<std::size_t>(task.job)].state, JobState::finished);
    EXPECT_GE(task.started_at, listed.at);
    EXPECT_NEAR((task.ended_at - task.started_at).value, listed.duration.value, 1e-9);
    core_seconds += listed.duration.value * listed.wanted.cores;
  }
  EXPECT_GE(world.now().value, core_seconds / 12) << "no more cores were used than there are";
}

TEST(SimulatedJobs, JobsOfATraceSurviveTheNodesTheyRunOn) {
  JobList jobs(some_jobs(100));
  FixedPrograms programs(jobs.durations());
  auto failures = Failures::listed({{0, Seconds{10}, Seconds{30}}, {1, Seconds{40}, Seconds{60}}});
  World world({.nodes = cluster(2), .failures = std::move(failures), .arrivals = &jobs}, programs);
  control::Decider decider(policies());
  EXPECT_EQ(play(world, decider).stuck, 0);
  int again = 0;
  for (const auto& job : decider.view().jobs) EXPECT_EQ(job.state, JobState::finished) << job.reason;
  for (const auto& task : decider.view().tasks) again += task.attempt > 1;
  EXPECT_GT(again, 0);
}

TEST(SimulatedJobs, AJobThatNobodyPlacesIsSaidToBeStuckEvenWhileNodesFail) {
  JobList jobs(some_jobs(5));
  FixedPrograms programs(jobs.durations());
  auto failures = Failures::drawn(Seconds{2}, Seconds{1}, 1);
  World world({.nodes = cluster(2), .failures = std::move(failures), .arrivals = &jobs}, programs);
  std::vector<std::unique_ptr<Policy>> without_allocator;
  without_allocator.push_back(std::make_unique<tune::TrainController>());
  control::Decider decider(std::move(without_allocator));
  EXPECT_GT(play(world, decider).stuck, 0);
}

TEST(SimulatedJobs, AJobLargerThanEveryNodeFailsAndTheOthersGoOn) {
  auto listed = some_jobs(5);
  listed[2].wanted.cores = 64;
  JobList jobs(std::move(listed));
  FixedPrograms programs(jobs.durations());
  World world({.nodes = cluster(2), .arrivals = &jobs}, programs);
  control::Decider decider(policies());
  EXPECT_EQ(play(world, decider).stuck, 0);
  for (const auto& job : decider.view().jobs)
    EXPECT_EQ(job.state, job.id == 2 ? JobState::failed : JobState::finished) << job.reason;
}

}  // namespace
}  // namespace tandem::sim
