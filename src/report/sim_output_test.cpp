// What `tandem sim` writes: the table, the JSON, the timeline and the page.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "app/sim_json.h"
#include "app/sim_names.h"
#include "app/sim_testing.h"
#include "report/sim_course.h"
#include "report/sim_page.h"
#include "report/sim_table.h"
#include "report/sim_timeline.h"
#include "report/text_table.h"

namespace tandem::report {

using namespace app;
namespace {

using nlohmann::json;
using sample::rows_of;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(SimNames, NodesAndDevicesAreCalledByTypeAndNumber) {
  const auto job = sample::two_workloads();
  EXPECT_EQ(name_of(job.cluster, 0).full(), "box-0/cpu");
  EXPECT_EQ(name_of(job.cluster, 1).full(), "box-0/gpu-0");
  EXPECT_EQ(name_of(job.cluster, 5).full(), "box-1/gpu-1");
}

TEST(SimTable, HasARowACellAndSaysWhatIsMissing) {
  const auto job = sample::two_workloads();
  const auto text = sim_table(job, rows_of(job, {"workers=1,9"}));
  for (const char* word : {"small on pair (2 nodes)", "T_exec s", "speed-up", "usage", "energy", "cannot run",
                           "alone workers=9, ring workers=9: cannot run: workers: 9 are more",
                           "against one gpu", "links are not counted"})
    EXPECT_TRUE(has(text, word)) << word << " is not in\n" << text;
  const auto details = sim_details(rows_of(job));
  for (const char* word :
       {"ring: 10 steps, 640 samples", "4 x gpu", "worker", "2 x cpu", "network", "storage"})
    EXPECT_TRUE(has(details, word)) << word << " is not in\n" << details;
}

TEST(SimTable, ManyNotesAreCutAndCounted) {
  const auto job = sample::two_workloads();
  std::string sweep = "workers=9";
  for (int i = 10; i < 60; ++i) sweep += "," + std::to_string(i);
  const auto notes = sim_notes(rows_of(job, {sweep}), 5);
  ASSERT_EQ(notes.size(), 6u);
  EXPECT_EQ(notes.back(), "... and 46 more; --json has all of them");
}

TEST(SimTable, ColumnsAreAsWideAsTheyNeedToBe) {
  EXPECT_EQ(text_table({{"a", "long"}, {"bcd", "1"}, {"e"}}, 1), "a    long\nbcd     1\ne\n");
}

TEST(SimTable, DevicesThatAreAlikeAreOneGroup) {
  const auto rows = rows_of(sample::two_workloads());
  const auto groups = device_groups(rows[1].result);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].count + groups[1].count, 6);
  EXPECT_DOUBLE_EQ(*groups[0].joules + *groups[1].joules, rows[1].result.joules.value());
}

TEST(SimJson, HasTheKeysThatScriptsRelyOn) {
  const auto job = sample::two_workloads();
  const auto rows = rows_of(job, {"workers=4,9", "synchronous=true", "sample_bytes=1kB"});
  const json out = sim_json(job, rows);
  ASSERT_EQ(out["rows"].size(), 4u);
  const json& row = out["rows"][2];
  EXPECT_EQ(row["workload"], "ring");
  EXPECT_EQ(row["workers"], 4);
  EXPECT_EQ(row["synchronous"], true);
  EXPECT_EQ(row["sample_bytes"], "1kB");
  EXPECT_EQ(row["sweep"], (json{{"workers", 4}, {"synchronous", true}, {"sample_bytes", "1kB"}}));
  for (const char* key : {"t_exec", "t_comp", "t_comm", "t_mem", "t_io", "speedup", "usage", "joules",
                          "steps", "samples", "operations"})
    EXPECT_TRUE(row[key].is_number()) << key;
  EXPECT_NEAR(row["t_exec"].get<double>(),
              row["t_comp"].get<double>() + row["t_comm"].get<double>() + row["t_io"].get<double>(), 1e-9);
  EXPECT_EQ(row["extrapolated"], false);
  for (const char* link : {"pcie", "nvlink", "network", "storage", "feed"})
    for (const char* key : {"sent", "received", "busy"})
      EXPECT_TRUE(row["net"][link][key].is_number()) << link;
  EXPECT_TRUE(row["net"]["network"]["joules"].is_null());
  EXPECT_EQ(row["net"]["network"]["joules_why"], "network.power is not given in the cluster");
  EXPECT_EQ(row["net"]["pcie"]["joules_why"], "no power model of these links");
  double joules = 0;
  for (const auto& device : row["devices"]) joules += device["joules"].get<double>();
  EXPECT_NEAR(joules, row["joules"].get<double>(), 1e-9);
  EXPECT_EQ(row["devices"][1]["name"], "box-0/gpu-0");
  EXPECT_EQ(row["devices"][1]["node"], "box-0");
  EXPECT_EQ(row["devices"][1]["type"], "gpu");
  EXPECT_TRUE(out["rows"][3]["t_exec"].is_null());
  EXPECT_TRUE(has(out["rows"][3]["error"], "9 are more"));
}

TEST(SimJson, TheNetworkHasJoulesWhereItsPowerIsGiven) {
  auto job = sample::two_workloads();
  job.cluster.network.idle_watts = 2;
  job.cluster.network.max_watts = 5;
  const auto rows = rows_of(job);
  const json row = sim_json(job, rows)["rows"][1];
  double joules = row["net"]["network"]["joules"];
  EXPECT_GT(joules, 0);
  for (const auto& device : row["devices"]) joules += device["joules"].get<double>();
  EXPECT_NEAR(joules, row["joules"].get<double>(), 1e-9);
  EXPECT_TRUE(has(sim_table(job, rows), "devices and the network"));
}

TEST(SimJson, ASweptValueIsANumberOrAFlagWhereItIsOne) {
  EXPECT_EQ(swept_json("8"), 8);
  EXPECT_EQ(swept_json("1.5"), 1.5);
  EXPECT_EQ(swept_json("false"), false);
  EXPECT_EQ(swept_json("110kB"), "110kB");
  EXPECT_EQ(swept_json("nan"), "nan");
}

TEST(SimTimeline, LanesNeverHoldTwoThingsAtOnce) {
  const std::vector<Interval> intervals{{0, 4}, {1, 2}, {2, 3}, {4, 5}, {0, 1}};
  EXPECT_EQ(lanes_of(intervals), (std::vector<std::size_t>{1, 0, 0, 0, 0}));
}

// Every thread of every process does one thing at a time, inside the time of its row.
TEST(SimTimeline, EventsOfAThreadDoNotOverlap) {
  const auto job = sample::two_workloads();
  const auto rows = rows_of(job, {}, {.show_steps = 3});
  const json trace = json::parse(timeline_json(job, rows));
  std::map<std::pair<int, int>, std::vector<Interval>> threads;
  std::map<int, std::string> processes;
  std::map<std::string, int> kinds;
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["ph"] != "X") continue;
    ++kinds[event["cat"]];
    const double from = event["ts"], to = from + event["dur"].get<double>();
    threads[{event["pid"], event["tid"]}].push_back({from, to});
    const bool alone = processes[event["pid"]].starts_with("alone");
    EXPECT_LE(to, rows[alone ? 0 : 1].result.t_exec * 1e6 + 1e-3);
  }
  EXPECT_GT(kinds["forward"], 0);
  EXPECT_GT(kinds["backward"], 0);
  EXPECT_GT(kinds["reduce"], 0);
  EXPECT_GT(kinds["read"], 0);
  EXPECT_EQ(processes.size(), 3u) << "one node of the first row, two of the second";
  for (auto& [thread, events] : threads) {
    std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
    for (std::size_t i = 1; i < events.size(); ++i) EXPECT_LE(events[i - 1].to, events[i].from + 1e-3);
  }
}

TEST(SimCourse, WhatDevicesDidAddsUpToWhatTheyWereBusy) {
  const auto job = sample::two_workloads();
  const auto rows = rows_of(job, {}, {.show_steps = 100});  // all steps
  for (const auto& row : rows) {
    const auto shares = shares_over_time(row, job.cluster, 50);
    const double width = row.beginning->seconds / 50;
    double computing = 0, joules = 0, busy = 0;
    for (const auto& [at, share] : shares.computing) {
      computing += share / 100 * width;
      EXPECT_LE(share, 100 + 1e-6);
    }
    for (const auto& device : row.result.devices)
      if (device.worker) busy += device.busy / row.cell.workload.workers;
    EXPECT_NEAR(computing, busy, 1e-9 + 1e-6 * busy) << row.cell.label();
    ASSERT_TRUE(shares.watts);
    for (const auto& [at, watts] : *shares.watts) joules += watts * width;
    EXPECT_NEAR(joules, row.result.joules.value(), 1e-6 * joules) << "power over time is the energy";
  }
}

TEST(SimPage, IsOneFileThatNeedsNothingElse) {
  const auto job = sample::two_workloads();
  const auto page = sim_page(job, rows_of(job, {"workers=1,2,4,9"}, {.show_steps = 1}));
  for (const char* word :
       {"<svg", "Speed-up over workers", "Energy by device", "utilisation over time", "power over time",
        "cannot run: workers: 9", "no power model of these links", "box-0/gpu-1"})
    EXPECT_TRUE(has(page, word)) << word;
  for (const char* word : {"http:", "https:", "src=", "@import", "url(http"})
    EXPECT_FALSE(has(page, word)) << word;
}

TEST(SimPage, SaysWhereNothingCouldRun) {
  const auto job = sample::two_workloads();
  EXPECT_TRUE(has(sim_page(job, rows_of(job, {"workers=99"}, {.show_steps = 1})), "No row could run"));
}

}  // namespace
}  // namespace tandem::report
