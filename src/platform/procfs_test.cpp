#include "platform/procfs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "platform/fake_tree.h"

namespace tandem::platform {
namespace {

const double kTick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));

TEST(ProcFs, StatOfAProgramWithBracketsInItsName) {
  FakeTree tree;
  tree.write("42/stat",
             "42 (a) b (c) S 7 41 41 0 -1 4194560 100 20 3 4 500 60 70 8 20 0 5 0 12345 9999 11 "
             "18446744073709551615 1\n");
  const auto stat = ProcFs(tree.root()).stat(42);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 7);
  EXPECT_EQ(stat->group, 41);
  EXPECT_EQ(stat->minor_faults, 120);
  EXPECT_EQ(stat->major_faults, 7);
  EXPECT_DOUBLE_EQ(stat->user.value, 500 * kTick);
  EXPECT_DOUBLE_EQ(stat->system.value, 60 * kTick);
  EXPECT_DOUBLE_EQ(stat->children_user.value, 70 * kTick);
  EXPECT_DOUBLE_EQ(stat->children_system.value, 8 * kTick);
  EXPECT_EQ(stat->threads, 5);
  EXPECT_EQ(stat->started, 12345);
  EXPECT_EQ(stat->resident, 11 * sysconf(_SC_PAGESIZE));
}

TEST(ProcFs, GoneOrTornFilesAreNoAnswer) {
  FakeTree tree;
  tree.write("1/stat", "1 (x) R 1 2 3\n");
  tree.write("2/stat", "nonsense\n");
  tree.write("2/io", "rchar: 5\n");
  tree.write("stat", "cpu 1 2\n");
  tree.write("pressure/cpu", "none\n");
  const ProcFs proc(tree.root());
  EXPECT_FALSE(proc.stat(1));
  EXPECT_FALSE(proc.stat(2));
  EXPECT_FALSE(proc.stat(3));
  EXPECT_FALSE(proc.io(2));
  EXPECT_FALSE(proc.busy());
  EXPECT_FALSE(proc.pressure("cpu"));
  EXPECT_FALSE(proc.pressure("io"));
  EXPECT_FALSE(proc.number("sys/none"));
  EXPECT_TRUE(proc.switches(3).empty());
}

TEST(ProcFs, IoSwitchesBusyAndPressure) {
  FakeTree tree;
  tree.write(
      "9/io",
      "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n");
  tree.write("9/task/9/status", "Name:\tx\nvoluntary_ctxt_switches:\t10\nnonvoluntary_ctxt_switches:\t3\n");
  tree.write("9/task/11/status", "Name:\tx\nvoluntary_ctxt_switches:\t20\nnonvoluntary_ctxt_switches:\t4\n");
  tree.write("stat", "cpu  100 10 20 1000 500 3 4 99 50 0\ncpu0 1 1 1 1\n");
  tree.write("pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0 total=1\n");
  tree.write("sys/kernel/perf_event_paranoid", "-1\n");
  const ProcFs proc(tree.root());
  const auto io = proc.io(9);
  ASSERT_TRUE(io);
  EXPECT_EQ(io->read_chars, 1);
  EXPECT_EQ(io->written_chars, 2);
  EXPECT_EQ(io->read_calls, 3);
  EXPECT_EQ(io->write_calls, 4);
  EXPECT_EQ(io->read_bytes, 5);
  EXPECT_EQ(io->written_bytes, 6);
  const auto threads = proc.switches(9);
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[1].thread, 11);
  EXPECT_EQ(threads[1].voluntary, 20);
  EXPECT_EQ(threads[1].involuntary, 4);
  EXPECT_DOUBLE_EQ(proc.busy()->value, 137 * kTick)
      << "neither idle, nor waiting for disks, nor stolen, nor guests twice";
  EXPECT_DOUBLE_EQ(proc.pressure("io")->value, 2.5);
  EXPECT_EQ(proc.number("sys/kernel/perf_event_paranoid"), -1);
  EXPECT_EQ(proc.pids(), std::vector<std::int64_t>{9});
}

TEST(ProcFs, TheRealOneKnowsUs) {
  const ProcFs proc;
  const auto stat = proc.stat(getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, getppid());
  EXPECT_EQ(stat->group, getpgrp());
  EXPECT_GT(stat->resident, 0);
  EXPECT_TRUE(proc.busy());
  EXPECT_FALSE(proc.switches(getpid()).empty());
}

}  // namespace
}  // namespace tandem::platform
