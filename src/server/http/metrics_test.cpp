#include "server/http/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace tandem::server {
namespace {

TEST(Metrics, AsPrometheusReadsThem) {
  Metrics metrics;
  metrics.counter("tandem_jobs_total", "Jobs submitted", {{"kind", "tune"}}).add();
  metrics.counter("tandem_jobs_total", "Jobs submitted", {{"kind", "train"}}).add(2.5);
  metrics.gauge("tandem_nodes", "Nodes that are up").set(-3);
  auto& seconds = metrics.histogram("tandem_wait_seconds", "Waiting", {0.1, 1}, {{"q", "a"}});
  for (const double value : {0.05, 0.1, 0.5, 7.0}) seconds.observe(value);
  EXPECT_EQ(metrics.text(),
            "# HELP tandem_jobs_total Jobs submitted\n"
            "# TYPE tandem_jobs_total counter\n"
            "tandem_jobs_total{kind=\"train\"} 2.5\n"
            "tandem_jobs_total{kind=\"tune\"} 1\n"
            "# HELP tandem_nodes Nodes that are up\n"
            "# TYPE tandem_nodes gauge\n"
            "tandem_nodes -3\n"
            "# HELP tandem_wait_seconds Waiting\n"
            "# TYPE tandem_wait_seconds histogram\n"
            "tandem_wait_seconds_bucket{q=\"a\",le=\"0.1\"} 2\n"
            "tandem_wait_seconds_bucket{q=\"a\",le=\"1\"} 3\n"
            "tandem_wait_seconds_bucket{q=\"a\",le=\"+Inf\"} 4\n"
            "tandem_wait_seconds_sum{q=\"a\"} 7.65\n"
            "tandem_wait_seconds_count{q=\"a\"} 4\n");
}

TEST(Metrics, LabelsAndHelpAreEscaped) {
  Metrics metrics;
  metrics.gauge("g", "back\\slash\nand \"quotes\"", {{"name", "a\\b\"c\nd\xff"}}).set(1);
  EXPECT_EQ(metrics.text(),
            "# HELP g back\\\\slash\\nand \"quotes\"\n# TYPE g gauge\ng{name=\"a\\\\b\\\"c\\nd?\"} 1\n");
}

TEST(Metrics, NumbersThatAreNone) {
  Metrics metrics;
  metrics.gauge("a", "").set(INFINITY);
  metrics.gauge("b", "").set(-INFINITY);
  metrics.gauge("c", "").set(NAN);
  const auto text = metrics.text();
  EXPECT_NE(text.find("a +Inf\n"), std::string::npos);
  EXPECT_NE(text.find("b -Inf\n"), std::string::npos);
  EXPECT_NE(text.find("c NaN\n"), std::string::npos);
}

TEST(Metrics, LargeAndSmallNumbersKeepTheirDigits) {
  Metrics metrics;
  metrics.gauge("a", "").set(123456789012.5);
  metrics.gauge("b", "").set(0.1 + 0.2);
  EXPECT_NE(metrics.text().find("a 123456789012.5\n"), std::string::npos);
  EXPECT_NE(metrics.text().find("b 0.30000000000000004\n"), std::string::npos);
}

TEST(Metrics, TheSameNameAndLabelsAreTheSameOne) {
  Metrics metrics;
  EXPECT_EQ(&metrics.counter("c", "", {{"a", "1"}}), &metrics.counter("c", "", {{"a", "1"}}));
  EXPECT_NE(&metrics.counter("c", "", {{"a", "1"}}), &metrics.counter("c", "", {{"a", "2"}}));
}

TEST(Metrics, NothingIsLostBetweenThreads) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 1000; ++i) {
        metrics.counter("c", "").add();
        metrics.gauge("g", "").add(0.5);
        metrics.histogram("h", "", {1.5}).observe(t);
        if (i % 100 == 0) metrics.text();
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(metrics.counter("c", "").value(), 4000);
  EXPECT_EQ(metrics.gauge("g", "").value(), 2000);
  const auto counts = metrics.histogram("h", "", {1.5}).counts();
  EXPECT_EQ(counts.up_to, (std::vector<std::uint64_t>{2000, 4000}));
  EXPECT_EQ(counts.sum, 6000);
}

TEST(MetricsDeathTest, BadNamesAreBugs) {
  Metrics metrics;
  metrics.counter("c", "");
  EXPECT_DEATH(metrics.gauge("c", ""), "type");
  EXPECT_DEATH(metrics.counter("1c", ""), "name_is_good");
  EXPECT_DEATH(metrics.counter("d", "", {{"le", "1"}}), "labels_are_good");
  EXPECT_DEATH(metrics.counter("d", "", {{"__a", "1"}}), "labels_are_good");
  EXPECT_DEATH(metrics.counter("c", "").add(-1), "by >= 0");
}

}  // namespace
}  // namespace tandem::server
