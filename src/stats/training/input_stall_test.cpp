#include "stats/training/input_stall.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "stats/training/physical_model.h"

namespace tandem::stats {
namespace {

const std::vector<std::string> kSteps = {"batch", "replicas", "nodes", "largest"};

struct Runs {
  std::vector<double> rows{}, seconds{};
};

// One node of 1 to 8 GPUs, and two of one; `longer` says what a run on several GPUs of a node took instead.
template <class Longer>
Runs on_two_nodes(double first_batch, double work, double record, Longer longer) {
  Runs out;
  Random random(21);
  const auto add = [&](double batch, double replicas, double nodes, double seconds) {
    out.rows.insert(out.rows.end(), {batch, replicas, nodes, replicas / nodes});
    out.seconds.push_back(seconds * std::exp(0.01 * random.normal()));
  };
  for (double batch = first_batch; batch <= 256 * first_batch; batch *= 2) {
    const double step = work + record * batch;
    add(batch, 1, 1, step), add(batch, 2, 2, step);
    for (double replicas = 2; replicas <= 8; ++replicas)
      add(batch, replicas, 1, random.uniform() < 0.5 ? longer(batch, step, random) : step);
  }
  return out;
}

std::unique_ptr<Regression> learnt(const Runs& runs) {
  auto model = make_physical(kSteps);
  model->fit(runs.rows, runs.seconds);
  return model;
}

// Steps of 0.2 s whatever the batch, half of those on several GPUs longer by chance: no rate, and nothing to
// fear of large batches on many nodes. (A rate fitted to such noise once said 250 s.)
TEST(InputStall, NoiseIsNoRate) {
  const Runs runs = on_two_nodes(
      512, 0.2, 1e-8, [](double, double step, Random& random) { return step * random.uniform(1.4, 3); });
  const auto model = learnt(runs);
  EXPECT_TRUE(model->written().at("input").is_null());
  for (double batch = 512; batch <= 512 * 256; batch *= 2)
    for (const double nodes : {3, 8, 16})
      EXPECT_NEAR(model->predict(std::vector<double>{batch, 2 * nodes, nodes, 2}) / 0.2, 1, 0.5) << batch;
}

// Runs that had to read at 100 records a second: those that did not tell the time of computing, and on more
// nodes than were seen the rate holds.
TEST(InputStall, ARateOfInputHoldsOnMoreNodes) {
  const Runs runs = on_two_nodes(16, 0.05, 0.002, [](double batch, double step, Random& random) {
    return std::max(step, batch / random.uniform(100, 130)) + step;
  });
  const auto model = learnt(runs);
  ASSERT_FALSE(model->written().at("input").is_null());
  EXPECT_NEAR(model->predict(std::vector<double>{1024, 4, 2, 2}) / (0.05 + 2.048), 1, 0.15);
  EXPECT_GT(model->predict(std::vector<double>{1024, 8, 4, 2}), 2 * (0.05 + 2.048));
  const auto again = read_regression(nlohmann::json::parse(model->written().dump()));
  const std::vector<double> far = {1024, 8, 4, 2};
  EXPECT_EQ(again->predict(far), model->predict(far));
}

// However slow the rate seems: never beyond what such runs took, by more than a little.
TEST(InputStall, NeverFarBeyondTheSlowestRun) {
  std::vector<TrainingRow> rows;
  std::vector<double> seconds;
  std::vector<bool> stalled;
  for (const double batch : {1, 2, 3, 1000}) {
    rows.push_back({.batch = batch, .replicas = 2, .largest = 2});
    seconds.push_back(0.2 * std::pow(batch, 0.5)), stalled.push_back(batch < 1000);
  }
  rows.push_back({.batch = 3, .replicas = 2, .nodes = 2}), seconds.push_back(0.2), stalled.push_back(false);
  const auto found = InputStall::found(rows, seconds, stalled);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->rate(), 5, 1e-9);
  EXPECT_EQ(found->least({.batch = 1000, .replicas = 4, .nodes = 2, .largest = 2}), 0);  // seen
  EXPECT_NEAR(found->least({.batch = 1e6, .replicas = 8, .nodes = 4, .largest = 2}),
              InputStall::kMost * 0.2 * std::pow(1000, 0.5), 1e-9);
  EXPECT_NEAR(found->least({.batch = 2, .replicas = 8, .nodes = 4, .largest = 2}), 0.4, 1e-9);
}

// Where three nodes were measured, there is nothing to be guessed, and no row is left out.
TEST(InputStall, RowsOnThreeNodesSpeakForThemselves) {
  std::vector<TrainingRow> rows;
  std::vector<double> seconds;
  for (const double batch : {8, 16, 32})
    for (const double nodes : {1, 2, 3}) {
      rows.push_back({.batch = batch, .replicas = 2 * nodes, .nodes = nodes, .largest = 2});
      seconds.push_back(nodes == 1 ? 50 : 0.1);
    }
  TrainingLaw law;
  std::vector<double> numbers(TrainingLaw::kNumbers + 1, 0.0);
  numbers[TrainingLaw::fixed] = 0.1;
  law.set_numbers(numbers);
  const auto stalled = InputStall::stalled(rows, seconds, law);
  EXPECT_EQ(std::count(stalled.begin(), stalled.end(), true), 0);
  rows.resize(2), seconds.resize(2);  // one and two nodes
  EXPECT_TRUE(InputStall::stalled(rows, seconds, law)[0]);
}

}  // namespace
}  // namespace tandem::stats
