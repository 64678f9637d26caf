#include "data/kernels.h"

#include <cmath>

#include "data/scratch_for_test.h"
#include "data/timings.h"

namespace tandem::data {
namespace {

TEST(Kernels, ChecksumDoesNotDependOnThreads) {
  for (const auto& [name, settings] :
       std::vector<std::pair<std::string, std::vector<std::int64_t>>>{{"jacobi", {33, 7, 1}},
                                                                      {"kmeans", {1500, 3, 5, 4, 1}},
                                                                      {"bfs", {700, 3, 2, 1}},
                                                                      {"matrix", {37, 2, 1}}}) {
    const Kernel& kernel = *find_kernel(name);
    const KernelResult alone = run_kernel(kernel, settings);
    EXPECT_GT(alone.seconds, 0) << name;
    for (std::int64_t threads : {2, 3, 5}) {
      auto shared = settings;
      shared.back() = threads;
      EXPECT_EQ(run_kernel(kernel, shared).checksum, alone.checksum) << name << " on " << threads;
    }
  }
}

TEST(Kernels, JacobiSpreadsTheHotEdge) {
  // One sweep: each inner cell beside the edge of ones becomes 1/4.
  EXPECT_DOUBLE_EQ(run_jacobi({.size = 5, .iterations = 1, .threads = 1}).checksum, 5 + 3 * 0.25);
  EXPECT_DOUBLE_EQ(run_jacobi({.size = 5, .iterations = 2, .threads = 2}).checksum,
                   5 + (0.25 + 0.0625) * 2 + (0.25 + 0.125) + 3 * 0.0625);
}

TEST(Kernels, KmeansOfOneClusterFindsTheMean) {
  const double checksum =
      run_kmeans({.points = 4000, .dimensions = 2, .clusters = 1, .iterations = 2}).checksum;
  EXPECT_NEAR(checksum, 1.0, 0.05);  // uniform points: one half in each dimension
}

TEST(Kernels, BfsOfOneVertexStaysThere) {
  EXPECT_EQ(run_bfs({.vertices = 1, .degree = 4, .sources = 3, .threads = 2}).checksum, 0);
}

TEST(Kernels, MatrixProductOfUniformNumbers) {
  // Each of n² sums has n terms of mean 1/4.
  const double n = 64;
  EXPECT_NEAR(run_matrix({.size = 64, .products = 1}).checksum, n * n * n / 4, n * n * n / 4 * 0.02);
  EXPECT_EQ(run_matrix({.size = 64, .products = 3}).checksum,
            run_matrix({.size = 64, .products = 1}).checksum);
}

TEST(Kernels, RefusesSettingsOutOfRange) {
  const auto refusal = [](const std::string& name, const std::vector<std::int64_t>& settings) {
    return complaint([&] { run_kernel(*find_kernel(name), settings); });
  };
  EXPECT_MENTIONS(refusal("jacobi", {2, 1, 1}), "--size is 2, allowed are 3 to 8192");
  EXPECT_MENTIONS(refusal("bfs", {10, 1, 1, 0}), "--threads is 0");
  EXPECT_MENTIONS(refusal("bfs", {100'000'000, 1000, 1, 1}), "choose smaller ones");
  EXPECT_MENTIONS(refusal("kmeans", {5, 2, 6, 1, 1}), "6 clusters of 5 points");
  EXPECT_EQ(find_kernel("fft"), nullptr);
}

class Timings : public testing::Test {
 protected:
  const Kernel& kernel = *find_kernel("jacobi");
  const TimingOptions few{.train = 6, .test = 2, .repeats = 1, .seed = 3};
  std::string refusal(const std::string& rows, std::size_t count) {
    const std::string csv = timings_csv(kernel, {}) + rows;
    return complaint([&] { parse_timings_csv(kernel, csv, count, "t.csv"); });
  }
  Scratch scratch;
};

TEST_F(Timings, ReadBackTheSame) {
  const auto rows = measure_timings(kernel, few);
  const auto again = parse_timings_csv(kernel, timings_csv(kernel, rows), 8, "t.csv");
  ASSERT_EQ(again.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(again[i].settings, rows[i].settings);
    EXPECT_EQ(again[i].seconds, rows[i].seconds);
  }
}

TEST_F(Timings, SettingsFollowFromTheSeed) {
  const auto rows = measure_timings(kernel, few);
  const auto again = measure_timings(kernel, few);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].settings, again[i].settings);
    EXPECT_GE(rows[i].settings[0], kernel.settings[0].table_low);
    EXPECT_LE(rows[i].settings[0], kernel.settings[0].table_high);
  }
}

TEST_F(Timings, RefusesBrokenTables) {
  EXPECT_MENTIONS(complaint([&] { parse_timings_csv(kernel, "", 1, "t.csv"); }),
                  "t.csv:1: not a table of jacobi");
  EXPECT_MENTIONS(refusal("100,5,1,0.01\n100,5,1,0.0", 2), "t.csv:4: the last line is cut off");
  EXPECT_MENTIONS(refusal("100,5,1,0.01\n", 2), "1 rows where 2 belong");
  EXPECT_MENTIONS(refusal("100,5,1,0.01\n100,5,1,0.01\n", 1), "more than 1 rows");
  EXPECT_MENTIONS(refusal("100,5\n", 1), "t.csv:3: too few fields");
  EXPECT_MENTIONS(refusal("100,5,1,0.01,7\n", 1), "seconds is '0.01,7'");
  EXPECT_MENTIONS(refusal("99999999999999999999,5,1,0.01\n", 1), "size is");
  EXPECT_MENTIONS(refusal("1e2,5,1,0.01\n", 1), "size is '1e2'");
  EXPECT_MENTIONS(refusal("100,5,1,nan\n", 1), "no positive number");
  EXPECT_MENTIONS(refusal("100,5,1,-1\n", 1), "no positive number");
  EXPECT_MENTIONS(refusal("100,5,1,inf\n", 1), "no positive number");
}

TEST_F(Timings, AreScaledOverTheTrainingRows) {
  const std::vector<TimingRow> rows = {{{100, 10, 1}, 0.001}, {{200, 10, 1}, 0.004}, {{400, 10, 1}, 0.016}};
  const Dataset dataset = timings_dataset(kernel, rows, 2);
  EXPECT_EQ(dataset.classes, 0);
  EXPECT_EQ(dataset.train.count, 2);
  EXPECT_EQ(dataset.test.count, 1);
  EXPECT_NEAR(dataset.train.targets[0], -1, 1e-5);
  EXPECT_NEAR(dataset.train.targets[1], 1, 1e-5);
  EXPECT_NEAR(dataset.test.targets[0], 3, 1e-5);
  EXPECT_NEAR(dataset.test.values[0], 3, 1e-5);  // size
  EXPECT_EQ(dataset.test.values[1], 0);          // constant iterations
  EXPECT_NEAR(std::exp(dataset.target.mean + 3 * dataset.target.deviation), 0.016, 1e-9);
}

TEST_F(Timings, AreMadeOnceAndKept) {
  const Dataset first = load_timings(kernel, scratch.path(), few);
  const Dataset second = load_timings(kernel, scratch.path(), few);
  EXPECT_EQ(first.train.targets, second.train.targets);
  EXPECT_FALSE(prepare_timings(kernel, scratch.path(), {}, few));
}

TEST_F(Timings, BrokenFileIsRefusedThenMadeAnewWhenAsked) {
  const auto file = scratch.write("kernels/jacobi.csv", "rubbish");
  EXPECT_MENTIONS(complaint([&] { load_timings(kernel, scratch.path(), few); }), "tandem data get");
  double last = 0;
  EXPECT_TRUE(prepare_timings(
      kernel, scratch.path(), [&](double done) { last = done; }, few));
  EXPECT_EQ(last, 1);
  EXPECT_EQ(load_timings(kernel, scratch.path(), few).train.count, 6);
}

}  // namespace
}  // namespace tandem::data
