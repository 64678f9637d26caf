#include <string>

#include "sim/trace/trace_readers.h"
#include "sim/trace/trace_testing.h"

namespace tandem::sim {
namespace {

using trace_testing::count_of;

std::string attempt(const std::string& start, const std::string& end, const std::string& detail) {
  return R"({"start_time": )" + start + R"(, "end_time": )" + end + R"(, "detail": )" + detail + "}";
}

std::string job(const std::string& name, const std::string& submitted, const std::string& attempts) {
  return R"({"status": "Pass", "vc": "ee9e8c", "jobid": ")" + name + R"(", "attempts": [)" + attempts +
         R"(], "submitted_time": )" + submitted + R"(, "user": "ce2f4c"})";
}

const std::string kOneGpu = R"([{"ip": "m1", "gpus": ["gpu0"]}])";
const std::string kEight =
    R"([{"ip": "m47", "gpus": ["gpu0","gpu1","gpu2","gpu3","gpu4","gpu5","gpu6","gpu7"]}])";
const std::string kNoon = R"("2017-10-07 12:00:00")", kOne = R"("2017-10-07 13:00:00")";

TEST(TracePhilly, TheJobOfTheDocumentation) {
  const auto trace =
      read_philly("[\n" +
                      job("application_1506638472019_14199", R"("2017-10-07 01:11:39")",
                          attempt(R"("2017-10-07 01:12:09")", R"("2017-10-07 01:13:23")", kEight) + ",\n" +
                              attempt(R"("2017-10-07 01:13:30")", R"("2017-10-09 06:53:12")", kEight)) +
                      "\n]\n",
                  "cluster_job_log");
  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.offset, 1507338699);
  const auto& only = trace.jobs[0];
  EXPECT_EQ(only.name, "application_1506638472019_14199");
  EXPECT_EQ(only.line, 2u);
  EXPECT_EQ(only.submitted, 0);
  EXPECT_EQ(only.waited, 30);
  EXPECT_EQ(only.duration, 74 + 193182);  // both attempts, without the 7 s between them
  EXPECT_EQ(only.tasks, 1);
  EXPECT_EQ(only.gpus, 8);
  EXPECT_FALSE(only.cores);
  EXPECT_EQ(only.status, "Pass");
  EXPECT_EQ(only.queue, "ee9e8c");
  EXPECT_EQ(only.user, "ce2f4c");
  EXPECT_TRUE(complaints(trace).empty());
}

TEST(TracePhilly, TasksAreMachinesWhereAllHaveAsMany) {
  const std::string even = R"([{"gpus": ["a","b"]}, {"gpus": ["a","b"]}])";
  const std::string uneven = R"([{"gpus": ["a","b","c"]}, {"gpus": ["a"]}, {"gpus": []}])";
  const auto trace = read_philly("[" + job("even", kNoon, attempt(kNoon, kOne, even)) + "," +
                                     job("uneven", kNoon, attempt(kNoon, kOne, uneven)) + "]",
                                 "cluster_job_log");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].tasks, 2);
  EXPECT_EQ(trace.jobs[0].gpus, 2);
  EXPECT_EQ(trace.jobs[1].tasks, 4);
  EXPECT_EQ(trace.jobs[1].gpus, 1);
}

TEST(TracePhilly, HolesAreCounted) {
  const auto trace = read_philly(
      "[" + job("running", kNoon, attempt(kNoon, kOne, kOneGpu) + "," + attempt(kOne, "null", kOneGpu)) +
          ",\r\n" + job("lost", kNoon, attempt(R"("None")", kOne, kOneGpu)) + ",\r\n" +
          job("part", kNoon, attempt("null", kNoon, "null") + "," + attempt(kNoon, kOne, kOneGpu)) + ",\r\n" +
          job("moved", kNoon, attempt(kNoon, kOne, kOneGpu) + "," + attempt(kNoon, kOne, kEight)) + "]",
      "cluster_job_log");
  ASSERT_EQ(trace.jobs.size(), 4u);
  EXPECT_FALSE(trace.jobs[0].duration);
  EXPECT_FALSE(trace.jobs[1].duration);
  EXPECT_FALSE(trace.jobs[1].waited);
  EXPECT_EQ(trace.jobs[2].duration, 3600);
  EXPECT_EQ(trace.jobs[3].gpus, 1);
  EXPECT_EQ(count_of(trace.holes, "still running, so its duration is not known"), 1u);
  EXPECT_EQ(count_of(trace.holes, "no attempt has both times"), 1u);
  EXPECT_EQ(count_of(trace.holes, "an attempt without both times, which is not counted"), 1u);
  EXPECT_EQ(count_of(trace.holes, "attempts with different numbers of GPUs, of which the first counts"), 1u);
  EXPECT_EQ(trace.holes.back().first_line, 4u);
}

TEST(TracePhilly, BadJobsAreSkippedAndCounted) {
  const std::string whole = attempt(kNoon, kOne, kOneGpu);
  const auto trace = read_philly(
      "[" + job("good", kNoon, whole) + "," + job("none", kNoon, "") + "," +
          job("bare", kNoon, attempt(kNoon, kOne, "[]")) + "," +
          job("zero", kNoon, attempt(kOne, kOne, kOneGpu)) + "," +
          job("back", kNoon, attempt(kOne, kNoon, kOneGpu)) + "," + job("unborn", "null", whole) + "," +
          job("odd", R"("soon")", whole) + "," + job("number", "1e300", whole) + "," +
          R"({"jobid": "list", "submitted_time": "2017-10-07 12:00:00", "attempts": [3, [], "x"]})" + "," +
          R"({"jobid": nonsense})" + "," + R"({"jobid": "br{ace\"}", "attempts": {}, "submitted_time": )" +
          kNoon + "}" + R"(,{"jobid": "cut", "attempts": [{"start_)",
      "cluster_job_log");
  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.skipped_total(), 11u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "no attempt, so its GPUs are not known"), 2u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "no attempt with GPUs"), 2u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the duration is zero or negative"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "an attempt ends before it starts"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "submitted_time is missing"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "submitted_time is not a date and time"), 2u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the job is not JSON"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the text ends inside the job"), 1u);
}

TEST(TracePhilly, HugeAndDeepJobsCostNothingButThemselves) {
  const std::string good = job("good", kNoon, attempt(kNoon, kOne, kOneGpu));
  const std::string huge = R"({"jobid": ")" + std::string((std::size_t{1} << 20) + 1, 'x') + R"("})";
  const std::string deep = R"({"jobid": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  const auto trace = read_philly("[" + huge + "," + deep + "," + good + "]", "cluster_job_log");
  EXPECT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the job is larger than 1 MiB"), 1u);
  EXPECT_EQ(trace.skipped_total(), 2u);
}

TEST(TracePhilly, NothingUsableIsRefused) {
  EXPECT_MENTIONS(complaint([] { read_philly("[]", "cluster_job_log"); }), "there is nothing in it");
  EXPECT_MENTIONS(complaint([] { read_philly("[{}]", "cluster_job_log"); }), "submitted_time is missing");
}

}  // namespace
}  // namespace tandem::sim
