#include "stats/regression/queueing_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace tandem::stats {
namespace {

const std::vector<std::string> kColumns = {"batch", "cores", "jobs"};

// A disk that answers 30 times faster than a step computes, and slows down with those who use it.
double law(double batch, double processes, double records = 60000, double epochs = 10) {
  const double service = 0.04 + 0.00002 * batch, lambda = processes / service;
  const double queue = 0.05 * std::pow(processes, 1.4) * std::pow(batch / 64, 0.2);
  const double mu = lambda * (1 + 1 / queue);
  return records * epochs / batch * (service + 1 / (mu - lambda));
}

struct Runs {
  std::vector<double> rows, seconds;
};
Runs measured() {
  Runs out;
  for (const double batch : {64, 128, 256, 512})
    for (const double cores : {1, 2, 4, 8})
      for (const double jobs : {1, 3, 5}) {
        out.rows.insert(out.rows.end(), {batch, cores, jobs});
        out.seconds.push_back(law(batch, cores * jobs));
      }
  return out;
}

TEST(Queueing, FindsTheLawItWasMadeFor) {
  const Runs runs = measured();
  const auto model = make_regression("queueing:cpu=0.95", kColumns);
  model->fit(runs.rows, runs.seconds);
  // A number of jobs, and with it of processes, that was never measured.
  for (const double batch : {64, 256})
    for (const double jobs : {2, 4, 6}) {
      const double truth = law(batch, 4 * jobs);
      EXPECT_NEAR(model->predict(std::vector<double>{batch, 4, jobs}), truth, 0.05 * truth);
    }
}

TEST(Queueing, MoreRecordsAndEpochsTakeLongerInProportion) {
  std::vector<double> rows, seconds;
  for (const double batch : {64, 256})
    for (const double jobs : {1, 3, 5})
      for (const double records : {10000, 60000})
        for (const double epochs : {2, 5}) {
          rows.insert(rows.end(), {batch, jobs, records, epochs});
          seconds.push_back(law(batch, jobs, records, epochs));
        }
  const auto model = make_regression("queueing", {"batch", "jobs", "records", "epochs"});
  model->fit(rows, seconds);
  const double once = model->predict(std::vector<double>{64, 3, 60000, 10});
  EXPECT_NEAR(model->predict(std::vector<double>{64, 3, 120000, 30}), 6 * once, 1e-6 * once);
  EXPECT_NEAR(once, law(64, 3), 0.05 * once);
}

// Where a plane for mu may fall below lambda: far beyond the runs, and with noise of a factor of two.
TEST(Queueing, TimesArePositiveWhateverIsAsked) {
  Runs runs = measured();
  Random random(1);
  for (double& seconds : runs.seconds) seconds *= random.uniform(0.5, 2);
  for (const char* name : {"queueing", "queueing:workers=3", "queueing:cpu=0.1"}) {
    const auto model = make_regression(name, kColumns);
    model->fit(runs.rows, runs.seconds);
    for (const double batch : {1.0, 64.0, 100.0, 1e6})
      for (const double cores : {1.0, 48.0, 1e5})
        for (const double jobs : {1.0, 50.0})
          EXPECT_GT(model->predict(std::vector<double>{batch, cores, jobs}), 0);
  }
}

TEST(Queueing, BeyondTheBatchesAStepTakesAtLeastAsLongAndAtMostInProportion) {
  const Runs runs = measured();
  const auto model = make_regression("queueing", kColumns);
  model->fit(runs.rows, runs.seconds);
  const auto step = [&](double batch) { return batch * model->predict(std::vector<double>{batch, 1, 1}); };
  EXPECT_GE(step(2048) * 1.001, step(512) * 0.8);
  EXPECT_LE(step(2048), 4 * 1.5 * step(512));
}

TEST(Queueing, SaysWhatItCannotDo) {
  EXPECT_THROW(make_regression("queueing", {"cores", "jobs"}), UserError);
  const auto model = make_regression("queueing", kColumns);
  EXPECT_THROW(model->fit(std::vector<double>{64, 1, 1}, std::vector<double>{0}), UserError);
  EXPECT_THROW(model->fit(std::vector<double>{64, 0, 1}, std::vector<double>{5}), UserError);
  EXPECT_THROW(model->set("cpu", 1), UserError);
  EXPECT_THROW(model->set("workers", 0), UserError);
  model->fit(std::vector<double>{64, 1, 1}, std::vector<double>{5});
  EXPECT_THROW(model->predict(std::vector<double>{0, 1, 1}), UserError);
}

}  // namespace
}  // namespace tandem::stats
