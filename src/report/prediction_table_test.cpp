#include "report/prediction_table.h"

#include <gtest/gtest.h>

namespace tandem::report {
namespace {

app::PredictedRun predicted(const std::string& run, double seconds, std::optional<double> took) {
  app::PredictedRun out;
  out.run = run;
  out.program = "lenet5/digits";
  out.metric = "accuracy";
  out.setting.hyper = {{"batch_size", std::int64_t{64}}};
  out.slo = Seconds{20};
  out.seconds = Seconds{seconds};
  out.metric_value = 0.9;
  if (took) out.outcome = app::Outcome{Seconds{*took}, 0.93, {}};
  return out;
}

TEST(PredictionTable, WhatWasPredictedStandsBesideWhatCame) {
  auto of_server = predicted("c", 12, std::nullopt);
  of_server.job = 7;
  const auto text = prediction_table({predicted("a", 10, 12.5), predicted("b", 10, 25), of_server});
  EXPECT_NE(text.find("+25.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("0.93"), std::string::npos) << text;
  EXPECT_NE(text.find("met"), std::string::npos) << text;
  EXPECT_NE(text.find("missed"), std::string::npos) << text;
  EXPECT_NE(text.find("c, job 7"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 2 met their SLO"), std::string::npos) << "one that has not ended does not count\n" << text;
}

TEST(PredictionTable, WithoutAnyThatEndedNothingIsSummedUp) {
  EXPECT_EQ(prediction_table({predicted("a", 10, std::nullopt)}).find("met their SLO"), std::string::npos);
}

}  // namespace
}  // namespace tandem::report
