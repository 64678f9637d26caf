#include "sim/trace/trace_gavel.h"

#include <string>

#include "sim/trace/trace_readers.h"
#include "sim/trace/trace_testing.h"

namespace tandem::sim {
namespace {

using trace_testing::count_of;

const std::string kThroughputs = R"json({
  "k80": {
    "('ResNet-18 (batch size 16)', 1)": {
      "null": 4.0,
      "('A3C', 1)": [2.5, 0.0]
    },
    "('ResNet-18 (batch size 16)', 2)": {"null": 0.0}
  },
  "v100": {
    "('ResNet-18 (batch size 16)', 1)": {"null": 10, "('A3C', 1)": [5, 1]},
    "('ResNet-18 (batch size 16)', 2)": {"null": 16.0},
    "('A3C', 1)": {"('A3C', 1)": [1.0, 1.0]},
    "A3C": {"null": 1.0},
    "('A3C', x)": {"null": 1.0},
    "('LM', 1)": {"null": -1.0},
    "('LM', 2)": {"null": 1e300},
    "('LM', 4)": 3
  },
  "p100": []
})json";

TEST(TraceGavel, SevenFields) {
  const auto trace = read_gavel(
      "ResNet-18 (batch size 16)\tcd %s && python3 main.py --name \"x\"\t--num_steps\t1\t1000\t20.000000\t2\n"
      "A3C\tpython3 main.py\t--max-steps\t0\t7\t10.500000\t1\n",
      "msr.trace");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.offset, 10.5);
  EXPECT_EQ(trace.jobs[0].application, "A3C");
  EXPECT_FALSE(trace.jobs[0].batch);
  const auto& job = trace.jobs[1];
  EXPECT_EQ(job.name, "job-1");
  EXPECT_EQ(job.submitted, 9.5);
  EXPECT_EQ(job.application, "ResNet-18 (batch size 16)");
  EXPECT_EQ(job.batch, 16);
  EXPECT_EQ(job.steps, 1000);
  EXPECT_EQ(job.tasks, 2);
  EXPECT_EQ(job.gpus, 1);
  EXPECT_FALSE(job.duration);
}

TEST(TraceGavel, TenFields) {
  const auto trace = read_gavel(
      "LM (batch size 5)\tpython main.py\tlm\t--steps\t1\t300\t4\t2.5\t1.2\t0.0\n"
      "A3C\tpython main.py\trl\t--max-steps\t0\t7\t1\t1\t-1.000000\t30\n",
      "new.trace");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].steps, 300);
  EXPECT_EQ(trace.jobs[0].tasks, 4);
  EXPECT_EQ(trace.jobs[0].weight, 2.5);
  EXPECT_EQ(trace.jobs[0].slo, 1.2);
  EXPECT_EQ(trace.jobs[1].submitted, 30);
  EXPECT_FALSE(trace.jobs[1].slo);
}

TEST(TraceGavel, BadLinesAreSkippedAndCounted) {
  const auto trace = read_gavel(
      "# made by hand\r\n"
      "A3C\tc\t-n\t1\t100\t0.0\t1\r\n"
      "A3C\tc\t-n\t1\t0\t0.0\t1\r\n"
      "A3C\tc\t-n\t1\t1e300\t0.0\t1\r\n"
      "A3C\tc\t-n\t1\t100\t-5\t1\r\n"
      "A3C\tc\t-n\t1\t100\tnan\t1\r\n"
      "A3C\tc\t-n\t1\t100\t0.0\t0\r\n"
      "A3C\tc\t-n\t1\t100\t0.0\t1.5\r\n"
      "A3C\tc\t-n\t1\t10",
      "msr.trace");
  EXPECT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.skipped_total(), 8u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "the line has too few fields"), 2u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "steps is out of range"), 2u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "arrival time is out of range"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "arrival time is missing"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "it asks for neither cores nor GPUs"), 1u);
  EXPECT_EQ(count_of(trace.skipped_by_reason, "GPUs is not a whole number"), 1u);
}

TEST(TraceGavel, OtherFilesAreRefused) {
  EXPECT_MENTIONS(complaint([] { read_gavel("a\tb\tc\n", "x.trace"); }), "x.trace: not a trace of Gavel's");
}

TEST(TraceGavel, ThroughputsAloneAreRead) {
  const auto throughputs = read_throughputs(kThroughputs, "t.json");
  EXPECT_EQ(throughputs.measured.size(), 2u);
  EXPECT_EQ(throughputs.steps_a_second("k80", "ResNet-18 (batch size 16)", 1), 4.0);
  EXPECT_EQ(throughputs.steps_a_second("v100", "ResNet-18 (batch size 16)", 1), 10.0);
  EXPECT_EQ(throughputs.steps_a_second("v100", "ResNet-18 (batch size 16)", 2), 16.0);
  EXPECT_FALSE(throughputs.steps_a_second("k80", "ResNet-18 (batch size 16)", 2));
  EXPECT_FALSE(throughputs.steps_a_second("v100", "ResNet-18 (batch size 16)", 4));
  EXPECT_FALSE(throughputs.steps_a_second("v100", "A3C", 1));
  EXPECT_FALSE(throughputs.steps_a_second("a100", "A3C", 1));
  EXPECT_EQ(count_of(throughputs.skipped, "a throughput of 0: it does not fit there"), 1u);
  EXPECT_EQ(count_of(throughputs.skipped, "no throughput alone"), 2u);
  EXPECT_EQ(count_of(throughputs.skipped, "the key is not ('JOB TYPE', GPUS)"), 2u);
  EXPECT_EQ(count_of(throughputs.skipped, "the throughput is out of range"), 2u);
  EXPECT_EQ(count_of(throughputs.skipped, "a GPU type without jobs"), 1u);
}

TEST(TraceGavel, BrokenThroughputsAreRefused) {
  const auto half = kThroughputs.substr(0, kThroughputs.size() / 2);
  EXPECT_MENTIONS(complaint([&] { read_throughputs(half, "t.json"); }), "t.json: not Gavel's throughputs");
  EXPECT_MENTIONS(complaint([] { read_throughputs("[1, 2]", "t.json"); }), "no JSON object");
  EXPECT_MENTIONS(complaint([] { read_throughputs("{}", "t.json"); }), "no throughput in it is usable");
  EXPECT_MENTIONS(complaint([] { read_throughputs(R"({"a": )" + std::string(100'000, '['), "t.json"); }),
                  "nested too deeply");
  EXPECT_MENTIONS(complaint([] { read_throughputs(std::string(kLargestThroughputs + 1, ' '), "t.json"); }),
                  "too many");
}

TEST(TraceGavel, ThroughputsGiveDurations) {
  auto trace = read_gavel(
      "ResNet-18 (batch size 16)\tc\t-n\t1\t1600\t0\t2\n"
      "A3C\tc\t-n\t1\t1600\t0\t1\n",
      "msr.trace");
  const auto throughputs = read_throughputs(kThroughputs, "t.json");
  EXPECT_EQ(add_durations(trace, throughputs, "v100"), 1u);
  EXPECT_EQ(trace.jobs[0].duration, 100);
  EXPECT_FALSE(trace.jobs[1].duration);
  EXPECT_MENTIONS(complaint([&] { add_durations(trace, throughputs, "v10"); }), "did you mean 'v100'?");
  require_durations(trace);
  EXPECT_EQ(trace.jobs.size(), 1u);
}

TEST(TraceGavel, TheRealTraceIsAllThere) {
  REAL_TRACE(text, "gavel-msr-103959.trace");
  auto trace = read_trace(text, "gavel-msr-103959.trace");
  EXPECT_EQ(trace.format, "gavel");
  ASSERT_EQ(trace.jobs.size(), 986u);
  EXPECT_EQ(trace.skipped_total(), 0u);
  EXPECT_EQ(trace.jobs.front().application, "Transformer (batch size 128)");
  EXPECT_EQ(trace.jobs.front().batch, 128);
  EXPECT_EQ(trace.jobs.back().submitted, 7910536);

  REAL_TRACE(measured, "gavel-throughputs.json");
  const auto throughputs = read_throughputs(measured, "gavel-throughputs.json");
  EXPECT_EQ(throughputs.measured.size(), 6u);
  EXPECT_EQ(throughputs.measured.at("v100").size(), 83u);
  EXPECT_EQ(throughputs.measured.at("k80").size(), 80u);
  EXPECT_EQ(count_of(throughputs.skipped, "a throughput of 0: it does not fit there"), 3u);
  EXPECT_EQ(add_durations(trace, throughputs, "v100"), 125u);
  ASSERT_TRUE(trace.jobs.front().duration);
  EXPECT_NEAR(*trace.jobs.front().duration, 5635991 / 5.44610521981264, 1e-3);
}

}  // namespace
}  // namespace tandem::sim
