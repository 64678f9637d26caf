#include "stats/training/physical_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "stats/numeric/median.h"
#include "stats/training/training_law.h"

namespace tandem::stats {
namespace {

struct Runs {
  std::vector<double> rows, seconds;
};

double noisy(double seconds, double spread, Random& random) {
  return seconds * std::exp(spread * random.normal());
}

// Steps on GPUs: a ring over nodes, overlapped with the backward pass in another way than the law thinks.
const std::vector<std::string> kOnGpus = {"batch", "replicas", "nodes", "largest"};

double step_on_gpus(double batch, double replicas, double nodes, double largest) {
  const double work = 0.05 + 0.002 * batch;
  const double ring = std::max(nodes > 1 ? 0.15 : 0, largest > 1 ? 0.03 + 0.01 * (largest - 2) : 0);
  const double sync = 2 * (replicas - 1) / replicas * ring;
  return work / 3 + std::max(work * 2 / 3, sync);
}

Runs on_gpus(double from, double to, double spread) {
  Runs out;
  Random random(3);
  for (double nodes = 1; nodes <= 8; ++nodes)
    for (double each = 1; each <= 4; ++each)
      for (const double batch : {8, 16, 32, 64, 128}) {
        const double replicas = nodes * each;
        if (replicas < from || replicas > to) continue;
        out.rows.insert(out.rows.end(), {batch, replicas, nodes, each});
        out.seconds.push_back(noisy(step_on_gpus(batch, replicas, nodes, each), spread, random));
      }
  return out;
}

// Jobs on cores, which wait for each other once there are more processes than 16.
const std::vector<std::string> kOnCores = {"batch", "cores", "jobs"};

double job_on_cores(double batch, double cores, double jobs) {
  const double wait = std::max(1.0, cores * jobs / 16);
  return 60000 / batch * (0.02 + 0.001 * batch / cores) * wait;
}

Runs on_cores(const std::vector<double>& batches, double spread) {
  Runs out;
  Random random(4);
  for (const double batch : batches)
    for (const double cores : {1, 2, 4, 8})
      for (const double jobs : {1, 3, 5}) {
        out.rows.insert(out.rows.end(), {batch, cores, jobs});
        out.seconds.push_back(noisy(job_on_cores(batch, cores, jobs), spread, random));
      }
  return out;
}

double median_error(const Regression& model, const Runs& runs, std::size_t columns) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < runs.seconds.size(); ++i)
    errors.push_back(
        std::abs(model.predict(std::span(runs.rows).subspan(i * columns, columns)) / runs.seconds[i] - 1));
  return median(errors);
}

TEST(PhysicalModel, FindsTheNumbersOfItsOwnLaw) {
  TrainingLaw truth, found;
  std::vector<double> numbers(TrainingLaw::kNumbers + 1, 0.0);
  numbers[TrainingLaw::fixed] = 0.1, numbers[TrainingLaw::record] = 0.004, numbers[TrainingLaw::pair] = 0.2;
  numbers[TrainingLaw::many] = 1, numbers[TrainingLaw::overlap] = 1.5;
  truth.set_numbers(numbers);
  Random random(1);
  std::vector<TrainingRow> rows;
  std::vector<double> seconds;
  for (double nodes = 1; nodes <= 6; ++nodes)
    for (const double batch : {4, 8, 16, 32, 64}) {
      rows.push_back({.batch = batch, .replicas = nodes, .nodes = nodes});
      seconds.push_back(noisy(std::exp(truth.log_seconds(rows.back())), 0.01, random));
    }
  found.fit(rows, seconds, false);
  EXPECT_FALSE(found.of_jobs());
  EXPECT_NEAR(found.number(TrainingLaw::fixed), 0.1, 0.01);
  EXPECT_NEAR(found.number(TrainingLaw::record), 0.004, 0.0002);
  EXPECT_NEAR(std::exp(found.log_seconds({.batch = 16, .replicas = 32, .nodes = 32})),
              std::exp(truth.log_seconds({.batch = 16, .replicas = 32, .nodes = 32})), 0.03);
}

TEST(PhysicalModel, ExtrapolatesToMoreGpusThanItSaw) {
  const Runs few = on_gpus(1, 8, 0.03), many = on_gpus(9, 32, 0);
  const auto model = make_physical(kOnGpus);
  model->fit(few.rows, few.seconds);
  EXPECT_LT(median_error(*model, few, 4), 0.03);
  EXPECT_LT(median_error(*model, many, 4), 0.08);
}

TEST(PhysicalModel, ExtrapolatesToBatchesItNeverSaw) {
  const Runs seen = on_cores({64, 128, 256}, 0.02), unseen = on_cores({16, 1024}, 0);
  const auto model = make_physical(kOnCores);
  model->fit(seen.rows, seen.seconds);
  EXPECT_LT(median_error(*model, seen, 3), 0.03);
  EXPECT_LT(median_error(*model, unseen, 3), 0.10);
}

// Twice as slow at one batch size, whatever the cores: no law would say so, the rows do.
TEST(PhysicalModel, LearnsWhatTheLawLeavesOver) {
  Runs runs = on_cores({32, 64, 128, 256, 512}, 0.01);
  for (std::size_t i = 0; i < runs.seconds.size(); ++i)
    if (runs.rows[3 * i] == 128) runs.seconds[i] *= 2;
  const std::size_t held = 24 + 5;  // of batch 128
  Runs rest;
  for (std::size_t i = 0; i < runs.seconds.size(); ++i) {
    if (i == held) continue;
    rest.rows.insert(rest.rows.end(), {runs.rows[3 * i], runs.rows[3 * i + 1], runs.rows[3 * i + 2]});
    rest.seconds.push_back(runs.seconds[i]);
  }
  const auto model = make_physical(kOnCores);
  model->fit(rest.rows, rest.seconds);
  ASSERT_EQ(runs.rows[3 * held], 128);
  EXPECT_NEAR(model->predict(std::span(runs.rows).subspan(3 * held, 3)) / runs.seconds[held], 1, 0.15);
}

TEST(PhysicalModel, AFewStalledRunsDoNotBendIt) {
  Runs runs = on_gpus(1, 8, 0.01);
  for (std::size_t i = 0; i < runs.seconds.size(); i += 9) runs.seconds[i] *= 6;
  const auto model = make_physical(kOnGpus);
  model->fit(runs.rows, runs.seconds);
  EXPECT_LT(median_error(*model, on_gpus(1, 8, 0), 4), 0.05);
  EXPECT_LT(median_error(*model, on_gpus(9, 32, 0), 4), 0.10);
}

// A third of the runs of the fuller nodes waited for storage, twice to four times as long: what is said is
// the time of those that did not.
TEST(PhysicalModel, WhereAThirdStalledItSaysTheTimeOfTheOthers) {
  Runs runs = on_gpus(1, 32, 0.01);
  Random random(8);
  for (std::size_t i = 0; i < runs.seconds.size(); ++i)
    if (runs.rows[4 * i + 3] >= 3 && random.uniform() < 0.33) runs.seconds[i] *= random.uniform(2, 4);
  const auto model = make_physical(kOnGpus);
  model->fit(runs.rows, runs.seconds);
  double worst = 0;
  const Runs truth = on_gpus(1, 32, 0);
  for (std::size_t i = 0; i < truth.seconds.size(); ++i)
    worst = std::max(
        worst, std::abs(model->predict(std::span(truth.rows).subspan(4 * i, 4)) / truth.seconds[i] - 1));
  EXPECT_LT(median_error(*model, truth, 4), 0.03);
  EXPECT_LT(worst, 0.5);
}

// The host gives its device work ahead: a step takes as long as the slower of the two.
TEST(PhysicalModel, AHostThatRunsAheadHidesItsDevice) {
  const auto model = make_physical({"batch"});
  const auto step = [](double batch) { return std::max(0.1, 0.0005 * batch); };
  std::vector<double> rows, seconds;
  Random random(9);
  for (double batch = 16; batch <= 512; batch *= 1.41) {
    rows.push_back(batch);
    seconds.push_back(noisy(step(batch), 0.01, random));
  }
  model->fit(rows, seconds);
  for (const double batch : {4.0, 1024.0, 2048.0})
    EXPECT_NEAR(model->predict(std::vector<double>{batch}) / step(batch), 1, 0.08) << batch;
}

// Steps of 4, 6, 8 and 12 replicas on three placements each, all work; `luck`: what else made a row slow. All
// rows but every seventh teach; the error of the others.
template <class Luck>
double held_out_error(Luck luck) {
  Runs known, held;
  std::size_t count = 0;
  for (const double replicas : {4, 6, 8, 12})
    for (const double nodes : {2, 4, 3, 6, 8})
      for (const double batch : {8, 12, 16, 24, 32, 48, 64, 96}) {
        const double largest = replicas / nodes;
        if (largest != std::floor(largest)) continue;
        Runs& side = count++ % 7 == 3 ? held : known;
        side.rows.insert(side.rows.end(), {batch, replicas, nodes, largest});
        side.seconds.push_back((0.5 + 0.02 * batch) * luck(batch, replicas, nodes));
      }
  const auto model = make_physical(kOnGpus);
  model->fit(known.rows, known.seconds);
  return median_error(*model, held, 4);
}

double luck_of(double one, double other) {
  Random random(static_cast<std::uint64_t>(1000 * one + other));
  return std::exp(0.15 * random.normal());
}

// Hosts of one session are slow, whatever the batch; its neighbours' are not.
TEST(PhysicalModel, ASlowSessionIsSlowAtEveryBatch) {
  EXPECT_LT(held_out_error([](double, double replicas, double nodes) { return luck_of(replicas, nodes); }),
            0.03);
}

// The same records, long or short, come to so many replicas with that batch, on however many nodes. Where
// every row has luck of its own, nobody can know it.
TEST(PhysicalModel, TheSameRecordsTakeAsLongOnOtherNodes) {
  const double alike =
      held_out_error([](double batch, double replicas, double) { return luck_of(batch, replicas); });
  const double unlike = held_out_error(
      [](double batch, double replicas, double nodes) { return luck_of(batch, replicas + 100 * nodes); });
  EXPECT_LT(alike, 0.05);
  EXPECT_GT(unlike, 0.06);
}

// Records and epochs as columns: ten times the records take ten times as long, though never seen.
TEST(PhysicalModel, JobsOfMoreRecordsTakeAsMuchLonger) {
  const auto model = make_physical({"batch", "records", "epochs"});
  std::vector<double> rows, seconds;
  for (const double batch : {32, 64, 128})
    for (const double records : {1000, 2000, 4000})
      for (const double epochs : {1, 3}) {
        rows.insert(rows.end(), {batch, records, epochs});
        seconds.push_back(5 + records * epochs / batch * (0.01 + 0.001 * batch));
      }
  model->fit(rows, seconds);
  const double truth = 5 + 40000 * 3 / 64.0 * (0.01 + 0.001 * 64);
  EXPECT_NEAR(model->predict(std::vector<double>{64, 40000, 3}) / truth, 1, 0.05);
}

// A column it knows nothing of goes to the residual; one that says nothing is ignored.
TEST(PhysicalModel, UnknownColumnsAreLearntToo) {
  Random random(5);
  std::vector<double> rows, seconds;
  for (int i = 0; i < 150; ++i) {
    const double batch = 16 << random.below(5), clock = -1 + static_cast<double>(random.below(3));
    rows.insert(rows.end(), {batch, clock, random.uniform()});
    seconds.push_back((0.1 + 0.01 * batch) * (1 - 0.3 * clock));
  }
  const auto model = make_physical({"batch", "clock", "nonsense"});
  model->fit(rows, seconds);
  for (const double clock : {-1, 0, 1})
    EXPECT_NEAR(model->predict(std::vector<double>{64, clock, 0.5}) / (0.74 * (1 - 0.3 * clock)), 1, 0.05);
}

// From one run there is no telling what another setting does; what is said must still be a time.
TEST(PhysicalModel, OneRowOrTwoGiveATime) {
  const std::vector<double> rows = {64, 2, 1, 256, 4, 3}, seconds = {120, 50};
  for (const std::size_t count : {1, 2}) {
    const auto model = make_physical(kOnCores);
    model->fit(std::span(rows).first(3 * count), std::span(seconds).first(count));
    EXPECT_NEAR(model->predict(std::span(rows).first(3)), 120, 6);
    for (const double batch : {1.0, 64.0, 1e6}) {
      const double said = model->predict(std::vector<double>{batch, 8, 5});
      EXPECT_TRUE(std::isfinite(said) && said > 0) << batch << ": " << said;
    }
  }
}

TEST(PhysicalModel, AbsurdInputIsRefusedOrSurvived) {
  const Runs runs = on_cores({64, 128}, 0.01);
  const auto model = make_physical(kOnCores);
  for (const double seconds : {0.0, -5.0, std::nan(""), HUGE_VAL}) {
    auto targets = runs.seconds;
    targets[3] = seconds;
    EXPECT_THROW(model->fit(runs.rows, targets), UserError) << seconds;
  }
  auto rows = runs.rows;
  rows[4] = 0;  // cores
  EXPECT_THROW(model->fit(rows, runs.seconds), UserError);
  EXPECT_THROW(model->fit({}, {}), UserError);

  auto huge = runs.seconds;
  huge[0] = 1e300, huge[1] = 1e-300;
  model->fit(runs.rows, huge);
  EXPECT_GT(model->predict(std::span(runs.rows).subspan(15, 3)), 0);
  model->fit(runs.rows, runs.seconds);
  EXPECT_THROW(model->predict(std::vector<double>{0, 1, 1}), UserError);
  EXPECT_THROW(model->predict(std::vector<double>{64, std::nan(""), 1}), UserError);
  EXPECT_TRUE(std::isfinite(model->predict(std::vector<double>{1e12, 1e-6, 1e6})));
}

TEST(PhysicalModel, TenThousandRowsAreAsGoodAsAFew) {
  Random random(6);
  std::vector<double> rows, seconds;
  for (int i = 0; i < 10000; ++i) {
    const double batch = random.uniform(16, 512), cores = 1 + static_cast<double>(random.below(8));
    const double jobs = 1 + static_cast<double>(random.below(5));
    rows.insert(rows.end(), {batch, cores, jobs});
    seconds.push_back(noisy(job_on_cores(batch, cores, jobs), 0.05, random));
  }
  const auto model = make_physical(kOnCores);
  model->fit(rows, seconds);
  EXPECT_LT(median_error(*model, on_cores({24, 100, 400}, 0), 3), 0.03);
}

// It says when what was measured kept it from saying something else.
TEST(PhysicalModel, SaysWhenABoundActed) {
  const Runs runs = on_gpus(1, 8, 0.01);
  const auto model = make_physical(kOnGpus);
  model->fit(runs.rows, runs.seconds);
  const std::vector<double> row = {32, 4, 2, 2};
  EXPECT_FALSE(model->bounded(row).held());
  auto written = model->written();
  written["law"][static_cast<std::size_t>(TrainingLaw::fixed)] = 1e3;  // a law gone wrong
  const auto slow = read_regression(written)->bounded(row);
  EXPECT_TRUE(slow.lowered && !slow.raised);
  EXPECT_LT(slow.value, 3 * step_on_gpus(32, 4, 2, 2));
  EXPECT_EQ(slow.value, read_regression(written)->predict(row));
  written = model->written();
  for (const auto number :
       {TrainingLaw::fixed, TrainingLaw::record, TrainingLaw::pair, TrainingLaw::bus, TrainingLaw::jitter})
    written["law"][static_cast<std::size_t>(number)] = 1e-9;
  const auto fast = read_regression(written)->bounded(row);
  EXPECT_TRUE(fast.raised && !fast.lowered);
  EXPECT_GT(fast.value, step_on_gpus(32, 4, 2, 2) / 3);
}

// What is known of a network is used where no row tells, and outdone by rows.
TEST(PhysicalModel, WhatIsKnownOfANetworkIsAskedWhereNoRowTells) {
  const auto told = [&](const std::string& name, const Runs& runs) {
    const auto model = make_regression(name, kOnGpus);
    model->fit(runs.rows, runs.seconds);
    return model->predict(std::vector<double>{8, 6, 6, 1});
  };
  Runs few, many;
  for (double nodes = 1; nodes <= 8; ++nodes)
    for (const double batch : {8, 16, 32, 64, 128})
      for (Runs* runs : {&few, &many}) {
        if (runs == &few && nodes > 2) continue;
        runs->rows.insert(runs->rows.end(), {batch, nodes, nodes, 1});
        runs->seconds.push_back(step_on_gpus(batch, nodes, nodes, 1));
      }
  EXPECT_LT(told("physical:many=0.5", few), 0.75 * told("physical", few));
  EXPECT_NEAR(told("physical:many=0.5", many) / told("physical", many), 1, 0.1);
  EXPECT_THROW(make_regression("physical:many=0", kOnGpus), UserError);
  EXPECT_THROW(make_regression("physical:loader=1", kOnGpus), UserError);
}

// Models of earlier versions had another form of the law and no bounds: they predict as they did.
TEST(PhysicalModel, StoredModelsOfEarlierVersionsAreRead) {
  const Runs runs = on_gpus(1, 8, 0.01);
  const auto model = make_physical(kOnGpus);
  model->fit(runs.rows, runs.seconds);
  auto written = model->written();
  for (const char* key : {"form", "bounds", "input"}) written.erase(key);
  const auto old = read_regression(written);
  EXPECT_EQ(old->written().at("form"), nlohmann::json({0.0, 3.0}));
  EXPECT_FALSE(old->bounded(std::vector<double>{32, 4, 2, 2}).held());
}

TEST(PhysicalModel, AStoredModelThatDoesNotFitTogetherIsRefused) {
  const Runs runs = on_cores({64, 128}, 0.01);
  const auto model = make_physical(kOnCores);
  model->fit(runs.rows, runs.seconds);
  auto written = model->written();
  written["residual"]["rows"][0] = 1000;
  EXPECT_THROW(read_regression(written), UserError);
  written = model->written();
  written["residual"]["columns"][0]["at"] = 17;
  EXPECT_THROW(read_regression(written), UserError);
  written = model->written();
  written["residual"]["shares"].erase(0);
  EXPECT_THROW(read_regression(written), UserError);
  written = model->written();
  written["law"] = {1, 2, 3};
  EXPECT_THROW(read_regression(written), UserError);
}

}  // namespace
}  // namespace tandem::stats
