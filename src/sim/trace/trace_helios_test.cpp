#include <string>

#include "sim/trace/trace_readers.h"
#include "sim/trace/trace_testing.h"

namespace tandem::sim {
namespace {

using trace_testing::count_of;

const std::string kHeader =
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n";

TEST(TraceHelios, JobsOfTheDocumentation) {
  const auto trace =
      read_helios(kHeader +
                      "1425511,uXBbc,vcJkd,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,"
                      "2020-06-10 04:55:09,36848,0\n"
                      "1425512,uVMrF,vchbv,4,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:30,"
                      "2020-06-09 18:45:39,249,3\n",
                  "cluster_log.csv");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.offset, 1591728061);
  EXPECT_EQ(trace.jobs[0].name, "1425511");
  EXPECT_EQ(trace.jobs[0].duration, 36848);
  const auto& job = trace.jobs[1];
  EXPECT_EQ(job.submitted, 26);
  EXPECT_EQ(job.waited, 3);
  EXPECT_EQ(job.tasks, 1);
  EXPECT_EQ(job.gpus, 4);
  EXPECT_EQ(job.cores, 16);
  EXPECT_EQ(job.user, "uVMrF");
  EXPECT_EQ(job.queue, "vchbv");
  EXPECT_EQ(job.status, "FAILED");
}

TEST(TraceHelios, TasksAreNodesWhereTheGpusDivide) {
  const std::string rest = "COMPLETED,2020-06-09 18:41:01,,,10,0\n";
  const auto trace = read_helios(kHeader + "even,u,v,16,32,2," + rest + "odd,u,v,6,12,4," + rest +  //
                                     "cpu,u,v,0,64,2," + rest,
                                 "cluster_log.csv");
  ASSERT_EQ(trace.jobs.size(), 3u);
  EXPECT_EQ(trace.jobs[0].tasks, 2);
  EXPECT_EQ(trace.jobs[0].gpus, 8);
  EXPECT_EQ(trace.jobs[0].cores, 16);
  EXPECT_EQ(trace.jobs[1].tasks, 6);
  EXPECT_EQ(trace.jobs[1].gpus, 1);
  EXPECT_EQ(trace.jobs[1].cores, 2);
  EXPECT_EQ(trace.jobs[2].tasks, 2);
  EXPECT_EQ(trace.jobs[2].gpus, 0);
  EXPECT_EQ(trace.jobs[2].cores, 32);
}

TEST(TraceHelios, BadLinesAreSkippedAndHolesAreCounted) {
  const auto trace = read_helios(kHeader +
                                     "1,u,v,1,1,1,COMPLETED,2020-06-09 18:41:01,,,10,-5\r\n"
                                     "2,u,v,1,1,1,CANCELLED,2020-06-09 18:41:02,None,None,,\r\n"
                                     "3,u,v,1,1,1,CANCELLED,2020-06-09 18:41:03,,,0,0\r\n"
                                     "4,u,v,1,1,1,CANCELLED,2020-06-09 18:41:04,,,-3,0\r\n"
                                     "5,u,v,1,1,1,CANCELLED,yesterday,,,10,0\r\n"
                                     "6,u,v,1,1,1,CANCELLED,,,,10,0\r\n"
                                     "7,u,v,1,1,0,CANCELLED,2020-06-09 18:41:01,,,10,0\r\n"
                                     "8,u,v,1,1,1,COMPLETED,2020-06-09 18:41:01,,,1e300,0\r\n"
                                     "9,u,v,nan,1,1,COMPLETED,2020-06-09 18:41:01,,,10,0\r\n"
                                     "10,u,v,1,1,1,COMPL",
                                 "cluster_log.csv");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_FALSE(trace.jobs[0].waited);
  EXPECT_FALSE(trace.jobs[1].duration);
  EXPECT_EQ(count_of(trace.holes, "no duration"), 1u);
  EXPECT_EQ(trace.skipped_total(), 8u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the duration is zero or negative"), 2u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "submit_time is not a date and time"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "submit_time is missing"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "it asks for neither cores nor GPUs"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "duration is out of range"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "gpu_num is missing"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the line has too few fields"), 1u);
}

TEST(TraceHelios, WithoutAHeaderItIsRefused) {
  EXPECT_MENTIONS(complaint([] { read_helios("1,u,v,1,1,1,C,2020-06-09 18:41:01,,,10,0\n", "log.csv"); }),
                  "no column 'job_id'");
}

}  // namespace
}  // namespace tandem::sim
