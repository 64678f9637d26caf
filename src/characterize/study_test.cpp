#include "characterize/study.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/complaint_for_test.h"
#include "characterize/analysis.h"
#include "characterize/study_for_test.h"

namespace tandem::characterize {
namespace {

TEST(Studies, AverageJobsThatRanSideBySide) {
  Study study{{{"cores", Side::system, 1}}, {{"seconds"}}, {}};
  study.runs = {{{{"cores", 1}}, 0, {{"seconds", 10}}},
                {{{"cores", 1.0}}, 0, {{"seconds", 14}}},  // 1.0 is 1
                {{{"cores", 1}}, 1, {{"seconds", 20}}},
                {{{"cores", 2}}, 0, {}}};  // failed
  const auto found = settings(study, "seconds");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at, (Values{{"cores", 1}}));
  EXPECT_EQ(found[0].observations, (std::vector<double>{12, 20}));
}

TEST(Studies, MeansKnowHowSureTheyAre) {  // scipy: t.interval(0.95, 2, loc=2, scale=sem([1, 2, 3]))
  const auto mean = mean_of(std::vector<double>{1, 2, 3});
  EXPECT_EQ(mean.value, 2);
  EXPECT_NEAR(*mean.reach, 2.484137712, 1e-8);
  EXPECT_FALSE(mean_of(std::vector<double>{5}).reach);
}

TEST(Studies, OfNonsenseAreRefused) {
  const auto said = [](const Study& study) { return complaint([&] { check(study); }); };
  Study study{{{"cores"}}, {{"seconds"}}, {}};
  EXPECT_TRUE(mentions(said(study), "no runs"));
  study.runs = {{{{"core", 1}}, 0, {}}};
  EXPECT_TRUE(mentions(said(study), "run 1 of the study does not say what 'cores' was"));
  study.runs = {{{{"cores", 1}}, 0, {{"seconds", std::numeric_limits<double>::infinity()}}}};
  EXPECT_TRUE(mentions(said(study), "not finite"));
  study.runs = {{{{"cores", std::numeric_limits<double>::quiet_NaN()}}, 0, {}}};
  EXPECT_TRUE(mentions(said(study), "not finite"));
  study.responses.push_back({"cores"});
  EXPECT_TRUE(mentions(said(study), "two columns 'cores'"));
}

Metrics alone(double batch, double cores, Random& random) {  // cores help large batches only
  return {{"seconds", 6400 / batch + (batch > 100 ? 400 / cores : 400) + random.normal()}};
}

TEST(Analyses, FindInteractionsWithoutAssumingAShape) {
  const auto found = analyse(batch_and_cores("full", 3, alone), "seconds");
  EXPECT_EQ(found.observations, 27U);
  EXPECT_EQ(found.order, 2U);
  for (const char* term : {"batch", "cores", "batch:cores"})
    EXPECT_LT(*found.table.find(term)->p, 1e-6) << term;
  EXPECT_EQ(found.table.find("batch:cores")->df, 4U);
  ASSERT_EQ(found.model.coefficients.size(), 4U);  // slopes: 1, batch, cores, batch:cores
  EXPECT_LT(found.model.coefficients[3].estimate, 0);
}

TEST(Analyses, LowerTheOrderWhereNothingWouldBeLeft) {
  const auto found = analyse(batch_and_cores("full", 1, alone), "seconds");
  EXPECT_EQ(found.order, 1U);
  EXPECT_TRUE(found.table.find("batch")->p);
  EXPECT_TRUE(mentions(found.table.notes.back(), "order 1 instead"));
}

TEST(Analyses, OfResponsesThatAreNotThereAreRefused) {
  const auto study = batch_and_cores("full", 1, alone);
  EXPECT_TRUE(mentions(complaint([&] { analyse(study, "second"); }), "did you mean 'seconds'"));
  EXPECT_TRUE(mentions(complaint([&] { analyse(study, "accuracy"); }), "no run of the study has"));
}

}  // namespace
}  // namespace tandem::characterize
