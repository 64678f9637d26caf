#include <string>

#include "sim/trace/trace_readers.h"
#include "sim/trace/trace_testing.h"

namespace tandem::sim {
namespace {

using trace_testing::count_of;

const std::string kHeader = "name,time,application,num_replicas,batch_size\n";

TEST(TracePollux, AReplicaIsATaskWithAGpu) {
  const auto trace = read_pollux(kHeader + "cifar10-0,107,cifar10,6,2048\nncf-1,135,ncf,1,\n", "w.csv");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.offset, 107);
  EXPECT_EQ(trace.jobs[0].name, "cifar10-0");
  EXPECT_EQ(trace.jobs[0].application, "cifar10");
  EXPECT_EQ(trace.jobs[0].tasks, 6);
  EXPECT_EQ(trace.jobs[0].gpus, 1);
  EXPECT_EQ(trace.jobs[0].batch, 2048);
  EXPECT_FALSE(trace.jobs[0].duration);
  EXPECT_FALSE(trace.jobs[0].cores);
  EXPECT_EQ(trace.jobs[1].submitted, 28);
  EXPECT_FALSE(trace.jobs[1].batch);
}

TEST(TracePollux, BadLinesAreSkippedAndCounted) {
  const auto trace = read_pollux(kHeader +
                                     "good,1,ncf,1,32\r\n"
                                     "none,1,ncf,0,32\r\n"
                                     "less,1,ncf,-4,32\r\n"
                                     "many,1,ncf,1e300,32\r\n"
                                     "before,-1,ncf,1,32\r\n"
                                     "never,nan,ncf,1,32\r\n"
                                     "\r\n"
                                     "cut,1,nc",
                                 "w.csv");
  EXPECT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "it asks for neither cores nor GPUs"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "num_replicas is out of range"), 2u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "time is out of range"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "time is missing"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the line has too few fields"), 1u);
  EXPECT_EQ(trace.skipped.back().line, 9u);
}

TEST(TracePollux, WithoutDurationsAReplayIsRefused) {
  auto trace = read_pollux(kHeader + "a,1,ncf,1,32\n", "w.csv");
  EXPECT_MENTIONS(complaint([&] { require_durations(trace); }), "w.csv: the duration of no job is known");
}

TEST(TracePollux, WithoutAHeaderItIsRefused) {
  EXPECT_MENTIONS(complaint([] { read_pollux("a,1,ncf,1,32\n", "w.csv"); }), "no column 'name'");
}

TEST(TracePollux, TheRealWorkloadsHave160Jobs) {
  for (const int number : {1, 2, 3, 4}) {
    const std::string name = "pollux-workload-" + std::to_string(number) + ".csv";
    REAL_TRACE(text, name);
    const auto trace = read_trace(text, name);
    EXPECT_EQ(trace.format, "pollux");
    EXPECT_EQ(trace.jobs.size(), 160u) << name;
    EXPECT_EQ(trace.skipped_total(), 0u) << name;
    EXPECT_EQ(trace.jobs.front().submitted, 0) << name;
    int replicas = 0;
    for (const auto& job : trace.jobs) replicas += job.tasks;
    if (number == 1) {
      EXPECT_EQ(replicas, 1092);
      EXPECT_EQ(trace.offset, 107);
    }
  }
}

}  // namespace
}  // namespace tandem::sim
