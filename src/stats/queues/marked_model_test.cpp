#include "stats/queues/marked_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace tandem::stats {
namespace {

constexpr Discipline kBoth[] = {Discipline::non_preemptive, Discipline::preemptive_resume};

std::vector<ServiceTime> three_services() {
  return {service_of(PhaseType::erlang(3, 2)), service_of(PhaseType::exponential(1)),
          service_of(PhaseType::fitted(4, 0.3))};
}

void expect_like_poisson(const MarkedArrivals& arrivals, const std::vector<double>& rates) {
  const auto services = three_services();
  for (const auto discipline : kBoth) {
    const PriorityModel poisson_model(
        {{rates[0], services[0]}, {rates[1], services[1]}, {rates[2], services[2]}}, discipline);
    const MarkedModel model(arrivals, services, discipline);
    EXPECT_NEAR(model.load(), poisson_model.load(), 1e-12);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(model.mean_response(k) / poisson_model.mean_response(k), 1, 2e-4) << k;
      EXPECT_NEAR(model.percentile(k, 0.95) / poisson_model.percentile(k, 0.95), 1, 2e-4) << k;
    }
  }
}

TEST(MarkedModel, OnePhaseIsPoisson) {
  expect_like_poisson(poisson({0.1, 0.2, 0.08}), {0.1, 0.2, 0.08});
}

TEST(MarkedModel, PhasesThatAreAlikeArePoisson) {
  expect_like_poisson(bursty({0.1, 0.2, 0.08}, 1, 30, 70), {0.1, 0.2, 0.08});
}

// Phases that change much faster than jobs come are seen only as their average.
TEST(MarkedModel, PhasesThatChangeAllTheTimeArePoisson) {
  expect_like_poisson(bursty({0.1, 0.2, 0.08}, 4, 1e-4, 1e-4), {0.1, 0.2, 0.08});
}

// Phases that hardly ever change are two systems, of which each customer meets one.
TEST(MarkedModel, PhasesThatHardlyChangeAreTwoSystems) {
  const double burst = 3;
  const auto arrivals = bursty({0.05, 0.1}, burst, 4e6, 4e6);
  const std::vector<ServiceTime> services{service_of(PhaseType::erlang(3, 2)),
                                          service_of(PhaseType::exponential(4))};
  for (const auto discipline : kBoth) {
    const MarkedModel model(arrivals, services, discipline);
    for (std::size_t k = 0; k < 2; ++k) {
      double mean = 0;
      for (const double times : {2 / (1 + burst), 2 * burst / (1 + burst)}) {
        const PriorityModel alone({{0.05 * times, services[0]}, {0.1 * times, services[1]}}, discipline);
        mean += times / 2 * alone.mean_response(k);
      }
      EXPECT_NEAR(model.mean_response(k) / mean, 1, 0.01) << name_of(discipline) << k;
    }
  }
}

// While nobody is evicted, the work in the system does not depend on the order: load-weighted waits agree
// where the services are alike and memoryless.
TEST(MarkedModel, TheOrderMovesWaitsOnlyBetweenClasses) {
  const auto service = service_of(PhaseType::exponential(1));
  const auto arrivals = bursty({0.2, 0.4}, 6, 40, 10), one = bursty({0.6}, 6, 40, 10);
  const double alone = MarkedModel(one, {service}, Discipline::non_preemptive).mean_response(0);
  for (const auto discipline : kBoth) {
    const MarkedModel model(arrivals, {service, service}, discipline);
    EXPECT_NEAR((model.mean_response(0) + 2 * model.mean_response(1)) / 3 / alone, 1, 1e-4)
        << name_of(discipline);
    EXPECT_LT(model.mean_response(0), model.mean_response(1));
  }
}

TEST(MarkedModel, RefusesWhatItHasNoModelFor) {
  const auto service = service_of(PhaseType::exponential(1));
  EXPECT_THROW(MarkedModel(poisson({1}), {service}, Discipline::preemptive_restart), UserError);
  EXPECT_THROW(MarkedModel(poisson({1, 1}), {service}, Discipline::non_preemptive), UserError);
  MarkedArrivals three{{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  EXPECT_THROW(MarkedModel(three, {service}, Discipline::non_preemptive), UserError);
  EXPECT_TRUE(std::isinf(MarkedModel(poisson({2}), {service}, Discipline::non_preemptive).mean_response(0)));
}

}  // namespace
}  // namespace tandem::stats
