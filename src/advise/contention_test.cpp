// Jobs that share a machine's CPUs: what `tandem characterize` measures of it, and what that has to say of
// loads it did not measure. The truth: threads take turns on a CPU, and a team of threads that has to wait
// for one that has no CPU loses much more than its turn.
#include <gtest/gtest.h>

#include <cmath>

#include "advise/advisor.h"
#include "advise/models.h"
#include "advise/toy_history_for_test.h"

namespace tandem::advise {
namespace {

constexpr int kCpus = 2;
const std::vector<int> kBatches = {64, 128, 256, 512};

double threads_on_a_cpu(int cores, double busy) {
  return std::max(1.0, std::ceil((cores + busy) / kCpus));
}

double epoch_beside(double batch, int cores, double busy, double collapse) {
  const double alone = 60'000 / batch * (0.002 + 5e-5 * batch * (cores == 1 ? 1 : 0.7));
  const double turns = threads_on_a_cpu(cores, busy);
  return alone * turns * (cores > 1 && turns > 1 ? collapse : 1);
}

PastRun beside(int batch, int cores, int jobs, double collapse, double noise) {
  PastRun run = toy_run(batch, cores, jobs, 0, 4);
  double sum = 1;
  for (auto& seconds : run.epoch_seconds)
    sum += seconds = epoch_beside(batch, cores, (jobs - 1) * cores, collapse) * std::exp(noise);
  run.seconds = {sum};
  return run;
}

// A full factorial with one or two concurrent jobs: a row for each job.
std::vector<PastRun> characterized(double collapse) {
  Random random(7);
  std::vector<PastRun> out;
  for (const int batch : kBatches)
    for (const int cores : {1, 2})
      for (const int jobs : {1, 2})
        for (int job = 0; job < jobs; ++job)
          out.push_back(beside(batch, cores, jobs, collapse, 0.03 * random.normal()));
  return out;
}

Models learnt(double collapse) {
  return Models::fit(characterized(collapse), "toy/data", "here", {.machine_cores = kCpus});
}

// Of what is said of four epochs beside so many busy threads, to what they take.
double ratio(const Models& models, int batch, int cores, double busy, double collapse) {
  const Load load{1 + busy / cores, cores + busy};
  const double truth = 1 + 4 * epoch_beside(batch, cores, busy, collapse);
  return models.seconds(toy_setting(batch, cores, 4), load).value() / truth;
}

TEST(Contention, IsThreadsOnTheFullestCpu) {
  EXPECT_EQ(contention(toy_setting(64, 1), {1, 1}, 2), 1);
  EXPECT_EQ(contention(toy_setting(64, 1), {2, 2}, 2), 1) << "there is a CPU for each";
  EXPECT_EQ(contention(toy_setting(64, 1), {3, 3}, 2), 2);
  EXPECT_EQ(contention(toy_setting(64, 2), {1.5, 3}, 2), 2) << "a team is as slow as its slowest thread";
  EXPECT_EQ(contention(toy_setting(64, 2), {2, 4}, 2), 2);
  EXPECT_EQ(contention(toy_setting(64, 2), 3, 2), 3) << "no cores said: others are like this one";
  EXPECT_DOUBLE_EQ(contention(toy_setting(64, 2), {1.05, 2.1}, 2), 1.1) << "hardly anybody there";
  EXPECT_EQ(contention(toy_setting(64, 1), {1, 0.5}, 2), 1) << "less than this job alone wants";
  EXPECT_EQ(contention(toy_setting(64, 4), 1, 2), 2) << "more threads than CPUs crowd themselves";
}

class Collapse : public testing::TestWithParam<double> {};

TEST_P(Collapse, OfTeamsIsNoOutlier) {
  const auto models = learnt(GetParam());
  for (const int batch : kBatches) {
    EXPECT_NEAR(ratio(models, batch, 2, 2, GetParam()), 1, 0.15) << "two teams, batch " << batch;
    EXPECT_NEAR(ratio(models, batch, 2, 0, GetParam()), 1, 0.15) << "a team alone, batch " << batch;
  }
}

TEST_P(Collapse, DoesNotSpillOverToThoseWithACpuOfTheirOwn) {
  const auto models = learnt(GetParam());
  for (const int batch : kBatches) {
    EXPECT_NEAR(ratio(models, batch, 1, 0, GetParam()), 1, 0.15) << "batch " << batch;
    EXPECT_NEAR(ratio(models, batch, 1, 1, GetParam()), 1, 0.15) << "batch " << batch;
  }
}

TEST_P(Collapse, OneThreadBesideTwoBusyOnesTakesTurns) {
  const auto models = learnt(GetParam());
  for (const int batch : kBatches) {
    EXPECT_NEAR(ratio(models, batch, 1, 2, GetParam()), 1, 0.35) << "batch " << batch;
    const auto forecast = models.seconds(toy_setting(batch, 1, 4), {3, 3});
    const double truth = 1 + 4 * epoch_beside(batch, 1, 2, GetParam());
    EXPECT_LT(forecast.interval(0.9).low, truth);
    EXPECT_GT(forecast.interval(0.9).high, truth);
  }
}

TEST_P(Collapse, WhatWasNeverMeasuredIsLessSure) {
  const auto models = learnt(GetParam());
  const auto width = [&](int cores, const Load& load) {
    const auto [low, high] = models.seconds(toy_setting(128, cores, 4), load).interval(0.9);
    return std::log(high / low);
  };
  EXPECT_GT(width(1, {3, 3}), 1.5 * width(1, {1, 1}));
  EXPECT_GT(width(1, {2, 3}), 1.5 * width(1, {1, 1}))
      << "each column lies within its range, but not together";
}

INSTANTIATE_TEST_SUITE_P(Factors, Collapse, testing::Values(1.0, 1.6, 3.5, 7.0));

TEST(Contention, IsFairWhereNobodyMeasuredIt) {
  auto history = characterized(1);
  std::erase_if(history, [](const PastRun& run) { return run.load[0].jobs > 1; });
  const auto models = Models::fit(history, "toy/data", "here", {.machine_cores = kCpus});
  EXPECT_NEAR(ratio(models, 128, 2, 2, 1), 1, 0.25);
  EXPECT_NEAR(ratio(models, 128, 1, 2, 1), 1, 0.25);
  EXPECT_TRUE(models.seconds(toy_setting(128, 2, 4), {2, 4}).wide);
}

TEST(Contention, OneStalledRunIsNoCollapse) {
  auto history = characterized(1.6);
  for (const double noise : {0.02, -0.01, 0.01}) history.push_back(beside(128, 1, 1, 1.6, noise));
  history.push_back(beside(128, 1, 1, 1.6, std::log(8)));  // its repeats say otherwise
  const auto models = Models::fit(history, "toy/data", "here", {.machine_cores = kCpus});
  EXPECT_NEAR(ratio(models, 128, 1, 0, 1.6), 1, 0.3);
  EXPECT_NEAR(ratio(models, 256, 1, 0, 1.6), 1, 0.2);
  EXPECT_NEAR(ratio(models, 128, 2, 2, 1.6), 1, 0.3);
}

TEST(Contention, SurvivesBeingKept) {
  const auto models = learnt(3.5);
  const auto same = Models::read(models.written());
  EXPECT_EQ(models.seconds(toy_setting(64, 2), {2, 4}).value(),
            same.seconds(toy_setting(64, 2), {2, 4}).value());
}

TEST(Contention, AdviceLeavesTheTeamWhereCpusAreTaken) {
  const auto models = learnt(7);
  Question question;
  question.slo = {40};
  question.busy_cores = 2;
  for (const int cores : {2, 1}) question.candidates.push_back(toy_setting(256, cores, 1));
  const auto advice = advise(models, question);
  EXPECT_EQ(advice.choice.setting.system.cores, 1);
  EXPECT_EQ(advice.choice.load, (Load{3, 3}));
}

}  // namespace
}  // namespace tandem::advise
