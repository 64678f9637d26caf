#include "app/experiment_join.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/experiment_join_text.h"

namespace tandem::report {

using namespace app;
namespace {

// An experiment with three runs whose times for a thousand records have this median.
Workload workload(const std::string& method, const std::string& dataset, double seconds) {
  Workload out{"run-" + method + "-" + dataset, method, dataset, {}};
  out.found.study.responses = {{"seconds_per_thousand", "s per 1000 records", "training"}};
  for (const double times : {0.9, 1.0, 1.3}) {
    characterize::Run run;
    run.responses["seconds_per_thousand"] = seconds * times;
    out.found.study.runs.push_back(run);
  }
  out.found.runs = out.found.whole_runs = 3;
  characterize::Impact impact;
  impact.factor = "cores", impact.response = "seconds_per_thousand";
  impact.variation = 0.3, impact.grade = characterize::Grade::high;
  out.found.impacts.push_back(impact);
  return out;
}

std::vector<Workload> four() {
  return {workload("svm", "small", 1), workload("svm", "large", 100), workload("tree", "small", 2),
          workload("tree", "large", 200)};
}

std::string complaint(const auto& what) {
  try {
    what();
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

// The chapter's finding, in numbers: data makes two orders of magnitude, the method a factor of two.
TEST(Join, TheDataMakesTheDifference) {
  const auto joined = join_workloads(four());
  ASSERT_EQ(joined.variability.size(), 1u);
  const auto& spread = joined.variability.front();
  EXPECT_TRUE(spread.orders_of_magnitude);
  EXPECT_NEAR(spread.method.within.value(), 2 / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(spread.dataset.within.value(), std::log10(2.0) / std::sqrt(2.0), 1e-12);
  const auto table = joined_table(joined);
  EXPECT_NE(table.find("varies more with the data"), std::string::npos) << table;
  EXPECT_NE(table.find("svm/large"), std::string::npos) << "impact by workload";
  EXPECT_NE(table.find("high 30.0 %"), std::string::npos);
  const auto json = joined_json(joined);
  EXPECT_EQ(json["workloads"].size(), 4u);
  EXPECT_EQ(json["variability"][0]["method"]["groups"]["svm"]["workloads"], 2);
  EXPECT_EQ(json["variability"][0]["dataset"]["groups"]["large"]["highest"], 200);
}

TEST(Join, ThePageIsWholeAndSafe) {
  auto all = four();
  all.front().method = "<script>";
  const auto page = joined_page(join_workloads(std::move(all)));
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
  EXPECT_EQ(page.find(">svm</td><td><script>"), std::string::npos);
}

TEST(Join, WhatCannotBeSaidIsSaid) {
  const auto apart = join_workloads({workload("svm", "small", 1), workload("tree", "large", 100)});
  EXPECT_FALSE(apart.variability.front().method.within);
  EXPECT_FALSE(apart.variability.front().dataset.within);
  EXPECT_NE(joined_table(apart).find("no method ran on two datasets"), std::string::npos);
  EXPECT_NE(joined_table(apart).find("no dataset was met by two methods"), std::string::npos);
  auto broken = four();
  broken.back().found.runs = 5;
  EXPECT_NE(joined_table(join_workloads(broken)).find("2 of 5 runs did not come to their end"),
            std::string::npos);
}

TEST(Join, MistakesAreExplained) {
  EXPECT_NE(complaint([] { join_workloads({workload("svm", "small", 1)}); }).find("two workloads"),
            std::string::npos);
  EXPECT_NE(complaint([] {
              join_workloads({workload("svm", "a", 1), workload("svm", "a", 1)});
            }).find("twice"),
            std::string::npos);
  EXPECT_NE(complaint([] { join_workloads(four(), {"second_per_thousand"}); }).find("did you mean"),
            std::string::npos);
  EXPECT_NE(complaint([] { join_workloads({}); }).find("two workloads"), std::string::npos);
  for (const char* written : {"", "=a/b", "run=", "run=a", "run=/b", "run=a/"})
    EXPECT_NE(complaint([&] { parse_join(written); }).find("RUN=METHOD/DATASET"), std::string::npos)
        << written;
  const auto joined = parse_join("20260101-1200=my svm/mnist/10k");
  EXPECT_EQ(joined.method, "my svm");
  EXPECT_EQ(joined.dataset, "mnist/10k");
  EXPECT_TRUE(parse_join("last").method.empty());
}

}  // namespace
}  // namespace tandem::report
