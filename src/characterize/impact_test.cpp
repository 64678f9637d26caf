#include "characterize/impact.h"

#include <gtest/gtest.h>

#include "base/complaint_for_test.h"
#include "characterize/study_for_test.h"

namespace tandem::characterize {
namespace {

const Impact& of(const std::vector<Impact>& all, const std::string& factor, const std::string& response) {
  for (const auto& impact : all)
    if (impact.factor == factor && impact.response == response) return impact;
  throw std::logic_error("no such impact");
}

TEST(Grades, AreTheChapters) {  // 5.3.1: above 20 %, from 10 % to 20 %, below 10 %; 5.3.2: 5 % and 1 %
  EXPECT_EQ(grade_of(0.21, kPerformance), Grade::high);
  EXPECT_EQ(grade_of(0.20, kPerformance), Grade::medium);
  EXPECT_EQ(grade_of(0.10, kPerformance), Grade::medium);
  EXPECT_EQ(grade_of(0.099, kPerformance), Grade::low);
  EXPECT_EQ(grade_of(0.051, kQuality), Grade::high);
  EXPECT_EQ(grade_of(0.05, kQuality), Grade::medium);
  EXPECT_EQ(grade_of(0.009, kQuality), Grade::low);
}

// Alone, cores make 100 s into 85 s; accuracy falls with the batch from 0.96 to 0.9.
Metrics mild(double batch, double cores, Random& random) {
  return {{"seconds", 100 - 5 * (cores - 1) + 0.1 * random.normal()},
          {"accuracy", 0.96 - 0.06 * (batch - 64) / 192 + 1e-4 * random.normal()}};
}

TEST(Impacts, OfFactorsVariedAlone) {
  const auto all = impacts(batch_and_cores("one-at-a-time", 5, mild));
  ASSERT_EQ(all.size(), 6U);
  const auto& cores = of(all, "cores", "seconds");
  EXPECT_FALSE(cores.averaged);
  ASSERT_EQ(cores.levels.size(), 3U);
  EXPECT_EQ(cores.levels[2].level, "4");
  EXPECT_NEAR(cores.levels[2].mean.value, 85, 0.5);
  EXPECT_NEAR(*cores.variation, 0.15, 0.01);
  EXPECT_EQ(cores.grade, Grade::medium);
  EXPECT_LT(*cores.p, 1e-6);
  EXPECT_EQ(of(all, "batch", "seconds").grade, Grade::low);
  EXPECT_GT(*of(all, "batch", "seconds").p, 0.001);
  EXPECT_EQ(of(all, "batch", "accuracy").grade, Grade::high);
  EXPECT_EQ(of(all, "cores", "accuracy").grade, Grade::low);
  EXPECT_EQ(of(all, "cores", "dollars").note, "no run has dollars");
}

TEST(Impacts, OfTwoLevelsAreAveragedOverTheOthers) {
  auto study = batch_and_cores("two-level", 2, mild);
  study.factors[0].usual = 100, study.factors[1].usual = 3;  // what no run has
  const auto all = impacts(study);
  EXPECT_TRUE(of(all, "cores", "seconds").averaged);
  EXPECT_NEAR(*of(all, "cores", "seconds").variation, 0.15, 0.01);
  EXPECT_LT(*of(all, "cores", "seconds").p, 1e-3);
  EXPECT_EQ(of(all, "cores", "seconds").levels[0].mean.count, 4U);
}

TEST(Impacts, OfManyValuesAreLookedAtInThirds) {
  Study study{{{"rate", Side::hyper, 0.5}}, {{"seconds"}}, {}};
  for (int i = 1; i <= 30; ++i) study.runs.push_back({{{"rate", 0.1 * i}}, 0, {{"seconds", 10.0 * i}}});
  const auto impact = impacts(study)[0];
  ASSERT_EQ(impact.levels.size(), 3U);
  EXPECT_EQ(impact.levels[0].mean.value, 55);
  EXPECT_EQ(impact.levels[2].mean.value, 255);
  EXPECT_EQ(impact.levels[0].level.substr(0, 7), "0.1 to ");
  EXPECT_LT(*impact.p, 1e-6);
}

TEST(Impacts, SayWhatCannotBeSaid) {
  Study study{{{"cores", Side::system, 1}}, {{"seconds"}}, {{{{"cores", 1}}, 0, {{"seconds", 1}}}}};
  auto impact = impacts(study)[0];
  EXPECT_FALSE(impact.variation || impact.grade || impact.p);
  EXPECT_EQ(impact.note, "cores was the same in all runs");
  study.runs.push_back({{{"cores", 2}}, 0, {{"seconds", 2}}});
  impact = impacts(study)[0];
  EXPECT_EQ(*impact.variation, 0.5);
  EXPECT_FALSE(impact.p);
  EXPECT_TRUE(mentions(impact.note, "replications"));
  study.runs[0].responses["seconds"] = study.runs[1].responses["seconds"] = 0;
  EXPECT_EQ(*impacts(study)[0].variation, 0);
}

}  // namespace
}  // namespace tandem::characterize
