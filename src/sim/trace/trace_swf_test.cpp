#include <string>

#include "sim/trace/trace_readers.h"
#include "sim/trace/trace_testing.h"

namespace tandem::sim {
namespace {

using trace_testing::count_of;

TEST(TraceSwf, TheFieldsOfALine) {
  const auto trace = read_swf(
      "; Version: 2.2\n"
      ";  Computer: a machine\n"
      "  1   100   5  3600   8  -1  2048  16  7200  4096  1  12  3  7  2  -1 -1 -1\n"
      "\t2\t160\t-1\t0.5\t-1\t-1\t512\t4\t-1\t-1\t-1\t-1\t-1\t-1\t-1\t-1\t-1\t-1\n",
      "log.swf");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.offset, 100);
  const auto& job = trace.jobs[0];
  EXPECT_EQ(job.name, "1");
  EXPECT_EQ(job.line, 3u);
  EXPECT_EQ(job.waited, 5);
  EXPECT_EQ(job.duration, 3600);
  EXPECT_EQ(job.limit, 7200);
  EXPECT_EQ(job.tasks, 8);  // allocated, not requested
  EXPECT_EQ(job.cores, 1);
  EXPECT_EQ(job.gpus, 0);
  EXPECT_EQ(job.memory, 4 * kMiB);
  EXPECT_EQ(job.status, "1");
  EXPECT_EQ(job.user, "12");
  EXPECT_EQ(job.application, "7");
  EXPECT_EQ(job.queue, "2");
  const auto& other = trace.jobs[1];
  EXPECT_EQ(other.submitted, 60);
  EXPECT_FALSE(other.waited);
  EXPECT_FALSE(other.limit);
  EXPECT_EQ(other.duration, 0.5);
  EXPECT_EQ(other.tasks, 4);  // requested, as none are known to be allocated
  EXPECT_EQ(other.memory, 512 * kKiB);
  EXPECT_EQ(other.user, "");
}

TEST(TraceSwf, BadLinesAreSkippedAndHolesAreCounted) {
  const auto trace = read_swf(
      "1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\r\n"
      "2 0 0 -1 1 -1 -1 1 -1 -1 5 1 1 1 1 -1 -1 -1\r\n"
      "3 0 0 0 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\r\n"
      "4 0 0 10 -1 -1 -1 -1 -1 -1 1 1 1 1 1 -1 -1 -1\r\n"
      "5 -1 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\r\n"
      "6 0 0 1e300 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\r\n"
      "7 0 0 nan 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\r\n"
      "8 0 0 ten 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\r\n"
      "9 0 0 -10 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\r\n"
      "10 0 0 10 1",
      "log.swf");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_FALSE(trace.jobs[1].duration);
  EXPECT_EQ(count_of(trace.holes, "no run time"), 1u);
  EXPECT_EQ(trace.skipped_total(), 8u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the duration is zero or negative"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "it asks for neither cores nor GPUs"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "submit time is out of range"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "run time is out of range"), 2u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "run time is missing"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "run time is not a number"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the line has too few fields"), 1u);
}

TEST(TraceSwf, CommentsAloneAreNoTrace) {
  EXPECT_MENTIONS(complaint([] { read_swf("; Version: 2.2\n", "log.swf"); }), "there is nothing in it");
}

}  // namespace
}  // namespace tandem::sim
