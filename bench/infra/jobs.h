// The paper's jobs, run by the simulator on worker nodes that somebody chose.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/infra/testbed.h"
#include "graph/operations.h"
#include "place/infra/infra_pick.h"

namespace tandem::bench {

inline constexpr int kUsualWorkers = 4;

struct Job {
  std::string name;  // as the paper calls it, with its data
  graph::Model model;
  std::int64_t samples = 0;  // of an epoch
  double sample_bytes = 0;   // read for each
  std::int64_t batch = 64;
  int workers = kUsualWorkers;
  std::string job_class() const;
  place::Demands demands() const;
};

// Keras's small network, ResNet32 and 56, MobileNet and Inception-V1.
std::vector<Job> studied_jobs();
Job resnet32();

using Choice = std::vector<std::size_t>;  // worker nodes

struct Outcome {
  std::optional<double> seconds{};  // of an epoch; nullopt: it failed
  std::string why{};
};
Outcome run(const Job&, const Conditions&, const Choice&);

// Placement that knows nothing takes any of the nodes with the same chance: every way to choose counts the
// same.
std::vector<Choice> all_choices(int workers);
struct Many {
  double mean = 0, best = 0;  // s, of those that did not fail; 0: none
  int runs = 0, failed = 0;
  std::string why{};  // the last failed
};
Many run_all(const Job&, const Conditions&, const std::vector<Choice>&);

// What the policy picks; empty: nothing.
Choice chosen(const place::Pick&);

// A history of the job's class: jobs that were placed obliviously under these conditions, one in each.
void learn(place::JobClasses&, const Job&, const std::vector<Conditions>&, std::uint64_t seed);

}  // namespace tandem::bench
