#include "advise/load.h"

#include <gtest/gtest.h>

#include <cmath>

#include <limits>

#include "base/error.h"

namespace tandem::advise {
namespace {

// Twice as long with two jobs, and so on.
std::function<double(const Load&)> fair(double alone) {
  return [alone](const Load& load) { return alone * load.jobs; };
}

LoadedJob job(std::string id, double alone, double left = 1, double arrives = 0) {
  return {std::move(id), 1, left, {arrives}, fair(alone), std::nullopt};
}

TEST(EndsUnderLoad, AloneAJobTakesItsTime) {
  const auto ends = ends_under_load(std::vector{job("a", 30)});
  EXPECT_DOUBLE_EQ(ends[0].at.value, 30);
  EXPECT_EQ(ends[0].seen, (LoadProfile{{{0}, 1, 1}}));
}

TEST(EndsUnderLoad, NoJobsEndAtNoTime) {
  EXPECT_TRUE(ends_under_load({}).empty());
}

// By hand: a (100 s alone) and b (half of 60 s left) share until b has done its 30 s of work at 60 s; a has
// done 30 s of work by then, and its other 70 s are alone: 130 s.
TEST(EndsUnderLoad, AJobIsQuickerOnceAnotherHasEnded) {
  const auto ends = ends_under_load(std::vector{job("a", 100), job("b", 60, 0.5)});
  EXPECT_DOUBLE_EQ(ends[1].at.value, 60);
  EXPECT_DOUBLE_EQ(ends[0].at.value, 130);
  EXPECT_EQ(ends[0].seen, (LoadProfile{{{0}, 2, 2}, {{60}, 1, 1}}));
  EXPECT_NEAR(mean_load(ends[0].seen, ends[0].at).jobs, (2 * 60 + 70) / 130.0, 1e-12);
}

// By hand: a runs alone for 40 s (40 of 100 done); b comes, needs 10 s of work, so 20 s beside a (50 done);
// a's last 50 s are alone: 110 s.
TEST(EndsUnderLoad, AJobThatComesMidwaySlowsTheOneThatRuns) {
  const auto ends = ends_under_load(std::vector{job("a", 100), job("b", 10, 1, 40)});
  EXPECT_NEAR(ends[1].at.value, 60, 1e-9);
  EXPECT_NEAR(ends[0].at.value, 110, 1e-9);
  ASSERT_EQ(ends[0].seen.size(), 3u);
  EXPECT_NEAR(ends[1].seen.at(0).at.value, 0, 1e-12);  // from its own arrival on
}

TEST(EndsUnderLoad, JobsThatEndAtOnceEndAtOnce) {
  const auto ends = ends_under_load(std::vector{job("a", 10), job("b", 10), job("c", 10)});
  for (const auto& end : ends) EXPECT_NEAR(end.at.value, 30, 1e-9);
}

TEST(EndsUnderLoad, WorkIsConserved) {
  // Shared fairly, the machine is done when all work is done, whatever the order.
  std::vector<LoadedJob> jobs;
  double work = 0;
  for (int i = 1; i <= 20; ++i) jobs.push_back(job(std::to_string(i), 7.0 * i)), work += 7.0 * i;
  double last = 0;
  for (const auto& end : ends_under_load(jobs)) last = std::max(last, end.at.value);
  EXPECT_NEAR(last, work, 1e-6);
}

TEST(EndsUnderLoad, ATimeThatCannotBeIsRefused) {
  for (const double silly :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto one = job("x", 1);
    one.whole = [silly](const Load&) { return silly; };
    EXPECT_THROW(ends_under_load(std::vector{one}), UserError) << silly;
  }
  EXPECT_THROW(ends_under_load(std::vector{job("x", 1, 0)}), UserError);
  EXPECT_THROW(ends_under_load(std::vector{job("x", 1, std::nan(""))}), UserError);
}

TEST(Threatened, NamesThoseWhoMissTheirDeadlineBecauseOfTheNewJob) {
  auto tight = job("tight", 50), loose = job("loose", 50), late = job("late", 50);
  tight.deadline = Seconds{160};  // without: 150; with: 200
  loose.deadline = Seconds{500};
  late.deadline = Seconds{100};
  const auto out = threatened_by(job("new", 80), std::vector{tight, loose, late});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].id, "tight");
  EXPECT_FALSE(out[0].anyway);
  EXPECT_NEAR(out[0].without.value, 150, 1e-9);
  EXPECT_NEAR(out[0].with.value, 200, 1e-9);
  EXPECT_EQ(out[1].id, "late");
  EXPECT_TRUE(out[1].anyway);
}

}  // namespace
}  // namespace tandem::advise
