#include "stats/queues/priority_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace tandem::stats {
namespace {

ServiceTime exponential(double mean) {
  return service_of(PhaseType::exponential(mean));
}

constexpr Discipline kAll[] = {Discipline::non_preemptive, Discipline::preemptive_resume,
                               Discipline::preemptive_restart};

TEST(PriorityModel, OneClassIsMM1) {
  for (const auto discipline : kAll) {
    const PriorityModel model({{0.8, exponential(1)}}, discipline);
    EXPECT_NEAR(model.load(), 0.8, 1e-12);
    EXPECT_NEAR(model.mean_response(0), 5, 1e-4);
    EXPECT_NEAR(model.percentile(0, 0.95), 5 * std::log(20.0), 1e-4);
    EXPECT_EQ(model.waste(), 0);
  }
}

TEST(PriorityModel, FixedServiceIsMD1) {
  const PriorityModel model({{0.5, fixed_service(1)}}, Discipline::non_preemptive);
  EXPECT_NEAR(model.mean_response(0), 1 + 0.5 / (2 * 0.5), 1e-12);
  // Erlang's M/D/1: P(wait <= t) = (1 - rho) sum (-rho)^k (t-k)^k / k! exp(rho (t - k)); at wait 1.5.
  const double t = 1.5, rho = 0.5;
  const double waits = (1 - rho) * (std::exp(rho * t) - rho * (t - 1) * std::exp(rho * (t - 1)));
  const double tail = tail_probability([&](Complex s) { return model.response_transform(0, s); }, 1 + t);
  EXPECT_NEAR(1 - tail, waits, 1e-3);  // its density jumps: fewer digits there
}

TEST(PriorityModel, ErlangServiceFollowsPollaczekAndKhinchine) {
  const PriorityModel model({{0.07, service_of(PhaseType::erlang(4, 10))}}, Discipline::non_preemptive);
  EXPECT_NEAR(model.mean_response(0), 10 + 0.7 * 10 * (1 + 0.25) / (2 * 0.3), 1e-9);
}

// M/M/1 with two classes of the same service, both preemptive-resume means in closed form.
TEST(PriorityModel, TwoExponentialClassesResume) {
  const PriorityModel model({{0.3, exponential(1)}, {0.4, exponential(1)}}, Discipline::preemptive_resume);
  EXPECT_NEAR(model.mean_response(0), 1 / 0.7, 1e-9);
  EXPECT_NEAR(model.mean_response(1), 1 / (0.7 * 0.3), 1e-9);
  EXPECT_NEAR(model.percentile(0, 0.95), std::log(20.0) / 0.7, 1e-4);
}

TEST(PriorityModel, TwoExponentialClassesWithoutPreemption) {
  const PriorityModel model({{0.3, exponential(1)}, {0.4, exponential(1)}}, Discipline::non_preemptive);
  EXPECT_NEAR(model.mean_response(0), 1 + 0.7 / 0.7, 1e-9);
  EXPECT_NEAR(model.mean_response(1), 1 + 0.7 / (0.7 * 0.3), 1e-9);
}

// Kleinrock: who is served first does not change the load-weighted mean wait while nobody is evicted.
TEST(PriorityModel, LoadTimesWaitIsConserved) {
  const auto one = service_of(PhaseType::erlang(3, 2)), two = exponential(1),
             three = service_of(PhaseType::fitted(4, 0.3));
  const std::vector<QueueClass> order{{0.1, one}, {0.2, two}, {0.08, three}};
  const std::vector<QueueClass> turned{order[2], order[0], order[1]};
  const auto conserved = [](const std::vector<QueueClass>& classes) {
    const PriorityModel model(classes, Discipline::non_preemptive);
    double sum = 0;
    for (std::size_t i = 0; i < classes.size(); ++i)
      sum += classes[i].rate * classes[i].service.mean * (model.mean_response(i) - classes[i].service.mean);
    return sum;
  };
  EXPECT_NEAR(conserved(order), conserved(turned), 1e-9);
}

// The means come from moments, the percentiles from transforms: the transforms must know the same means.
TEST(PriorityModel, TransformsAndFormulasAgree) {
  const std::vector<QueueClass> classes{{0.1, service_of(PhaseType::erlang(3, 2))},
                                        {0.2, exponential(1)},
                                        {0.08, service_of(PhaseType::fitted(4, 0.3))}};
  for (const auto discipline : {Discipline::non_preemptive, Discipline::preemptive_resume}) {
    const PriorityModel model(classes, discipline);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto transform = [&](Complex s) { return model.response_transform(i, s); };
      EXPECT_NEAR(mean_of(transform, 1) / model.mean_response(i), 1, 1e-5);
      double mean = 0;  // and the inverted tail integrates to it
      for (double t = 0.05; t < 400; t += 0.1) mean += 0.1 * tail_probability(transform, t);
      EXPECT_NEAR(mean / model.mean_response(i), 1, 2e-3);
    }
  }
}

// Without memory it makes no difference for the server whether the rest or a new service time is served, but
// here the same time is served again: that costs more than resuming, and for fixed times it is known how
// much.
TEST(PriorityModel, RestartingCostsWhatIsDoneAgain) {
  const std::vector<QueueClass> classes{{0.05, fixed_service(1)}, {0.1, fixed_service(5)}};
  const PriorityModel model(classes, Discipline::preemptive_restart);
  const double attempts = std::expm1(0.05 * 5) / 0.05;
  EXPECT_NEAR(model.load(), 0.05 + 0.1 * attempts, 1e-12);
  EXPECT_NEAR(model.waste(), 0.1 * (attempts - 5) / model.load(), 1e-12);
  const PriorityModel resume(classes, Discipline::preemptive_resume);
  EXPECT_NEAR(model.mean_response(0), resume.mean_response(0), 1e-4);
  EXPECT_GT(model.mean_response(1), resume.mean_response(1) * 1.1);
}

// The recursion over classes that restarting needs must give the known answer where nobody is above.
TEST(PriorityModel, RestartingWithRareHighClassesIsResuming) {
  const std::vector<QueueClass> classes{
      {1e-7, exponential(1)}, {1e-7, exponential(2)}, {0.3, exponential(2)}};
  const PriorityModel restart(classes, Discipline::preemptive_restart);
  EXPECT_NEAR(restart.mean_response(2), 5, 0.01);  // as exact as its slices
  const PriorityModel resume(classes, Discipline::preemptive_resume);
  EXPECT_NEAR(resume.mean_response(2), 5, 1e-4);
}

TEST(PriorityModel, OverloadIsSaidNotComputed) {
  const PriorityModel model({{0.5, exponential(1)}, {0.6, exponential(1)}}, Discipline::preemptive_resume);
  EXPECT_TRUE(model.settles(0));
  EXPECT_FALSE(model.settles(1));
  EXPECT_NEAR(model.mean_response(0), 2, 1e-9);
  EXPECT_TRUE(std::isinf(model.mean_response(1)));
  EXPECT_TRUE(std::isinf(model.percentile(1, 0.95)));
  const PriorityModel patient({{0.5, exponential(1)}, {0.6, exponential(1)}}, Discipline::non_preemptive);
  EXPECT_FALSE(patient.settles(0));
  EXPECT_THROW(PriorityModel({{-1, exponential(1)}}, Discipline::non_preemptive), UserError);
}

TEST(ServiceTime, SpeedingUpAtOnceIsAFasterChain) {
  const auto time = PhaseType::erlang(3, 6);
  const auto fast = sped_up_service(time, 0, 2), plain = service_of(time.faster(2));
  EXPECT_NEAR(fast.mean, plain.mean, 1e-12);
  EXPECT_NEAR(fast.square, plain.square, 1e-12);
  EXPECT_NEAR(std::abs(fast.transform({0.1, 1}) - plain.transform({0.1, 1})), 0, 1e-12);
}

TEST(ServiceTime, SpeedingUpLateIsTheAverageOverItsSlices) {
  const auto time = PhaseType::erlang(3, 6);
  const auto late = sped_up_service(time, 5, 2.5);
  double mean = 0, square = 0;
  Complex transform = 0;
  const Complex s(0.1, 0.7);
  for (const auto& [at, share] : time.slices(1000)) {
    const double takes = at <= 5 ? at : 5 + (at - 5) / 2.5;
    mean += share * takes, square += share * takes * takes;
    transform += share * std::exp(-s * takes);
  }
  EXPECT_NEAR(late.mean, mean, 2e-3);
  EXPECT_NEAR(late.square, square, 3e-2);
  EXPECT_NEAR(std::abs(late.transform(s) - transform), 0, 1e-3);
  EXPECT_NEAR(late.mean + 1.5 * sped_up_seconds(time, 5, 2.5), 6, 1e-9);  // the work stays the same
}

}  // namespace
}  // namespace tandem::stats
