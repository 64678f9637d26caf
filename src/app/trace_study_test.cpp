#include "app/trace_study.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "platform/temporary.h"

namespace tandem::app {
namespace {

class TraceStudyTest : public testing::Test {
 protected:
  TraceStudyTest() {
    options_.cluster = write("cluster.yaml", R"(kind: cluster
name: pair
devices: {cpu: {kind: cpu, cores: 4, clock: 2GHz, memory: 8GiB, power: [20W, 80W]}}
node_types: {box: {devices: {cpu: 1}}}
nodes: {box: 2}
network: {kind: star, bandwidth: 1Gb/s, latency: 50us}
)");
    // Number, submitted, -, seconds, processors: two that fill the nodes, one that waits, one that fits nowhere.
    options_.trace = write("log.swf",
                           "; test\n"
                           "1 0 -1 100 4 -1 -1 4 -1 -1 1 1 1 1 1 -1 -1 -1\n"
                           "2 0 -1 100 4 -1 -1 4 -1 -1 1 1 1 1 1 -1 -1 -1\n"
                           "3 10 -1 50 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\n"
                           "4 20 -1 50 1000 -1 -1 1000 -1 -1 1 1 1 1 1 -1 -1 -1\n");
  }
  std::string write(const std::string& name, const std::string& text) {
    const auto file = folder_.path() / name;
    std::ofstream(file) << text;
    return file.string();
  }
  std::string refused() const {
    try {
      prepare_trace(options_);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }

  platform::TemporaryFolder folder_{"tandem-trace"};
  TraceOptions options_;
};

TEST_F(TraceStudyTest, PoliciesAreNamedOnceEach) {
  EXPECT_EQ(policies_named("fifo,backfill").size(), 2U);
  EXPECT_THROW(policies_named("fifo,fifo"), UserError);
  EXPECT_THROW(policies_named(""), UserError);
  EXPECT_THROW(policies_named("fifo,nobody"), UserError);
}

TEST_F(TraceStudyTest, EachPolicyHasARowAndWhatFitsNowhereIsNamed) {
  options_.policies = "fifo,backfill";
  options_.threads = 2;
  const auto study = prepare_trace(options_);
  EXPECT_EQ(study.where, "pair");
  EXPECT_EQ(study.trace.jobs.size(), 4U);
  const auto rows = replay_policies(options_, study.replay.input);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(never_placed(study, rows[0]), std::vector<std::uint32_t>{3});
  const auto told = trace_json(study, rows);
  EXPECT_EQ(told["never_placeable"].size(), 1U);
  EXPECT_EQ(told["trace"]["format"], "swf");
  EXPECT_EQ(told["pools"][0]["nodes"], 2);
  EXPECT_EQ(told["pools"][0]["cores"], 4);
  const auto& fifo = told["policies"][0];
  EXPECT_EQ(fifo["policy"], "fifo");
  EXPECT_EQ(fifo["jobs_done"], 3);
  EXPECT_EQ(fifo["makespan"], 150) << "the third waits for the first two, and runs 50 s";
  EXPECT_EQ(fifo["longest_wait"], 90);
  EXPECT_FALSE(fifo["joules"].is_null());
  EXPECT_GT(fifo["core_usage"].get<double>(), 0.5);
}

TEST_F(TraceStudyTest, TimesAreScaledByTheRateAndCheckpointsAreTimes) {
  options_.rate = 2;
  options_.checkpoint = "10min";
  const auto study = prepare_trace(options_);
  EXPECT_DOUBLE_EQ(study.replay.input.jobs[2].submitted, 5);
  EXPECT_DOUBLE_EQ(study.replay.input.checkpoint, 600);
  options_.checkpoint = "often";
  EXPECT_NE(refused().find("--checkpoint often"), std::string::npos);
}

TEST_F(TraceStudyTest, WhatIsMissingIsSaid) {
  auto options = options_;
  options_.trace = (folder_.path() / "nowhere").string();
  EXPECT_NE(refused().find("cannot read"), std::string::npos);
  options_ = options;
  options_.cluster.clear();
  EXPECT_NE(refused().find("--cluster NAME|FILE"), std::string::npos);
  options_.nodes = options_.trace;
  EXPECT_NE(refused().find("lists no nodes"), std::string::npos) << refused();
  options_.cluster = "minsky";
  EXPECT_NE(refused().find("not both"), std::string::npos);
  options_ = options;
  options_.trace = write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\nn1,4000,8192,1,T4\n");
  EXPECT_NE(refused().find("lists nodes, no jobs"), std::string::npos) << refused();
}

TEST_F(TraceStudyTest, NodesOfATraceAreAClusterWhosePowerIsAssumed) {
  options_.cluster.clear();
  options_.nodes = write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\nn1,4000,8192,0,\nn2,4000,8192,0,\n");
  const auto study = prepare_trace(options_);
  EXPECT_EQ(study.where, options_.nodes);
  ASSERT_FALSE(study.replay.input.pools.empty());
  EXPECT_EQ(trace_json(study, replay_policies(options_, study.replay.input))["policies"][0]["jobs_done"], 3);
}

}  // namespace
}  // namespace tandem::app
