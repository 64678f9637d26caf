#include <string>

#include "sim/trace/trace_readers.h"
#include "sim/trace/trace_testing.h"

namespace tandem::sim {
namespace {

using trace_testing::count_of;

const std::string kHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
    "scheduled_time\n";

TEST(TraceAlibaba, PodsBecomeJobs) {
  const auto trace = read_alibaba_pods(kHeader +
                                           "a,12500,16384,1,460,,LS,Running,100,350,110\n"
                                           "b,4000,8192,8,1000,V100M16|V100M32,BE,Succeeded,50,150,50\n"
                                           "c,2000,1024,0,0,nan,Burstable,Failed,120,130,125\n",
                                       "pods.csv");
  ASSERT_EQ(trace.jobs.size(), 3u);
  EXPECT_EQ(trace.offset, 50);
  const auto &b = trace.jobs[0], &a = trace.jobs[1], &c = trace.jobs[2];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.line, 2u);
  EXPECT_EQ(a.submitted, 50);
  EXPECT_EQ(a.duration, 240);
  EXPECT_EQ(a.waited, 10);
  EXPECT_EQ(a.tasks, 1);
  EXPECT_EQ(a.cores, 12.5);
  EXPECT_EQ(a.memory, 16 * kGiB);
  EXPECT_DOUBLE_EQ(a.gpus, 0.46);
  EXPECT_EQ(a.priority, 2);
  EXPECT_EQ(a.status, "Running");
  EXPECT_TRUE(accepts(a, "T4"));
  EXPECT_EQ(b.gpus, 8);
  EXPECT_EQ(b.priority, 0);
  EXPECT_TRUE(accepts(b, "V100M32"));
  EXPECT_TRUE(accepts(b, "V100M16"));
  EXPECT_FALSE(accepts(b, "V100"));
  EXPECT_EQ(c.gpus, 0);
  EXPECT_EQ(c.gpu_type, "");
  EXPECT_EQ(c.priority, 1);
  EXPECT_TRUE(complaints(trace).empty());
}

TEST(TraceAlibaba, NeverScheduledIsAHoleNotAZero) {
  auto trace = read_alibaba_pods(kHeader +
                                     "a,1000,1,0,0,,BE,Pending,100,100,\n"
                                     "b,1000,,0,0,,BE,Running,300,400,300\n",
                                 "pods.csv");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_FALSE(trace.jobs[0].duration);
  EXPECT_FALSE(trace.jobs[0].waited);
  EXPECT_FALSE(trace.jobs[1].memory);
  ASSERT_EQ(trace.holes.size(), 1u);
  EXPECT_EQ(trace.holes[0].count, 1u);
  EXPECT_EQ(trace.holes[0].first_line, 2u);
  require_durations(trace);
  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].submitted, 0);
  EXPECT_EQ(trace.offset, 300);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the duration is not known"), 1u);
}

TEST(TraceAlibaba, BadLinesAreSkippedAndCounted) {
  const auto trace = read_alibaba_pods(kHeader +
                                           "good,1000,1,1,,,LS,Running,5,9,5\r\n"
                                           "zero,1000,1,1,1000,,LS,Running,5,9,9\r\n"
                                           "back,1000,1,1,1000,,LS,Running,5,9,10\r\n"
                                           "none,0,1,0,0,,LS,Running,5,9,5\r\n"
                                           "huge,1e300,1,1,1000,,LS,Running,5,9,5\r\n"
                                           "less,-1000,1,1,1000,,LS,Running,5,9,5\r\n"
                                           "when,1000,1,1,1000,,LS,Running,nan,9,5\r\n"
                                           "word,1000,1,one,1000,,LS,Running,5,9,5\r\n"
                                           "part,1000,1,0.5,1000,,LS,Running,5,9,5\r\n"
                                           "cut,1000,1,1",
                                       "pods.csv");
  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].gpus, 1);  // no share: a whole one
  EXPECT_EQ(trace.skipped_total(), 9u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the duration is zero or negative"), 2u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "it asks for neither cores nor GPUs"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "cpu_milli is out of range"), 2u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "creation_time is missing"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "num_gpu is not a number"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "num_gpu is not a whole number"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the line has too few fields"), 1u);
  EXPECT_EQ(trace.skipped.back().line, 11u);
}

TEST(TraceAlibaba, WithoutAHeaderOrAJobItIsRefused) {
  EXPECT_MENTIONS(complaint([] { read_alibaba_pods("a,1,1,1,1,,LS,Running,1,2,1\n", "p.csv"); }), "header");
  EXPECT_MENTIONS(complaint([] { read_alibaba_pods(kHeader, "p.csv"); }), "p.csv: there is nothing in it");
  EXPECT_MENTIONS(complaint([] { read_alibaba_pods(kHeader + "a,0,1,0,0,,LS,Running,1,2,1\n", "p.csv"); }),
                  "line 2: it asks for neither cores nor GPUs");
}

TEST(TraceAlibaba, NodesAreRead) {
  const auto trace = read_alibaba_nodes(
      "sn,cpu_milli,memory_mib,gpu,model\r\n"
      "n0,32000,262144,0,\r\n"
      "n1,96000,393216,8,G2\r\n"
      "bad,0,1,1,T4\r\n",
      "n.csv");
  ASSERT_EQ(trace.nodes.size(), 2u);
  EXPECT_TRUE(trace.jobs.empty());
  EXPECT_EQ(trace.nodes[0].cores, 32);
  EXPECT_EQ(trace.nodes[0].gpu_type, "");
  EXPECT_EQ(trace.nodes[1].name, "n1");
  EXPECT_EQ(trace.nodes[1].memory, 384 * kGiB);
  EXPECT_EQ(trace.nodes[1].gpus, 8);
  EXPECT_EQ(trace.nodes[1].gpu_type, "G2");
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the node has no cores"), 1u);
}

TEST(TraceAlibaba, TheRealPodsAreAllThere) {
  REAL_TRACE(text, "alibaba-gpu-2023-pods.csv");
  auto trace = read_trace(text, "pods.csv");
  EXPECT_EQ(trace.format, "alibaba-pods");
  EXPECT_EQ(trace.jobs.size(), 8152u);
  EXPECT_EQ(trace.skipped_total(), 0u);
  double gpus = 0;
  for (const auto& job : trace.jobs) gpus += job.gpus;
  EXPECT_NEAR(gpus, 6086.8, 1e-6);
  require_durations(trace);
  EXPECT_EQ(trace.jobs.size(), 8152u - 897u);  // never scheduled
}

TEST(TraceAlibaba, TheRealNodesAreAllThere) {
  REAL_TRACE(text, "alibaba-gpu-2023-nodes.csv");
  const auto trace = read_trace(text, "nodes.csv");
  EXPECT_EQ(trace.format, "alibaba-nodes");
  EXPECT_EQ(trace.nodes.size(), 1523u);
  int gpus = 0;
  double cores = 0;
  for (const auto& node : trace.nodes) gpus += node.gpus, cores += node.cores;
  EXPECT_EQ(gpus, 6212);
  EXPECT_DOUBLE_EQ(cores, 125514);
}

}  // namespace
}  // namespace tandem::sim
