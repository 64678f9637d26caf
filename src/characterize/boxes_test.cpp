#include "characterize/boxes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/complaint_for_test.h"

namespace tandem::characterize {
namespace {

TEST(Boxes, HaveNumpysQuartilesAndTukeysWhiskers) {  // numpy.percentile([...], [25, 50, 75])
  const auto box = box_of({7, 1, 2, 3, 4, 5, 100});
  EXPECT_EQ(box.low, 2.5);
  EXPECT_EQ(box.median, 4);
  EXPECT_EQ(box.high, 6);
  EXPECT_EQ(box.whisker_low, 1);
  EXPECT_EQ(box.whisker_high, 7);
  EXPECT_EQ(box.outside, std::vector<double>{100});
  const auto one = box_of({3});
  EXPECT_TRUE(one.low == 3 && one.high == 3 && one.whisker_low == 3 && one.whisker_high == 3);
}

TEST(Boxes, AreByPhaseAndLeaveOutWhatNobodyReported) {
  Study study{
      {},
      {{"train", "s", "training"}, {"throughput", "1/s", "inference"}, {"loss", "", "training"}, {"none"}},
      {}};
  for (int i = 0; i < 4; ++i)
    study.runs.push_back({{}, 0, {{"train", i}, {"loss", -i}, {"throughput", 2.0 * i}}});
  const auto found = boxes(study);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].response, "train");
  EXPECT_EQ(found[1].response, "loss");
  EXPECT_EQ(found[2].phase, "inference");
  EXPECT_EQ(found[2].box.median, 3);
}

Study two_methods(double method_factor, double dataset_factor) {
  Study study{{}, {{"seconds"}}, {}};
  double method = 1;
  for (const char* m : {"lr", "tree"}) {
    double dataset = 1;
    for (const char* d : {"digits", "higgs"}) {
      for (const double noise : {0.9, 1.0, 1.1})
        study.runs.push_back({{}, 0, {{"seconds", method * dataset * noise}}, m, d});
      dataset *= dataset_factor;
    }
    method *= method_factor;
  }
  return study;
}

TEST(Variability, TellsWhetherTheMethodOrTheDataMatters) {
  const auto data = variability(two_methods(2, 1000), "seconds");
  EXPECT_TRUE(data.orders_of_magnitude);
  EXPECT_NEAR(*data.method.within, 3 / std::sqrt(2.0), 1e-9);  // two workloads three orders apart
  EXPECT_NEAR(*data.dataset.within, std::log10(2) / std::sqrt(2.0), 1e-9);
  EXPECT_EQ(data.method.groups.at("lr").highest, 1000);
  const auto method = variability(two_methods(1000, 2), "seconds");
  EXPECT_GT(*method.dataset.within, *method.method.within);
}

TEST(Variability, OfOneWorkloadOrOfNegativesSaysSo) {
  Study study{{}, {{"r2"}}, {{{}, 0, {{"r2", -1}}, "lr", "digits"}}};
  const auto found = variability(study, "r2");
  EXPECT_FALSE(found.orders_of_magnitude || found.method.within || found.dataset.within);
  EXPECT_TRUE(mentions(complaint([&] { variability(study, "r3"); }), "no response 'r3'"));
}

}  // namespace
}  // namespace tandem::characterize
