#include "sim/trace/trace.h"

#include <string>

#include "sim/trace/trace_testing.h"

namespace tandem::sim {
namespace {

const std::string kPollux = "name,time,application,num_replicas,batch_size\n";

TEST(Trace, FormatsAreKnownByTheirContent) {
  EXPECT_EQ(detect("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time\n", "x").name,
            "alibaba-pods");
  EXPECT_EQ(detect("sn,cpu_milli,memory_mib,gpu,model\r\nn,1,1,1,T4\r\n", "x").name, "alibaba-nodes");
  EXPECT_EQ(detect("\xef\xbb\xbf" + kPollux, "x").name, "pollux");
  EXPECT_EQ(detect("# by hand\nA3C\tc\t-n\t1\t100\t0.0\t1\n", "x").name, "gavel");
  EXPECT_EQ(detect("A3C\tc\td\t-n\t0\t100\t1\t1\t-1\t0.0", "x").name, "gavel");
  EXPECT_EQ(detect(R"( [{"vc": "a", "attempts": [], "submitted_time": null}])", "x").name, "philly");
  EXPECT_EQ(detect("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time\n", "x").name, "helios");
  EXPECT_EQ(detect("1 0 0 cut", "log.swf").name, "swf");
  EXPECT_EQ(detect("; comment\n1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\n", "x").name, "swf");
}

TEST(Trace, WhatIsNoTraceIsToldSo) {
  EXPECT_MENTIONS(complaint([] { detect(" \r\n\n", "x.csv"); }), "x.csv: it is empty");
  EXPECT_MENTIONS(complaint([] { detect("\x1f\x8b\x08zzz", "x.gz"); }), "gunzip");
  EXPECT_MENTIONS(complaint([] { detect(R"json({"k80": {"('A3C', 1)": {"null": 1}}})json", "t.json"); }),
                  "throughputs");
  const auto said = complaint([] { detect("cifar10-0,107,cifar10,6,2048\n", "w.csv"); });
  EXPECT_MENTIONS(said, "w.csv: not a trace of a known format");
  EXPECT_MENTIONS(said, "cifar10-0,107");
  EXPECT_MENTIONS(said, "header");
  EXPECT_MENTIONS(said, "alibaba-pods");
  EXPECT_MENTIONS(complaint([] { detect(std::string(100'000, '\x01'), "x"); }), "it begins with '\\u0001");
}

TEST(Trace, EveryFormatIsInTheTable) {
  EXPECT_EQ(trace_formats().size(), 7u);
  for (const auto& format : trace_formats()) {
    EXPECT_EQ(&trace_format(format.name), &format);
    EXPECT_FALSE(format.description.empty());
    EXPECT_FALSE(format.recognises("")) << format.name;
    EXPECT_FALSE(format.recognises("\n{[\"\xff,;\t")) << format.name;
    EXPECT_FALSE(complaint([&] { format.read("", "x"); }).empty()) << format.name;
  }
  EXPECT_MENTIONS(complaint([] { trace_format("hellios"); }), "did you mean 'helios'?");
}

TEST(Trace, AFormatCanBeNamed) {
  EXPECT_EQ(read_trace(kPollux + "a,1,ncf,1,32\n", "w.csv", "pollux").jobs.size(), 1u);
  EXPECT_MENTIONS(complaint([] { read_trace(kPollux, "w.csv", "helios"); }), "no column 'job_id'");
}

TEST(Trace, JobsAreInOrderOfSubmissionThenOfAppearance) {
  const auto trace =
      read_trace(kPollux + "c,30,ncf,1,1\na,20,ncf,1,1\nb,20,ncf,1,1\na,25,ncf,1,1\n", "w.csv");
  std::string order;
  for (const auto& job : trace.jobs) order += job.name;
  EXPECT_EQ(order, "abac");
  EXPECT_EQ(trace.offset, 20);
  EXPECT_EQ(trace.jobs[0].submitted, 0);
  EXPECT_EQ(trace.jobs[0].line, 3u);
  EXPECT_EQ(trace.jobs[3].submitted, 10);
}

TEST(Trace, TheFirstSkippedAreKeptAndAllAreCounted) {
  std::string text = kPollux + "good,1,ncf,1,1\n";
  for (int i = 0; i < 50; ++i) text += "bad,1,ncf,0,1\n";
  const auto trace = read_trace(text + "cut", "w.csv");
  EXPECT_EQ(trace.skipped.size(), kSkippedKept);
  EXPECT_EQ(trace.skipped_total(), 51u);
  const auto said = complaints(trace);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0], "50 skipped: it asks for neither cores nor GPUs (first on line 3)");
  EXPECT_EQ(said[1], "1 skipped: the line has too few fields (first on line 53)");
}

TEST(Trace, TextFromTheFileIsSafeToPrint) {
  const std::string bad = "\x1b[2J" + std::string(1000, 'x') + ",1,\xff,1,1\nb,1,\x07,n,1\n";
  const auto trace = read_trace(kPollux + bad, "w.csv");
  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].name.substr(0, 10), "\\u001b[2Jx");
  EXPECT_LT(trace.jobs[0].name.size(), 300u);
  EXPECT_EQ(trace.jobs[0].application, "?");
}

}  // namespace
}  // namespace tandem::sim
