// Studies for tests.
#pragma once

#include <functional>

#include "base/random.h"
#include "characterize/study.h"
#include "stats/design/design.h"

namespace tandem::characterize {

// Runs a design over batch (hyper; usually 64) and cores (system; usually 1) on what `truth` says. The
// responses are seconds, accuracy and dollars, as `truth` names them.
inline Study batch_and_cores(const std::string& design, std::size_t replications,
                             const std::function<Metrics(double batch, double cores, Random&)>& truth) {
  Study out;
  out.factors = {{"batch", Side::hyper, 64}, {"cores", Side::system, 1}};
  out.responses = {
      {"seconds", "s", "training"}, {"accuracy", "", "inference", true, true}, {"dollars", "$", "training"}};
  const std::vector<stats::DesignFactor> factors{{.name = "batch", .levels = {64, 128, 256}, .usual = 64},
                                                 {.name = "cores", .levels = {1, 2, 4}, .usual = 1}};
  Random random(1);
  for (const auto& run : stats::make_design(factors, {.kind = design, .replications = replications}).runs) {
    const double batch = *as_number(run.at.at("batch")), cores = *as_number(run.at.at("cores"));
    out.runs.push_back({run.at, run.replication, truth(batch, cores, random)});
  }
  return out;
}

}  // namespace tandem::characterize
