#include "tune/recurring_runs.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace tandem::tune {
namespace {

class RecurringRuns : public testing::Test {
 protected:
  RecurringRuns() {
    job_.base.name = "nightly";
    job_.hyper.parameters = {
        {"batch_size",
         {spec::Domain::Kind::choice, {std::int64_t{256}, std::int64_t{64}, std::int64_t{128}}},
         {}}};
    job_.system = {.cores = {2}, .gpus = 1, .gpu_power = {300, 500, 700}};
    job_.objective = {{{"accuracy", true}, {"cost", false}}, 0.9, spec::CostWeights{0.5, 0.5}};
    job_.search.max_epochs = 20;
  }
  struct Ran {
    double watts, accuracy;
    std::optional<Energy> energy = Energy{Joules{100}, "nvml"};
    bool mixed = false;
    double hertz = 0;
  };
  // A run of one attempt, as the journal would have it.
  View ran(std::int64_t batch, const std::vector<Ran>& epochs, JobState state, const std::string& reason) {
    View view;
    view.jobs.emplace_back();
    view.jobs[0].spec = attempt_of(job_, {.batch = batch, .stop_cost = 1000});
    view.jobs[0].state = state, view.jobs[0].reason = reason, view.jobs[0].tasks = {0};
    TaskView task;
    task.trial = TrialPart{.hyper = {{"batch_size", batch}}};
    for (const auto& epoch : epochs) {
      EpochRecord record{.epoch = static_cast<std::int64_t>(task.epochs.size()) + 1, .seconds = {2}};
      record.metrics["accuracy"] = epoch.accuracy;
      record.granted.gpu_power = Watts{epoch.watts}, record.granted.gpu_clock = epoch.hertz;
      record.energy = epoch.energy, record.mixed = epoch.mixed;
      task.epochs.push_back(record);
    }
    view.tasks.push_back(task);
    return view;
  }
  std::vector<Lesson> lessons(const View& view) {
    return lessons_of(view, 0, job_.system, recurring_job_of(job_));
  }

  spec::TuneJob job_;
};

TEST_F(RecurringRuns, ASpecSaysWhatMayBeChosen) {
  const auto recurring = recurring_job_of(job_);
  EXPECT_EQ(recurring.batches, (std::vector<std::int64_t>{64, 128, 256}));
  EXPECT_EQ(recurring.default_batch, 256) << "the first that was written";
  EXPECT_EQ(recurring.limits, (std::vector<double>{300, 500, 700}));
  EXPECT_EQ(recurring.most_epochs, 20);
}

TEST_F(RecurringRuns, WhatIsMissingIsNamed) {
  const auto said = [](const spec::TuneJob& job) -> std::string {
    try {
      recurring_job_of(job);
    } catch (const UserError& e) {
      return e.what();
    }
    return "nothing";
  };
  auto job = job_;
  job.objective.target.reset();
  EXPECT_NE(said(job).find("objective.target"), std::string::npos);
  job = job_;
  job.objective.cost.reset();
  EXPECT_NE(said(job).find("objective.cost"), std::string::npos);
  job = job_;
  job.hyper.parameters.clear();
  EXPECT_NE(said(job).find("hyper.batch_size"), std::string::npos);
  job = job_;
  job.hyper.parameters.push_back({"rate", {spec::Domain::Kind::real, {}, 0, 1}, {}});
  EXPECT_NE(said(job).find("hyper.rate"), std::string::npos);
}

TEST_F(RecurringRuns, ARunTeachesWhatEpochsCostAndHowManyItTook) {
  const auto learned = lessons(ran(64, {{700, 0.5}, {500, 0.8}, {0, 0.95}}, JobState::finished, "reached"));
  ASSERT_EQ(learned.size(), 4u);
  EXPECT_EQ(std::get<EpochSlice>(learned[1]).limit, 500);
  EXPECT_EQ(std::get<EpochSlice>(learned[2]).limit, 700) << "as it is found is the highest";
  EXPECT_EQ(std::get<EpochSlice>(learned[0]).joules, 100);
  EXPECT_EQ(std::get<AttemptEnded>(learned[3]).ending, Ending::reached);
  EXPECT_EQ(std::get<AttemptEnded>(learned[3]).epochs, 3);
}

TEST_F(RecurringRuns, WhatStartingUpTookIsNotAnEpochsCost) {
  auto view = ran(64, {{700, 0.95}}, JobState::finished, "reached");
  view.tasks[0].epochs[0].startup = Seconds{1.5};
  view.tasks[0].epochs[0].startup_energy = Joules{60};
  const auto slice = std::get<EpochSlice>(lessons(view).at(0));
  EXPECT_EQ(slice.seconds, 0.5);
  EXPECT_EQ(slice.joules, 40);
}

TEST_F(RecurringRuns, ClocksAreSettingsLikePowerLimits) {
  job_.system.gpu_power = {};
  job_.system.gpu_clock = {1e9, 1.5e9, 2e9};
  const auto recurring = recurring_job_of(job_);
  EXPECT_EQ(recurring.limits.size(), 3u);
  const Energy energy{Joules{100}, "nvml"};
  const auto learned = lessons(
      ran(64, {{0, 0.5, energy, false, 2e9}, {0, 0.6, energy, false, 1.5e9}, {0, 0.95, energy, false, 1.7e9}},
          JobState::finished, ""));
  ASSERT_EQ(learned.size(), 3u) << "1.7 GHz is not the job's";
  EXPECT_EQ(std::get<EpochSlice>(learned[0]).limit, recurring.limits[2]);
  EXPECT_EQ(std::get<EpochSlice>(learned[1]).limit, recurring.limits[1]);
  job_.system.gpu_power = {300, 700};
  EXPECT_EQ(recurring_job_of(job_).limits.size(), 6u) << "each limit with each clock";
  const auto both = lessons(
      ran(64, {{300, 0.5, energy, false, 2e9}, {700, 0.95, energy, false, 2e9}}, JobState::finished, ""));
  EXPECT_NE(std::get<EpochSlice>(both[0]).limit, std::get<EpochSlice>(both[1]).limit);
}

TEST_F(RecurringRuns, EpochsThatSayNothingOfCostStillCount) {
  const auto learned =
      lessons(ran(64, {{700, 0.5, std::nullopt}, {500, 0.8, Energy{Joules{9}, "nvml"}, true}, {400, 0.95}},
                  JobState::finished, ""));
  ASSERT_EQ(learned.size(), 1u) << "no energy, two limits in one, a limit that is not the job's";
  EXPECT_EQ(std::get<AttemptEnded>(learned[0]).epochs, 3);
}

TEST_F(RecurringRuns, WhatIsSettledIsNotTriedAgain) {
  EXPECT_EQ(attempt_of(job_, {.batch = 64, .among = {500}}).system.gpu_power, std::vector<double>{500});
  job_.system.gpu_power = {700};
  job_.system.gpu_clock = {1e9, 1.5e9, 2e9};
  const auto clocks = recurring_job_of(job_).limits;
  const auto attempt = attempt_of(job_, {.batch = 64, .among = {clocks[1]}});
  EXPECT_EQ(attempt.system.gpu_clock, std::vector<double>{1.5e9});
  EXPECT_EQ(attempt.system.gpu_power, std::vector<double>{700});
  // A later run learns from one that kept to a clock.
  auto view = ran(64, {{700, 0.95, Energy{Joules{100}, "nvml"}, false, 1.5e9}}, JobState::finished, "");
  view.jobs[0].spec = attempt;
  EXPECT_EQ(std::get<EpochSlice>(lessons(view).at(0)).limit, clocks[1]);
  job_.system.gpu_power = {300, 700};
  EXPECT_EQ(attempt_of(job_, {.batch = 64, .among = {2}}).system.gpu_clock.size(), 3u)
      << "of two, neither is";
}

TEST_F(RecurringRuns, EndsAreToldApart) {
  const std::vector<Ran> short_of_it{{700, 0.5}};
  const auto ending = [&](JobState state, const std::string& reason) {
    return std::get<AttemptEnded>(lessons(ran(64, short_of_it, state, reason)).back()).ending;
  };
  EXPECT_EQ(ending(JobState::finished, "budget.cost of 1 kJ is used up"), Ending::stopped);
  EXPECT_EQ(ending(JobState::finished, ""), Ending::failed);
  EXPECT_EQ(ending(JobState::failed, "every trial failed"), Ending::failed);
  EXPECT_TRUE(lessons(ran(64, short_of_it, JobState::stopped, "Ctrl-C")).empty())
      << "a person's stop says nothing";
  EXPECT_TRUE(lessons(ran(64, short_of_it, JobState::running, "")).empty());
  EXPECT_TRUE(lessons(ran(32, short_of_it, JobState::finished, "")).empty()) << "not a choice any more";
}

TEST_F(RecurringRuns, AnAttemptIsOneTrainingWithItsBatchSizeAndItsEnd) {
  const auto attempt = attempt_of(job_, {.batch = 128, .stop_cost = 500});
  EXPECT_TRUE(attempt.recurring);
  EXPECT_EQ(attempt.search.trials, 1);
  EXPECT_EQ(attempt.hyper.parameters.at(0).domain.choices, (std::vector<Value>{std::int64_t{128}}));
  EXPECT_EQ(attempt.budget.cost, Joules{500});
  EXPECT_FALSE(
      attempt_of(job_, {.batch = 128, .stop_cost = std::numeric_limits<double>::infinity()}).budget.cost);
  job_.budget.cost = Joules{200};
  EXPECT_EQ(attempt_of(job_, {.batch = 128, .stop_cost = 500}).budget.cost, Joules{200})
      << "the user's own limit holds";
}

}  // namespace
}  // namespace tandem::tune
