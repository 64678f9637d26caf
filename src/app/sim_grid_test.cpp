#include "app/sim_grid.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "app/sim_testing.h"
#include "base/error.h"

namespace tandem::app {
namespace {

using sample::rows_of;
using sample::sim_job;

std::string refused(const std::vector<std::string>& sweep) {
  try {
    cells_of(sample::two_workloads(), parse_sweep(sweep), catalogue());
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(SimGrid, GoesWorkloadByWorkloadAndTheLastKeyChangesFastest) {
  const auto cells =
      cells_of(sample::two_workloads(), parse_sweep({"workers=1,2", "batch=16,32,64"}), catalogue());
  ASSERT_EQ(cells.size(), 12u);
  EXPECT_EQ(cells[0].label(), "alone workers=1 batch=16");
  EXPECT_EQ(cells[1].label(), "alone workers=1 batch=32");
  EXPECT_EQ(cells[3].label(), "alone workers=2 batch=16");
  EXPECT_EQ(cells[11].label(), "ring workers=2 batch=64");
  EXPECT_EQ(cells[11].workload.workers, 2);
  EXPECT_EQ(cells[11].workload.batch, 64);
  EXPECT_EQ(cells[11].workload.strategy, "all-reduce");
}

TEST(SimGrid, AWrongSweepIsRefusedWithTheNearestKey) {
  EXPECT_NE(refused({"worker=1,2"}).find("did you mean 'workers'"), std::string::npos)
      << refused({"worker=1,2"});
  EXPECT_NE(refused({"workers=1,two"}).find("two"), std::string::npos);
  EXPECT_NE(refused({"workers=0"}).find("at least 1"), std::string::npos) << refused({"workers=0"});
  EXPECT_NE(refused({"strategy=ring"}).find("strategy"), std::string::npos);
  EXPECT_NE(refused({"workers"}).find("workers=1,2,4"), std::string::npos);
  EXPECT_NE(refused({"workers=1,,2"}).find("missing"), std::string::npos);
  EXPECT_NE(refused({"workers=1", "workers=2"}).find("twice"), std::string::npos);
  EXPECT_NE(refused({"name=a,b"}).find("name"), std::string::npos);
  std::string many = "batch=1";
  for (int i = 2; i <= 5001; ++i) many += "," + std::to_string(i);
  EXPECT_NE(refused({many}).find("rows"), std::string::npos) << "two workloads: 10 002 cells";
}

TEST(SimGrid, ACellThatCannotRunIsARowThatSaysWhy) {
  const auto rows = rows_of(sample::two_workloads(), {"workers=1,4,5"});
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0].error, "");
  EXPECT_NE(rows[1].error.find("default"), std::string::npos) << "one device, not four: " << rows[1].error;
  EXPECT_EQ(rows[4].error, "");
  EXPECT_NE(rows[5].error.find("4 of gpu"), std::string::npos) << rows[5].error;
}

TEST(SimGrid, ARowIsTheSameForAnyNumberOfThreads) {
  const auto job = sim_job(
      "  - {model: lenet5, batch: 64, iterations: 50, strategy: all-reduce, workers: 2, straggler: 10%}\n");
  const std::vector<std::string> sweep{"workers=1,2,3,4", "batch=8,64",
                                       "strategy=all-reduce,parameter-server"};
  const auto one = rows_of(job, sweep), four = rows_of(job, sweep, {.threads = 4});
  ASSERT_EQ(one.size(), four.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].cell.label(), four[i].cell.label());
    EXPECT_EQ(one[i].result.t_exec, four[i].result.t_exec);
    EXPECT_EQ(one[i].result.joules, four[i].result.joules);
    EXPECT_EQ(one[i].speedup, four[i].speedup);
  }
}

TEST(SimGrid, SpeedUpIsAgainstOneDeviceWithTheSameSamples) {
  const auto rows = rows_of(sim_job(
      "  - {name: one, model: lenet5, batch: 64, iterations: 80}\n"
      "  - {name: strong, model: lenet5, batch: 64, iterations: 80, strategy: all-reduce, workers: 4}\n"
      "  - {name: weak, model: lenet5, batch: 64, iterations: 80, scaling: weak, strategy: all-reduce, "
      "workers: 4}\n"));
  EXPECT_DOUBLE_EQ(rows[0].speedup.value(), 1);
  for (const auto& row : rows) {
    EXPECT_EQ(row.result.samples, 80 * 64);
    EXPECT_DOUBLE_EQ(row.speedup.value(), rows[0].result.t_exec / row.result.t_exec) << row.cell.label();
  }
  EXPECT_EQ(rows[2].result.steps, 20) << "four times the samples a step";
}

TEST(SimGrid, ThereIsNoSpeedUpWhereOneDeviceIsTooSmall) {
  const auto rows =
      rows_of(sim_job("  - {model: vgg19, batch: 64, iterations: 1, strategy: all-reduce, workers: 4}\n"));
  ASSERT_EQ(rows[0].error, "");
  EXPECT_FALSE(rows[0].speedup);
  EXPECT_NE(rows[0].no_speedup.find("memory"), std::string::npos) << rows[0].no_speedup;
}

TEST(SimGrid, EnergyThatIsNotKnownSaysWhichDeviceIsMissing) {
  const auto rows = rows_of(sim_job("  - {model: lenet5, batch: 64, iterations: 1}\n", "efficiency: 50%"));
  EXPECT_FALSE(rows[0].result.joules);
  EXPECT_EQ(no_joules(rows[0].result), "the power of gpu is not given in the cluster");
  EXPECT_EQ(no_joules(rows_of(sample::two_workloads())[0].result), "");
}

TEST(SimGrid, LinksAreInUseAtMostAllTheTime) {
  const auto rows = rows_of(sample::two_workloads());
  const auto& traffic = rows[1].result.traffic[static_cast<std::size_t>(sim::LinkClass::network)];
  EXPECT_GT(traffic.busy, 0);
  EXPECT_LE(traffic.busy, rows[1].result.t_exec);
  EXPECT_DOUBLE_EQ(rows[0].result.traffic[static_cast<std::size_t>(sim::LinkClass::network)].busy, 0);
}

TEST(SimGrid, TheBeginningHasAsManyStepsAsAskedForAndNoMoreThanThereAre) {
  for (const auto& [wanted, steps] : {std::pair{3, 3}, {50, 10}}) {
    const auto rows = rows_of(sample::two_workloads(), {}, {.show_steps = wanted});
    for (const auto& row : rows) {
      ASSERT_TRUE(row.beginning);
      EXPECT_EQ(row.beginning->steps, steps);
      EXPECT_LE(row.beginning->seconds, row.result.t_exec * (1 + 1e-9));
      for (const auto& span : row.beginning->spans) {
        EXPECT_GE(span.from, 0);
        EXPECT_LE(span.to, row.beginning->seconds * (1 + 1e-9));
      }
    }
  }
}

TEST(SimGrid, EveryCellIsToldOnceAndOneAtATime) {
  std::vector<std::string> told;
  GridOptions options{.threads = 4};
  options.progress = [&](std::size_t done, std::size_t all, const SimRow& row) {
    told.push_back(row.cell.label());
    EXPECT_EQ(done, told.size());
    EXPECT_EQ(all, 8u);
  };
  rows_of(sample::two_workloads(), {"workers=1,2,3,4"}, options);
  EXPECT_EQ(told.size(), 8u);
}

TEST(InParallel, DoesEachOnceAndPassesOnWhatWasThrown) {
  std::vector<std::atomic<int>> times(100);
  in_parallel(times.size(), 5, [&](std::size_t i) { ++times[i]; });
  for (const auto& one : times) EXPECT_EQ(one, 1);
  EXPECT_THROW(in_parallel(10, 3,
                           [](std::size_t i) {
                             if (i == 4) throw std::runtime_error("four");
                           }),
               std::runtime_error);
  in_parallel(0, 3, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace tandem::app
