#include "sim/dias/dias.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace tandem::sim {
namespace {

using place::DiasJob;
using stats::Discipline;

DiasJob alone(double seconds) {  // one exponential task
  return {{{{{1, 1}}, 0, seconds, 1, true, 0}}};
}

DiasServer server_for(std::size_t classes, Discipline discipline) {
  return DiasServer(classes, {.discipline = discipline});
}

// By hand: low from 0 for 10 s, high at 4 for 3 s, high at 5 for 3 s.
std::vector<DiasServer> by_hand() {
  std::vector<DiasServer> servers;
  for (const auto discipline :
       {Discipline::non_preemptive, Discipline::preemptive_resume, Discipline::preemptive_restart}) {
    servers.push_back(server_for(2, discipline));
    for (const DiasArrival& arrival :
         {DiasArrival{0, 1, 10}, DiasArrival{4, 0, 3}, DiasArrival{5, 0, 3}, DiasArrival{100, 0, 1}})
      servers.back().arrive(arrival);
  }
  return servers;
}

TEST(DiasServer, ServesByPriority) {
  const auto servers = by_hand();
  const double high[] = {((13 - 4) + (16 - 5)) / 2.0, (3 + 5) / 2.0, (3 + 5) / 2.0};
  const double low[] = {10, 16, 20};  // restart: 4 s lost, 10 s from 10 on
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(servers[i].seen(0).response.mean(), high[i], 1e-12) << i;
    EXPECT_NEAR(servers[i].seen(1).response.mean(), low[i], 1e-12) << i;
    EXPECT_NEAR(servers[i].seen(1).executing, 10, 1e-12) << i;
    EXPECT_NEAR(servers[i].seen(1).queueing, low[i] - 10, 1e-12) << i;
  }
  EXPECT_EQ(servers[0].account().waste(), 0);
  EXPECT_EQ(servers[1].account().waste(), 0);
  EXPECT_NEAR(servers[2].account().waste(), 4.0 / 20, 1e-12);
  EXPECT_NEAR(servers[2].joules().value, 20 * 180, 1e-9);
  EXPECT_EQ(servers[2].account().seconds, 100);
}

TEST(DiasServer, SprintsAfterTheTimeoutWhileTheBudgetLasts) {
  DiasServer server(1, {.timeouts = {Seconds{65}}, .limit = place::SprintLimit{Joules{900}, Watts{0}}});
  server.arrive({0, 0, 165});     // sprints 10 s of the 40 it would need
  server.arrive({1000, 0, 165});  // nothing is left
  server.arrive({2000, 0, 1});
  EXPECT_NEAR(server.seen(0).response.mean(), (150 + 165) / 2.0, 1e-9);
  EXPECT_NEAR(server.account().sprinted, 10, 1e-9);
  EXPECT_NEAR(server.joules().value, (150 + 165 - 10) * 180 + 10 * 270, 1e-6);
}

TEST(DiasServer, RefusesToSprintWithEvictions) {
  EXPECT_THROW(DiasServer(1, {.discipline = Discipline::preemptive_restart, .timeouts = {Seconds{1}}}),
               UserError);
}

TEST(DiasStream, TheSameSeedIsTheSameStreamAndDropsDoNotMoveArrivals) {
  const auto arrivals = stats::poisson({0.1, 0.3});
  const DiasJob job{{{{{10, 0.5}, {20, 0.5}}, 1, 2, 3, true, 0}}};
  DiasStream one(arrivals, {job, job}, 4, 7), same(arrivals, {job, job}, 4, 7),
      dropped(arrivals, {job, with_drop(job, 0.5)}, 4, 7);
  double less = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto a = one.next(), b = same.next(), c = dropped.next();
    EXPECT_EQ(a.work, b.work);
    EXPECT_EQ(a.at, c.at);
    EXPECT_EQ(a.which, c.which);
    less += a.work - c.work;
  }
  EXPECT_GT(less, 0);
}

TEST(DiasStream, ArrivesAtTheRatesItWasGiven) {
  const auto arrivals = stats::bursty({0.1, 0.3}, 5, 200, 50);
  const auto rates = stats::mean_rates(arrivals);
  EXPECT_NEAR(rates[0], 0.1, 1e-12);
  DiasStream stream(arrivals, {alone(1), alone(1)}, 1, 3);
  double high = 0, last = 0;
  const int jobs = 400000;
  for (int i = 0; i < jobs; ++i) {
    const auto arrival = stream.next();
    high += arrival.which == 0;
    last = arrival.at;
  }
  EXPECT_NEAR(jobs / last, 0.4, 0.01);
  EXPECT_NEAR(high / jobs, 0.25, 0.01);
}

TEST(DiasStream, RefusesWhatDoesNotFit) {
  EXPECT_THROW(DiasStream(stats::poisson({1, 1}), {alone(1)}, 1, 1), UserError);
  EXPECT_THROW(DiasStream(stats::poisson({1}), {alone(1)}, 0, 1), UserError);
  EXPECT_THROW(DiasStream(stats::poisson({0}), {alone(1)}, 1, 1), UserError);
}

TEST(DiasSlots, TasksHaveTheMeanAndTheSpreadOfTheirShape) {
  Random random(5);
  for (const int shape : {1, 4, 7, 100}) {
    const DiasJob one{{{{{1, 1}}, 0, 3, shape, true, 0}}};
    DiasSlots slots(1);
    double sum = 0, square = 0;
    const int runs = 100000;
    for (int i = 0; i < runs; ++i) {
      const double takes = slots.run(one, random);
      sum += takes, square += takes * takes;
    }
    const double mean = sum / runs, variation = square / runs / (mean * mean) - 1;
    EXPECT_NEAR(mean, 3, 0.05) << shape;
    EXPECT_NEAR(variation * shape, 1, 0.05) << shape;
  }
}

TEST(DiasSlots, FillsTheSlotThatIsFreeFirst) {
  Random random(5);
  const DiasJob three_waves{{{{{50, 1}}, 0, 1, 10000, true, 0}}};
  EXPECT_NEAR(DiasSlots(20).run(three_waves, random), 3, 0.1);
  EXPECT_NEAR(DiasSlots(20).run(with_drop(three_waves, 0.2), random), 2, 0.1);
  EXPECT_NEAR(DiasSlots(1).run(three_waves, random), 50, 0.1);
}

// M/M/1 with two classes: the closed forms, and that slots are used as they should be.
TEST(DiasSimulation, MeetsTheClosedForms) {
  DiasStream stream(stats::poisson({0.3, 0.3}), {alone(1), alone(1)}, 1, 11);
  std::vector<DiasServer> servers;
  servers.push_back(server_for(2, Discipline::non_preemptive));
  servers.push_back(server_for(2, Discipline::preemptive_resume));
  const auto run = simulate(stream, servers, {.half_width = 0.01});
  EXPECT_TRUE(run.reached);
  EXPECT_NEAR(servers[0].account().load(), 0.6, 0.01);
  EXPECT_NEAR(servers[0].seen(0).response.mean() / (1 + 0.6 / 0.7), 1, 0.02);
  EXPECT_NEAR(servers[0].seen(1).response.mean() / (1 + 0.6 / (0.7 * 0.4)), 1, 0.02);
  EXPECT_NEAR(servers[1].seen(0).response.mean() / (1 / 0.7), 1, 0.02);
  EXPECT_NEAR(servers[1].seen(0).response.percentile(0.95) / (std::log(20.0) / 0.7), 1, 0.02);
  EXPECT_NEAR(servers[1].seen(1).response.mean() / (1 / (0.7 * 0.4)), 1, 0.02);
}

TEST(DiasTally, IntervalsCoverTheMean) {
  int covered = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    DiasTally tally;
    Random random(seed);
    double value = 1;
    for (int i = 0; i < 20000; ++i) {  // each depends on the one before
      value = 0.9 * value + 0.1 * random.exponential(1);
      tally.add(value);
    }
    covered += std::fabs(tally.mean() - 1) <= tally.half_width();
  }
  EXPECT_GE(covered, 180);
  EXPECT_LE(covered, 200);
}

TEST(DiasTally, PercentilesAreAThousandthWide) {
  DiasTally tally;
  for (int i = 1; i <= 100000; ++i) tally.add(i * 0.01);
  EXPECT_NEAR(tally.percentile(0.95), 950, 1.5);
  EXPECT_NEAR(tally.percentile(0.5), 500, 1);
  EXPECT_TRUE(std::isinf(DiasTally().half_width()));
}

}  // namespace
}  // namespace tandem::sim
