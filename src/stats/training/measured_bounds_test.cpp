#include "stats/training/measured_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "stats/training/physical_model.h"

namespace tandem::stats {
namespace {

const std::vector<std::string> kSteps = {"batch", "replicas", "nodes", "largest"};

struct Placement {
  double replicas, nodes, largest;
};
const std::vector<Placement> kPlacements = {{1, 1, 1}, {2, 1, 2}, {4, 1, 4}, {2, 2, 1},
                                            {4, 2, 2}, {8, 2, 4}, {4, 4, 1}, {8, 4, 2}};

// Some application on some cluster: never shorter with more of anything, as physics has it.
struct Truth {
  double fixed, record, pair, bus;
  explicit Truth(Random& random)
      : fixed(std::exp(random.uniform(-5, 0))),
        record(fixed * std::exp(random.uniform(-9, -2))),
        pair(fixed * std::exp(random.uniform(-3, 2))),
        bus(pair * random.uniform(0, 1)) {}
  double seconds(double batch, const Placement& at) const {
    const double work = fixed + record * batch;
    const double ring = std::max(at.nodes > 1 ? pair : 0, at.largest > 1 ? bus * (at.largest / 2) : 0);
    const double sync = 2 * (at.replicas - 1) / at.replicas * ring;
    return work / 3 + std::max(work * 2 / 3, sync) + 0.2 * std::min(work * 2 / 3, sync);
  }
};

struct Rows {
  std::vector<double> rows{}, seconds{};
  void add(double batch, const Placement& at, double took) {
    rows.insert(rows.end(), {batch, at.replicas, at.nodes, at.largest});
    seconds.push_back(took);
  }
};

std::vector<double> query_of(double batch, const Placement& at) {
  return {batch, at.replicas, at.nodes, at.largest};
}

// A tenth of noise at most; one row in so many took twelve to a hundred and fifty times as long, or as short.
Rows measured_rows(const Truth& truth, Random& random, std::uint64_t one_in) {
  Rows out;
  for (const Placement& at : kPlacements)
    for (double batch = 8; batch <= 512; batch *= 2) {
      double took = truth.seconds(batch, at) * std::exp(0.05 * std::clamp(random.normal(), -1.9, 1.9));
      if (one_in > 0 && random.below(one_in) == 0)
        took *= std::exp(random.uniform(2.5, 5) * (random.below(2) == 0 ? 1 : -1));
      out.add(batch, at, took);
    }
  return out;
}

template <class Each>
void everywhere(Each each) {
  for (const Placement& at : kPlacements)
    for (double batch = 8; batch <= 512; batch *= 1.37) each(batch, at);
}

// The promise of the law: inside the range of its rows never off by more than 3 times.
TEST(MeasuredBounds, InsideTheRangeNoPredictionIsOffByMoreThanThreeTimes) {
  Random random(11);
  for (int round = 0; round < 40; ++round) {
    const Truth truth(random);
    const Rows rows = measured_rows(truth, random, 0);
    const auto model = make_physical(kSteps);
    model->fit(rows.rows, rows.seconds);
    everywhere([&](double batch, const Placement& at) {
      const double off = model->predict(query_of(batch, at)) / truth.seconds(batch, at);
      EXPECT_TRUE(off > 1 / 3.0 && off < 3) << round << ": batch " << batch << " on " << at.replicas
                                            << " replicas of " << at.nodes << " nodes: " << off;
    });
  }
}

// Where one row in fifteen is wrong by twelve times and more, several wrong ones can lie together and nobody
// can tell: the promise is kept for 99 of 100 settings.
TEST(MeasuredBounds, WrongRowsAmongTheOthersSpoilFewPredictions) {
  Random random(11);
  int all = 0, far_off = 0;
  for (int round = 0; round < 40; ++round) {
    const Truth truth(random);
    const Rows rows = measured_rows(truth, random, 15);
    const auto model = make_physical(kSteps);
    model->fit(rows.rows, rows.seconds);
    everywhere([&](double batch, const Placement& at) {
      const double off = model->predict(query_of(batch, at)) / truth.seconds(batch, at);
      ++all, far_off += off < 1 / 3.0 || off > 3;
    });
  }
  EXPECT_LT(far_off, all / 100) << "of " << all;
}

// Whatever a model says, even what is off by a million times: the bounds alone keep the promise, and they
// never keep a model from the truth.
TEST(MeasuredBounds, TheBoundsAloneKeepThatPromise) {
  Random random(12);
  for (int round = 0; round < 200; ++round) {
    const Truth truth(random);
    const Rows rows = measured_rows(truth, random, 0);
    MeasuredBounds bounds;
    bounds.fit(kSteps, rows.rows, rows.seconds, false);
    everywhere([&](double batch, const Placement& at) {
      const auto limits = bounds.at(query_of(batch, at));
      const double time = truth.seconds(batch, at);
      EXPECT_TRUE(limits.inside);
      EXPECT_LE(limits.least, time);
      EXPECT_GE(limits.most, time);
      EXPECT_GT(limits.least, time / 3) << round << ": batch " << batch << " of " << at.replicas;
      EXPECT_LT(limits.most, time * 3) << round << ": batch " << batch << " of " << at.replicas;
    });
  }
}

// Rows that are wrong by twelve times and more bound next to nothing: where two of them stand side by side
// nobody can know.
TEST(MeasuredBounds, RowsThatTheirNeighboursContradictBoundNothing) {
  Random random(15);
  std::size_t asked = 0, wide = 0, wrong = 0;
  for (int round = 0; round < 200; ++round) {
    const Truth truth(random);
    const Rows rows = measured_rows(truth, random, 20);
    MeasuredBounds bounds;
    bounds.fit(kSteps, rows.rows, rows.seconds, false);
    everywhere([&](double batch, const Placement& at) {
      const auto limits = bounds.at(query_of(batch, at));
      const double time = truth.seconds(batch, at);
      ++asked;
      wide += limits.least < time / 4 || limits.most > time * 4;
      wrong += limits.least > time || limits.most < time;
    });
  }
  EXPECT_LT(static_cast<double>(wide), 0.05 * static_cast<double>(asked));
  EXPECT_LT(static_cast<double>(wrong), 0.005 * static_cast<double>(asked));
}

TEST(MeasuredBounds, OnOneSideAloneItIsHeldToThatSide) {
  MeasuredBounds bounds;
  Rows rows;
  for (const double batch : {8, 16, 32}) rows.add(batch, {2, 1, 2}, 0.1);
  bounds.fit(kSteps, rows.rows, rows.seconds, false);
  const auto more = bounds.at(query_of(16, {8, 4, 2})), fewer = bounds.at(query_of(16, {1, 1, 1}));
  EXPECT_FALSE(more.inside || fewer.inside);
  EXPECT_NEAR(more.least, 0.1 / MeasuredBounds::kOff, 1e-9);
  EXPECT_TRUE(std::isinf(more.most));
  EXPECT_EQ(fewer.least, 0);
  EXPECT_NEAR(fewer.most, 0.1 * MeasuredBounds::kOff, 1e-9);
}

// Rows that lie too far apart to promise anything: between them all the same.
TEST(MeasuredBounds, WhereRowsAreFarApartItIsHeldBetweenThem) {
  MeasuredBounds bounds;
  Rows rows;
  rows.add(16, {1, 1, 1}, 0.01);
  rows.add(16, {8, 4, 2}, 1);
  bounds.fit(kSteps, rows.rows, rows.seconds, false);
  const auto limits = bounds.at(query_of(16, {2, 2, 1}));
  EXPECT_TRUE(limits.inside);
  EXPECT_NEAR(limits.least, 0.01 / MeasuredBounds::kNoise, 1e-9);
  EXPECT_NEAR(limits.most, MeasuredBounds::kNoise, 1e-9);
}

// Twice the workers, half the time: no bound may forbid it.
TEST(MeasuredBounds, JobsMayBecomeShorterWithReplicas) {
  MeasuredBounds bounds;
  const std::vector<double> rows = {32, 1, 32, 2, 32, 8}, seconds = {80, 40, 10};
  bounds.fit({"batch", "replicas"}, rows, seconds, true);
  const auto limits = bounds.at(std::vector<double>{32, 4});
  EXPECT_TRUE(limits.inside);
  EXPECT_LT(limits.least, 20);
  EXPECT_GT(limits.most, 20);
}

TEST(MeasuredBounds, DegenerateRowsGiveBoundsThatCanBe) {
  for (const double seconds : {1e-300, 1e-6, 1.0, 1e300}) {
    MeasuredBounds bounds;
    Rows rows;
    for (int i = 0; i < 4; ++i) rows.add(64, {2, 1, 2}, seconds);
    bounds.fit(kSteps, rows.rows, rows.seconds, false);
    const auto same = bounds.at(query_of(64, {2, 1, 2}));
    EXPECT_LE(same.least, seconds);
    EXPECT_GE(same.most, seconds);
    for (const double batch : {1e-9, 64.0, 1e12}) {
      const auto far = bounds.at(query_of(batch, {64, 8, 8}));
      EXPECT_FALSE(std::isnan(far.least) || std::isnan(far.most));
      EXPECT_LE(far.least, far.most);
    }
  }
  MeasuredBounds none;
  EXPECT_EQ(none.at({}).least, 0);
  EXPECT_TRUE(std::isinf(none.at({}).most));
}

// Rows of pure noise promise nothing, and yet a prediction stays among them.
TEST(MeasuredBounds, NoiseOfNineOrdersOfMagnitude) {
  Random random(13);
  for (int round = 0; round < 100; ++round) {
    Rows rows;
    double fastest = INFINITY, slowest = 0;
    for (int i = 0; i < 30; ++i) {
      const double took = std::exp(random.uniform(-10, 10));
      fastest = std::min(fastest, took), slowest = std::max(slowest, took);
      rows.add(std::exp(random.uniform(0, 8)), kPlacements[random.below(kPlacements.size())], took);
    }
    MeasuredBounds bounds;
    bounds.fit(kSteps, rows.rows, rows.seconds, false);
    for (std::size_t i = 0; i < rows.seconds.size(); ++i) {
      const auto limits = bounds.at(std::span(rows.rows).subspan(4 * i, 4));
      EXPECT_LE(limits.least, limits.most);
      EXPECT_LE(limits.least, slowest * MeasuredBounds::kOff * 3000);  // by the batch's ratio at most
      EXPECT_GE(limits.most, fastest / MeasuredBounds::kOff / 3000);
    }
  }
}

TEST(MeasuredBounds, ColumnsThatAreNotPositiveBoundNothing) {
  MeasuredBounds bounds;
  const std::vector<double> rows = {8, -1, 8, 0, 8, 1}, seconds = {1, 1.1, 1.2};
  bounds.fit({"batch", "clock"}, rows, seconds, false);
  const auto limits = bounds.at(std::vector<double>{8, -100});
  EXPECT_GT(limits.least, 0.3);
  EXPECT_LT(limits.most, 3.1);
}

TEST(MeasuredBounds, WhatIsWrittenIsReadBack) {
  Random random(14);
  const Truth truth(random);
  const Rows rows = measured_rows(truth, random, 12);
  MeasuredBounds bounds, again;
  bounds.fit(kSteps, rows.rows, rows.seconds, false);
  again.read(nlohmann::json::parse(bounds.written().dump()), kSteps);
  for (double batch = 4; batch <= 2048; batch *= 1.9) {
    const auto one = bounds.at(query_of(batch, {4, 2, 2})), other = again.at(query_of(batch, {4, 2, 2}));
    EXPECT_EQ(one.least, other.least);
    EXPECT_EQ(one.most, other.most);
  }
  auto wrong = bounds.written();
  wrong["times"].erase(0);
  EXPECT_THROW(again.read(wrong, kSteps), UserError);
}

}  // namespace
}  // namespace tandem::stats
